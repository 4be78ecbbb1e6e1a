/** How a receiver answers: what can be answered is checked where it is set. */

import { inspected } from "./printable.js";
import { WAIT_S_MAX } from "./time.js";

const STATUS_MIN = 200;
const STATUS_MAX = 599;

/** How a request is answered. */
export interface Behaviour {
  /** From 200 to 599. */
  status?: number;
  /** Seconds before the answer, of wall time; a day at most. */
  delayS?: number;
  /** Close the connection instead of answering. */
  disconnect?: boolean;
  body?: string | Uint8Array;
  /** `text/plain` by default. */
  contentType?: string;
}

/** A copy of what can be answered, which nobody changes later; a RangeError for anything else. */
export function planned(behaviour: Behaviour): Readonly<Behaviour> {
  if (typeof behaviour !== "object" || behaviour === null) {
    throw new RangeError(`${inspected(behaviour)} is no answer: give a status, or an object such as { status: 500 }`);
  }
  const { status = 200, delayS = 0, disconnect = false, body = "", contentType = "text/plain" } = behaviour;
  if (!Number.isInteger(status) || status < STATUS_MIN || status > STATUS_MAX) {
    throw new RangeError(`${inspected(status)} is no status of an answer: give a number from 200 to 599`);
  }
  if (!(typeof delayS === "number" && delayS >= 0 && delayS <= WAIT_S_MAX)) {
    throw new RangeError(`${inspected(delayS)} is no delay: give seconds from 0 to ${WAIT_S_MAX}`);
  }
  if (typeof disconnect !== "boolean") throw new RangeError(`${inspected(disconnect)} is no choice to disconnect: give true or false`);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new RangeError(`${inspected(body)} is no body: give a text or bytes`);
  }
  if (typeof contentType !== "string" || !/^[\x20-\x7e]*$/.test(contentType)) {
    throw new RangeError(`${inspected(contentType)} is no content type: give printable ASCII such as text/plain`);
  }
  return { status, delayS, disconnect, body: typeof body === "string" ? body : Uint8Array.from(body), contentType };
}
