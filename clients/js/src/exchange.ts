/** One HTTP request and its response, bounded in time and bytes. */

import { badPort } from "./requesting.js";
import { waitS } from "./time.js";

const BODY_BYTES_MAX = 64 << 20;

/** A response that is complete. */
export interface Answer {
  status: number;
  bytes: Uint8Array;
}

/** There was no complete response; the message is the reason. */
export class Unanswered extends Error {}

/** Something answered, but not as HTTP has it, or with too much. */
export class Malformed extends Unanswered {}

/** Sends a request and follows no redirect; the response may take `timeoutS` seconds in all, and its body have 64 MiB. Throws
 * `Unanswered`. */
export async function exchange(url: string, init: RequestInit, timeoutS: number): Promise<Answer> {
  const signal = AbortSignal.timeout(waitS(timeoutS) * 1000);
  try {
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    return { status: answer.status, bytes: await bytesOf(answer) };
  } catch (error) {
    if (error instanceof Unanswered) throw error;
    if (signal.aborted) throw new Unanswered(`no complete answer came in ${timeoutS} s`, { cause: error });
    const { code = "", message = `${error}` } = ((error as Error).cause ?? error) as { code?: string; message?: string };
    if (message === "bad port") throw new Unanswered(badPort(url), { cause: error });
    const isMalformed = /^(HPE_|UND_ERR_(RES|HEADERS_OVERFLOW|INVALID))|^Z_|^ERR__ERROR/.test(code);
    const hint = /CERT|VERIFY_LEAF|ISSUER/.test(code) ? "; name the file of its authority, or of itself, in NODE_EXTRA_CA_CERTS" : "";
    throw new (isMalformed ? Malformed : Unanswered)((message || code) + hint, { cause: error });
  }
}

async function bytesOf(answer: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body ?? []) {
    size += (piece as Uint8Array).length;
    if (size > BODY_BYTES_MAX) throw new Malformed(`the response has more than ${BODY_BYTES_MAX} bytes`);
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces);
}
