/** What happened to one payment, as lines to read: those of the Python client and of `reseller-sim story`. */

import { checkArguments, guard } from "./arguments.js";
import { STORY } from "./parameters.js";
import type { CallbackAttempt, CallbackRecord, RequestRecord, StoryRecord } from "./records.js";

/** Time, order within an instant, and text. */
type Event = [at: string, order: number, text: string];

// What follows from what where times are equal, as they are while a clock stands: the request that made the payment and its
// consequences, what was due then, and at last requests about a payment that is there with what they caused.
enum Order {
  FirstRequest,
  Creation,
  Debit,
  Due,
  DueEntry,
  DueCallback,
  Request,
  Case,
  Caused,
  CausedEntry,
  CausedCallback,
}

const BY_REQUEST = ["requery", "void"]; // causes of a status
const LATER = "\uffff"; // sorts behind every time
const TIME_CHARS = 23;

/** A payment with all that happened to it. As a string it is lines that people read. */
export class Story {
  constructor(readonly data: StoryRecord) {
    checkArguments("new Story", arguments, STORY.constructor);
  }

  toString(): string {
    const { refid, product, amount, account, trxid, reseller, rule, requests_left_out, callbacks_left_out } = this.data;
    const names = Object.entries({ trxid, reseller, rule }).filter(([, value]) => value);
    const leftOut = Object.entries({ requests: requests_left_out, callbacks: callbacks_left_out }).filter(([, count]) => count);
    return [
      `${refid}: ${product} ${money(amount)} to ${account}, ${statusText(this.data)}`,
      `  ${names.map(([name, value]) => `${name} ${value}`).join(", ")}`,
      ...leftOut.map(([what, count]) => `  ${count} earlier ${what} are left out`),
      ...happened(this.data).map(([at, , text]) => `  ${timeText(at).padEnd(TIME_CHARS)}  ${text}`),
    ].join("\n");
  }
}

guard(Story, "story", STORY);

/** One row of the journal: number, request, status and what explains it. */
export function requestLine(row: RequestRecord): string {
  const query = row.query ? `?${row.query}` : "";
  const { error, rule, fault } = row;
  const said = Object.entries({ error, rule, fault }).filter(([, value]) => value);
  const names = said.map(([name, value]) => `, ${name} ${value}`).join("");
  const why = row.diagnosis ? `: ${row.diagnosis}` : "";
  return `#${row.n} ${row.method} ${row.path}${query} → ${row.status || "no answer"}${names}${why}`;
}

/** One attempt of a callback, with the payment that it is about. */
export function callbackLine(row: CallbackRecord): string {
  return `${row.refid}: ${callbackText(row.payment_status, row.url)}, attempt ${row.attempt}: ${outcome(row)}`;
}

/** An amount as people read it: `9.75 MYR`. */
function money(amount: number): string {
  return `${amount.toFixed(2)} MYR`;
}

/** Everything in a story, in the order of time; what is equal stays in its order. */
function happened(data: StoryRecord): Event[] {
  const createdAt = data.statuses.find(({ cause }) => cause === "creation")?.at;
  const byRequest = data.statuses.filter(({ cause }) => BY_REQUEST.includes(cause));
  const due = data.statuses.filter(({ cause }) => cause !== "creation" && !BY_REQUEST.includes(cause));
  const isCaused = (at: string, status?: string) =>
    byRequest.some((row) => row.at === at && (status ?? row.status) === row.status);
  const events = [...requestEvents(data), ...statusEvents(data)];
  data.entries.forEach(({ at, amount, type, balance, remarks }, number) => {
    const isDue = due.some((row) => row.at === at);
    const later = isCaused(at) && !isDue ? Order.CausedEntry : Order.DueEntry;
    const changed = `wallet ${amount < 0 ? "" : "+"}${money(amount)} (${type}), balance ${money(balance)}`;
    events.push([at, number === 0 && at === createdAt ? Order.Debit : later, changed + (remarks ? `: ${remarks}` : "")]);
  });
  for (const { payment_status, url, copy, state, attempts } of data.callbacks) {
    const what = callbackText(payment_status, url, copy);
    for (const attempt of attempts) {
      const order = isCaused(attempt.at, payment_status) ? Order.CausedCallback : Order.DueCallback;
      events.push([attempt.at, order, `${what}, attempt ${attempt.number}: ${outcome(attempt)}`]);
    }
    if (attempts.length === 0) events.push([LATER, Order.DueCallback, `${what}: ${state}`]);
  }
  for (const { at, kind, status, message, ended, state } of data.cases) {
    events.push([at, Order.Case, `${kind} ${status}: ${message}`]);
    if (ended) events.push([ended, Order.CausedCallback, `${kind} ${state}`]);
  }
  return events.sort(([at, order], [otherAt, other]) => (at < otherAt ? -1 : at > otherAt ? 1 : order - other));
}

function requestEvents({ requests, requests_left_out }: StoryRecord): Event[] {
  const rows = [...requests].sort((one, other) => one.n - other.n);
  return rows.map((row, number) => {
    const isFirst = number === 0 && !requests_left_out;
    return [row.at, isFirst ? Order.FirstRequest : Order.Request, requestLine(row)];
  });
}

function statusEvents({ statuses }: StoryRecord): Event[] {
  return statuses.map((row) => {
    const { at, cause, sn, pin, voucherlink, remarks } = row;
    const order = cause === "creation" ? Order.Creation : BY_REQUEST.includes(cause) ? Order.Caused : Order.Due;
    const told = Object.entries({ sn, pin, voucherlink, remarks }).filter(([, value]) => value);
    return [at, order, [`status ${statusText(row)} by ${cause}`, ...told.map(([name, value]) => `${name} ${value}`)].join(", ")];
  });
}

function statusText({ status, status_code }: { status: string; status_code: number }): string {
  return `${status} (${status_code})`;
}

function callbackText(status: string, url: string, copy = 0): string {
  return `callback ${status}${copy ? " again" : ""} to ${url}`;
}

/** What became of an attempt of a callback. */
function outcome({ error, status, ending }: Pick<CallbackAttempt, "error" | "status" | "ending">): string {
  return error || (status ? `answered ${status}` : ending || "under way");
}

/** An instant in UTC, to the millisecond; blank for what is still to come. */
function timeText(at: string): string {
  return at === LATER ? "" : `${at.slice(0, 10)} ${at.slice(11, 23)}`;
}
