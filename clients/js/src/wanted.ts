/** What can be asked of a sandbox, and what a rule is to who added it. */

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
