/** A payment's story: what it was, and all that happened to it, in the order of time. */

import type { StoryRecord } from "./records.js";

/** A payment with all that happened to it. As a string it is lines that people read. */
export class Story {
  constructor(readonly data: StoryRecord) {}

  toString(): string {
    const { refid, product, amount, account, status, rule, remarks } = this.data;
    const reason = [remarks && `remarks ${remarks}`, rule && `rule ${rule}`].filter(Boolean).join(", ");
    const first = `payment ${refid}: ${product} ${amount} to ${account}, ${status}${reason ? ` (${reason})` : ""}`;
    const events = this.#events().sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
    return [first, ...events.map(({ at, what }) => `  ${clockTime(at)}  ${what}`)].join("\n");
  }

  /** In the order in which they follow from each other where times are equal. */
  #events(): { at: string; what: string }[] {
    const { requests, statuses, entries, callbacks } = this.data;
    return [
      ...[...requests]
        .sort((one, other) => one.n - other.n)
        .map((request) => ({
          at: request.at,
          what: `request ${request.n}: ${request.method} ${request.path} -> ${answered(request.status)}${note(request.diagnosis)}`,
        })),
      ...statuses.map(({ at, status, remarks: why }) => ({ at, what: `status ${status}${note(why)}` })),
      ...entries.map(({ at, type, amount: sum, balance }) => ({ at, what: `wallet ${sum} (${type}), balance ${balance}` })),
      ...callbacks.flatMap(({ url, payment_status, attempts }) =>
        attempts.map(({ at, number, status, ending, error }) => ({
          at,
          what: `callback ${payment_status} to ${url}, attempt ${number} -> ${answered(status, ending)}${note(error)}`,
        })),
      ),
    ];
  }
}

/** The time of day of an ISO time, in UTC, without its fraction. */
export function clockTime(at: string): string {
  return at.slice(11, 19);
}

/** A status, or how the exchange ended without one. */
export function answered(status: number | null | undefined, ending = "no answer"): string {
  return status === null || status === undefined || status === 0 ? ending : `${status}`;
}

/** Something that is added after a colon if there is something. */
export function note(text: string | undefined): string {
  return text ? `: ${text}` : "";
}
