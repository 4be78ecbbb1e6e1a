/** Statuses that the service writes, of payments and in callbacks; an expectation of another one is a mistake. */

import { inspected } from "./printable.js";

const PAYMENT = ["Accepted", "Processing", "Succesful", "Failed", "Refund"];
const CALLBACK = ["Processing", "Succesful", "Failed"];
const MISSPELT = /^succe(ss(ful)?|eded)$/i;

/** A RangeError, with those that there are, for a status that no payment ever has. */
export function checkPaymentStatus(status: string): void {
  checkStatus(status, PAYMENT, "payment");
}

/** A RangeError, with those that there are, for a status that no callback ever has; undefined is any. */
export function checkCallbackStatus(status: string | undefined): void {
  if (status !== undefined) checkStatus(status, CALLBACK, "callback");
}

function checkStatus(status: string, known: readonly string[], what: string): void {
  if (known.includes(status)) return;
  const hint = MISSPELT.test(status) ? `: the service writes "Succesful", with one s` : "";
  throw new RangeError(`${inspected(status)} is no status of a ${what}${hint}; give one of ${known.join(", ")}`);
}
