/** Arguments and records of the control API, with the names of `contracts/control.yaml`. */

type Texts<Names extends string> = { [Name in Names]: string };
type Numbers<Names extends string> = { [Name in Names]: number };
/** Members that may be left out or undefined. */
export type Options<Members> = { [Name in keyof Members]?: Members[Name] | undefined };

export type Reseller = { code: string; balance: number } & Record<"api_key" | "api_secret" | "username" | "password", string | null>;
/** `signature` is the clock that `X-Timestamp` is compared with. */
export type Clock = { mode: "real" | "manual" | "xN"; now: string; rate: number; signature: "wall" | "sandbox" };
/** A named moment of a sandbox; `n` entries of the tape come before it. */
export type Mark = { name: string; n: number; at: string };
export type SandboxRecord = Texts<"id" | "scenario" | "url"> & { seed: number; clock: Clock; resellers: Reseller[] };

/** The result of an advance. `idle` is false when items are left on the agenda; then `reason` says how to continue, if the advance was
 * `runUntilIdle`. */
export type Advanced = { now: string; fired: Record<string, unknown>[]; left_out: number; idle: boolean; held?: Record<string, number>; reason?: string };

/** A line of the journal. */
export type RequestRecord = { n: number; status: number | null } & Texts<
  "at" | "method" | "path" | "query" | "reseller" | "rule" | "fault" | "error" | "diagnosis" | "trxid"
>;
/** A receiver's answer to a callback; `status` is the HTTP status. */
type Outcome = Texts<"at" | "ending" | "error" | "body"> & { status: number | null };
/** One attempt of a callback, in a story. */
export type CallbackAttempt = Outcome & { number: number };
/** One attempt of a callback. */
export type CallbackRecord = Outcome & Texts<"callback" | "trxid" | "refid" | "url" | "payment_status"> & { attempt: number };
export type TransactionRecord = Texts<"trxid" | "refid" | "reseller" | "product" | "account" | "status" | "created" | "updated" | "rule"> &
  Numbers<"amount" | "cost" | "status_code">;
export type LedgerEntry = Texts<"at" | "type"> & Numbers<"amount" | "balance">;

/** A payment with all that happened to it. `cases` are voids and disputes, `events` all of it as lines to read. */
export type StoryRecord = TransactionRecord & {
  remarks: string;
  requests: RequestRecord[];
  requests_left_out: number;
  statuses: (Texts<"at" | "cause" | "status" | "sn" | "pin" | "voucherlink" | "remarks"> & { status_code: number })[];
  entries: (LedgerEntry & { remarks: string })[];
  callbacks: (Texts<"id" | "url" | "method" | "state" | "payment_status"> & { copy: number; attempts: CallbackAttempt[] })[];
  callbacks_left_out: number;
  cases: (Texts<"at" | "kind" | "status" | "message" | "state"> & { ended: string | null })[];
  events: { at: string | null; text: string }[];
};
export type Obligation = Texts<"id" | "section" | "title" | "advice"> & {
  severity: "error" | "warning";
  state: "met" | "violated" | "not_exercised";
  log: "requests" | "notifications";
  evidence: number[];
  violations: number;
  findings: unknown[];
};
export type Audit = { ok: boolean; left_out: number; obligations: Obligation[] };

/** A message that an inbox received. */
export type InboxRecord = Texts<"at" | "method" | "body"> & {
  n: number;
  query: Record<string, string>;
  headers: [string, string][];
  json: unknown;
  status: number | null;
};
/** A reply of an inbox; `repeat`, `during` and more as in a scenario. */
export type Reply = { status?: number; delay?: number | string | { median: string; p99: string }; disconnect?: boolean; body?: unknown; headers?: Record<string, string>; [more: string]: unknown };

/** How to reach a state of the clock: a duration, or a time. */
export type AdvanceBy = string | number | { to: string | Date };
/** A moment of a sandbox: the name of a mark, a time, or a number of entries of its tape, and only one of them. A `Date` has
 * milliseconds, and means the end of its last one. */
export type Moment = { mark: string } | { to: string | Date } | { n: number };
/** Where a fork begins: at a moment, or at the present, and what it is called. */
export type ForkFrom = { id?: string } & (Moment | { mark?: string; to?: string | Date; n?: number });

export type PaymentFilters = { refid?: string; reseller?: string };
export type CallbackFilters = { refid?: string; trxid?: string };
type Compared = Texts<"method" | "path" | "reseller" | "trxid" | "refid" | "rule" | "fault" | "error"> & Numbers<"status">;
/** Filters of the journal, as of the control API; `_not` excludes. `limit`: how many a page has; all pages are read. */
export type RequestFilters = Partial<Compared & { [Name in keyof Compared as `${Name}_not`]: Compared[Name] } & Texts<"trace_id"> & Numbers<"status_min" | "status_max" | "limit">>;

/** Which callback is meant, by `status` `Processing`, `Succesful` or `Failed`, how long to wait for it, and the inbox that receives it. */
export type CallbackWanted = { refid?: string; status?: string; timeoutS?: number; inbox?: string };
/** An answer or a delivery that a rule holds: a request's method and path, a callback's status, or an event's type. */
export type Held = Texts<"name" | "what" | "refid" | "since"> & { kind: "request" | "answer" | "callback" | "webhook"; job: string | null; waited: number; ends_in: number };

/** A rule that was added. */
export type Rule = { id: string; remove(): Promise<void> };
/** The options of a request for `sandbox.fetch`. */
export type RequestInit = { method?: string; headers?: Headers | Record<string, string> | [string, string][]; body?: string | Uint8Array | null };
