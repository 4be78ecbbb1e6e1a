/** What happened to one payment, as lines to read: those of the Python client and of `reseller-sim story`. */

import type { CallbackAttempt, CallbackRecord, RequestRecord, StoryRecord } from "./records.js";

/** Time, order within an instant, and text. */
type Event = [at: string, order: number, text: string];

// Causes before effects where times are equal, as they are while a clock stands. A first request makes the payment; later ones may cause more.
enum Order { FirstRequest, Creation, Debit, Due, DueEntry, DueCallback, Request, Case, Caused, CausedEntry, CausedCallback }

const BY_REQUEST = ["requery", "void"]; // causes of a status
const LATER = "\uffff"; // sorts after every time
const TIME_CHARS = 29;
const SERVICE_ZONE_MS = 8 * 3_600_000; // GMT+8

/** A payment with all that happened to it. As a string it is lines that people read. */
export class Story {
  constructor(readonly data: StoryRecord) {}

  toString(): string {
    const { refid, product, amount, account, trxid, reseller, rule, requests_left_out, callbacks_left_out } = this.data;
    const names = Object.entries({ trxid, reseller, rule }).filter(([, value]) => value);
    const leftOut = Object.entries({ requests: requests_left_out, callbacks: callbacks_left_out }).filter(([, count]) => count);
    return [
      `${refid}: ${product} ${money(amount)} to ${account}, ${statusText(this.data)}`,
      `  ${names.map(([name, value]) => `${name} ${value}`).join(", ")}`,
      ...leftOut.map(([what, count]) => `  ${count} earlier ${what} are left out`),
      ...events(this.data).map(([at, , text]) => `  ${timeText(at).padEnd(TIME_CHARS)}  ${text}`),
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
export const callbackLine = (row: CallbackRecord): string =>
  `${row.refid}: ${callbackText(row.payment_status, row.url)}, attempt ${row.attempt}: ${outcome(row)}`;

/** Everything in a story, in the order of time; what is equal stays in its order. */
function events(data: StoryRecord): Event[] {
  const { statuses, entries, callbacks, cases, requests } = data;
  const createdAt = statuses.find(({ cause }) => cause === "creation")?.at;
  const byRequest = statuses.filter(({ cause }) => BY_REQUEST.includes(cause));
  const isDue = (at: string) => statuses.some((row) => row.at === at && row.cause !== "creation" && !BY_REQUEST.includes(row.cause));
  const isCaused = (at: string, status?: string) => byRequest.some((row) => row.at === at && (status ?? row.status) === row.status);
  const rows = [...requests].sort((one, other) => one.n - other.n);
  const all: Event[] = rows.map((row, number) => [row.at, number === 0 && !data.requests_left_out ? Order.FirstRequest : Order.Request, requestLine(row)]);
  for (const { sn, pin, voucherlink, remarks, ...row } of statuses) {
    const order = row.cause === "creation" ? Order.Creation : BY_REQUEST.includes(row.cause) ? Order.Caused : Order.Due;
    const parts = Object.entries({ sn, pin, voucherlink, remarks }).filter(([, value]) => value);
    all.push([row.at, order, [`status ${statusText(row)} by ${row.cause}`, ...parts.map(([name, value]) => `${name} ${value}`)].join(", ")]);
  }
  entries.forEach(({ at, amount, type, balance, remarks }, number) => {
    const order = number === 0 && at === createdAt ? Order.Debit : isCaused(at) && !isDue(at) ? Order.CausedEntry : Order.DueEntry;
    all.push([at, order, `wallet ${amount < 0 ? "" : "+"}${money(amount)} (${type}), balance ${money(balance)}${remarks && `: ${remarks}`}`]);
  });
  for (const { payment_status, url, copy, state, attempts } of callbacks) {
    const what = callbackText(payment_status, url, copy);
    for (const attempt of attempts) {
      const order = isCaused(attempt.at, payment_status) ? Order.CausedCallback : Order.DueCallback;
      all.push([attempt.at, order, `${what}, attempt ${attempt.number}: ${outcome(attempt)}`]);
    }
    if (attempts.length === 0) all.push([LATER, Order.DueCallback, `${what}: ${state}`]);
  }
  for (const { at, kind, status, message, ended, state } of cases) {
    all.push([at, Order.Case, `${kind} ${status}: ${message}`]);
    if (ended) all.push([ended, Order.CausedCallback, `${kind} ${state}`]);
  }
  return all.sort(([at, order], [otherAt, other]) => (at < otherAt ? -1 : at > otherAt ? 1 : order - other));
}

/** An amount as people read it: `9.75 MYR`. */
const money = (amount: number) => `${amount.toFixed(2)} MYR`;
const statusText = ({ status, status_code }: { status: string; status_code: number }) => `${status} (${status_code})`;
const callbackText = (status: string, url: string, copy = 0) => `callback ${status}${copy ? " again" : ""} to ${url}`;
/** What became of an attempt of a callback. */
const outcome = ({ error, status, ending }: Pick<CallbackAttempt, "error" | "status" | "ending">): string =>
  error || (status ? `answered ${status}` : ending || "under way");
/** An instant in UTC, to the millisecond; blank for what is still to come. */
/** An instant in the service's zone, or in UTC when RESELLER_SIM_UTC says so, with its offset. */
function timeText(at: string): string {
  if (at === LATER) return "";
  const isUtc = /^(1|true|t|yes|y|on)$/i.test(process.env.RESELLER_SIM_UTC ?? "");
  const shown = new Date(Date.parse(at) + (isUtc ? 0 : SERVICE_ZONE_MS)).toISOString();
  return `${shown.slice(0, 10)} ${shown.slice(11, 23)}${isUtc ? "+00:00" : "+08:00"}`;
}
