/** What can be asked of a sandbox, and what the control API answers, whose names `contracts/control.yaml` describes. */

export interface Reseller {
  code: string;
  api_key: string | null;
  api_secret: string | null;
  username: string | null;
  password: string | null;
  balance: number;
}

export interface Clock {
  mode: "real" | "manual" | "xN";
  now: string;
  rate: number;
  /** The clock that `X-Timestamp` is compared with. */
  signature: "wall" | "sandbox";
}

/** A named moment of a sandbox. */
export interface Mark {
  name: string;
  /** How many entries of the tape come before it. */
  n: number;
  at: string;
}

export interface SandboxRecord {
  id: string;
  scenario: string;
  /** A bigint beyond Number.MAX_SAFE_INTEGER. */
  seed: number | bigint;
  url: string;
  clock: Clock;
  resellers: Reseller[];
}

/** What an advance has done. */
export interface Advanced {
  now: string;
  fired: Record<string, unknown>[];
  left_out: number;
  /** False when something is left on the agenda; then `reason` says how to go on, if the advance was `runUntilIdle`. */
  idle: boolean;
  reason?: string;
}

/** A line of the journal. */
export interface RequestRecord {
  n: number;
  at: string;
  method: string;
  path: string;
  query: string;
  status: number | null;
  reseller: string;
  rule: string;
  fault: string;
  error: string;
  diagnosis: string;
  trxid: string;
}

/** One attempt of a callback. `status` is the receiver's. */
export interface CallbackRecord {
  callback: string;
  attempt: number;
  trxid: string;
  refid: string;
  url: string;
  payment_status: string;
  at: string;
  ending: string;
  status: number | null;
  error: string;
  body: string;
}

export interface TransactionRecord {
  trxid: string;
  refid: string;
  reseller: string;
  product: string;
  account: string;
  amount: number;
  cost: number;
  status: string;
  status_code: number;
  created: string;
  updated: string;
  rule: string;
}

/** One attempt of a callback, in a story. */
export interface CallbackAttempt {
  number: number;
  at: string;
  ending: string;
  status: number | null;
  error: string;
  body: string;
}

/** A payment with all that happened to it. */
export interface StoryRecord extends TransactionRecord {
  remarks: string;
  requests: RequestRecord[];
  requests_left_out: number;
  statuses: {
    at: string;
    cause: string;
    status: string;
    status_code: number;
    sn: string;
    pin: string;
    voucherlink: string;
    remarks: string;
  }[];
  entries: { at: string; type: string; amount: number; balance: number; remarks: string }[];
  callbacks: {
    id: string;
    url: string;
    method: string;
    copy: number;
    state: string;
    payment_status: string;
    attempts: CallbackAttempt[];
  }[];
  callbacks_left_out: number;
  /** Voids and disputes. */
  cases: { at: string; kind: string; status: string; message: string; state: string; ended: string | null }[];
}

export interface LedgerEntry {
  at: string;
  type: string;
  amount: number;
  balance: number;
}

export interface Obligation {
  id: string;
  section: string;
  severity: "error" | "warning";
  state: "met" | "violated" | "not_exercised";
  title: string;
  log: "requests" | "notifications";
  evidence: number[];
  violations: number;
  findings: unknown[];
  advice: string;
}

export interface Audit {
  ok: boolean;
  left_out: number;
  obligations: Obligation[];
}

/** What an inbox received. */
export interface InboxRecord {
  n: number;
  at: string;
  method: string;
  query: Record<string, string>;
  headers: [string, string][];
  body: string;
  json: unknown;
  status: number | null;
}

/** A reply of an inbox; `repeat`, `during` and more as in a scenario. */
export interface Reply {
  status?: number;
  delay?: number | string;
  disconnect?: boolean;
  body?: unknown;
  headers?: Record<string, string>;
  [more: string]: unknown;
}

/** How to reach a state of the clock: a duration, or a time. */
export type AdvanceBy = string | number | { to: string | Date };

/**
 * A moment of a sandbox: the name of a mark, a time, or a number of entries of its tape, and only one of them. A `Date` has
 * milliseconds, and means the end of its last one.
 */
export type Moment =
  | { mark: string; to?: never; n?: never }
  | { mark?: never; to: string | Date; n?: never }
  | { mark?: never; to?: never; n: number };

/** Where a fork begins: at a moment, or at the present, and what it is called. */
export type ForkFrom = { id?: string } & (Moment | { mark?: never; to?: never; n?: never });

/** Filters of the journal. */
export interface RequestFilters {
  method?: string;
  path?: string;
  status?: number;
  reseller?: string;
  trxid?: string;
  refid?: string;
  rule?: string;
  error?: string;
  /** How many a page has; all pages are read. */
  limit?: number;
}

/** Filters of payments. */
export interface PaymentFilters {
  refid?: string;
  reseller?: string;
}

/** Filters of attempts of callbacks. */
export interface CallbackFilters {
  refid?: string;
  trxid?: string;
}

/** Which callback is meant, and how long to wait for it. */
export interface CallbackWanted {
  refid?: string;
  /** `Processing`, `Succesful` or `Failed`. */
  status?: string;
  timeoutS?: number;
  /** The inbox that receives them. */
  inbox?: string;
}

/** A rule that was added. */
export interface Rule {
  id: string;
  remove(): Promise<void>;
}

/** What `sandbox.fetch` takes of a request. */
export type RequestInit = Pick<globalThis.RequestInit, "method" | "headers" | "body" | "signal">;
