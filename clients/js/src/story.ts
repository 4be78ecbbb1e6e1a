/** The story of a payment, and rows of the journal and of callbacks, as lines to read. */

import type { CallbackRecord, RequestRecord, StoryRecord } from "./records.js";

const TIME_CHARS = 29;
const SERVICE_ZONE_MS = 8 * 3_600_000; // GMT+8

/** A payment with all that happened to it. As a string it is lines that people read. */
export class Story {
  constructor(readonly data: StoryRecord) {}

  toString(): string {
    const { refid, product, amount, account, status, status_code, trxid, reseller, rule, events } = this.data;
    const names = Object.entries({ trxid, reseller, rule }).filter(([, value]) => value);
    const leftOut = Object.entries({ requests: this.data.requests_left_out, callbacks: this.data.callbacks_left_out }).filter(([, count]) => count);
    return [
      `${refid}: ${product} ${amount.toFixed(2)} MYR to ${account}, ${status} (${status_code})`,
      `  ${names.map(([name, value]) => `${name} ${value}`).join(", ")}`,
      ...leftOut.map(([what, count]) => `  ${count} earlier ${what} are left out`),
      ...events.map(({ at, text }) => `  ${shownTime(at ?? "").padEnd(TIME_CHARS)}  ${text}`),
    ].join("\n");
  }
}

/** One row of the journal: number, request, status and what explains it. */
export function requestLine({ n, method, path, query, status, error, rule, fault, diagnosis }: RequestRecord): string {
  const names = Object.entries({ error, rule, fault }).filter(([, value]) => value);
  const parts = names.map(([name, value]) => `, ${name} ${value}`).join("");
  return `#${n} ${method} ${path}${query && `?${query}`} → ${status || "no answer"}${parts}${diagnosis && `: ${diagnosis}`}`;
}

/** One attempt of a callback, with the payment that it is about. */
export const callbackLine = ({ refid, payment_status, url, attempt, error, status, ending }: CallbackRecord): string =>
  `${refid}: callback ${payment_status} to ${url}, attempt ${attempt}: ${error || (status ? `answered ${status}` : ending || "under way")}`;

/** A time of the control API in the service's zone, GMT+8, or in UTC when RESELLER_SIM_UTC is 1: `2026-11-29 20:00:00.123+08:00`. */
export function shownTime(at: string): string {
  const isUtc = /^(1|true|t|yes|y|on)$/i.test((process.env["RESELLER_SIM_UTC"] ?? "").trim());
  const shifted = new Date(Date.parse(at) + (isUtc ? 0 : SERVICE_ZONE_MS));
  return Number.isNaN(shifted.getTime()) ? at : shifted.toISOString().replace("T", " ").replace("Z", isUtc ? "+00:00" : "+08:00");
}
