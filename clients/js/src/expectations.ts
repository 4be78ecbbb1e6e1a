/** What a test expects of a sandbox. Each failure shows what did happen. */

import { ExpectationFailed } from "./errors.js";
import { counted, findingLines, refusalLines } from "./evidence.js";
import type { Advanced, CallbackRecord, CallbackWanted, Clock } from "./records.js";
import type { Sandbox } from "./sandbox.js";

const LATEST = 5;

/** The latest payment with this refid has this status. */
export async function expectStatus(sandbox: Sandbox, refid: string, status: string): Promise<void> {
  const payment = await sandbox.transaction(refid);
  if (payment === null) throw await noPayment(sandbox, refid);
  if (payment.status === status) return;
  const story = `${await sandbox.story(refid)}`;
  throw new ExpectationFailed(`payment ${refid} is ${payment.status}, expected ${status}${await pendingHint(sandbox)}`, story, payment.status, status);
}

/** A wallet has this balance. */
export async function expectBalance(sandbox: Sandbox, amount: string | number, reseller?: string): Promise<void> {
  const balance = await (reseller === undefined ? sandbox.balance() : sandbox.balance(reseller));
  if (balance === Number(amount)) return;
  const payments = (await sandbox.transactions()).reverse();
  const evidence = payments.map(({ refid, status, cost }) => `payment ${refid}: ${status}, cost ${cost}`).join("\n");
  throw new ExpectationFailed(`the balance is ${balance}, expected ${amount}`, evidence, balance, Number(amount));
}

/** A receiver has accepted a callback of this payment, with this status. */
export async function expectCallback(
  sandbox: Sandbox,
  refid: string,
  status: string | undefined,
): Promise<CallbackRecord> {
  const attempts = await sandbox.callbacks({ refid });
  const isWanted = (attempt: CallbackRecord) => (status ?? attempt.payment_status) === attempt.payment_status;
  const found = attempts.find((attempt) => isWanted(attempt) && Math.floor((attempt.status ?? 0) / 100) === 2);
  if (found !== undefined) return found;
  const what = status === undefined ? "callback" : `callback with the status ${status}`;
  throw new ExpectationFailed(`no ${what} for ${refid} was accepted${await pendingHint(sandbox)}`, await storyOrRefusals(sandbox, refid));
}

/** No request was refused. */
export async function expectNoRefusals(sandbox: Sandbox): Promise<void> {
  const refused = await sandbox.refused();
  if (refused.length === 0) return;
  const lines = await refusalLines(sandbox, refused);
  throw new ExpectationFailed(counted(lines.length, "refused request"), lines.join("\n"), lines.length, 0);
}

/** The client violated nothing that the service asks of it, but for warnings. */
export async function expectCleanAudit(sandbox: Sandbox): Promise<void> {
  const { obligations } = await sandbox.audit();
  const violated = obligations.filter(({ state, severity }) => state === "violated" && severity !== "warning");
  if (violated.length === 0) return;
  const ids = violated.map(({ id }) => id);
  throw new ExpectationFailed(`violated: ${ids.join(", ")}`, violated.map(findingLines).join("\n"), ids, []);
}

/** The failure that there is no payment with a refid, with the requests that were refused. */
export async function noPayment(sandbox: Sandbox, refid: string): Promise<ExpectationFailed> {
  const lines = await refusalLines(sandbox, await sandbox.refused());
  return new ExpectationFailed(`no payment has the refid ${refid}`, lines.join("\n"));
}

/** The story of a payment or, if there is none, why. */
async function storyOrRefusals(sandbox: Sandbox, refid: string): Promise<string> {
  const payment = await sandbox.transaction(refid);
  return payment === null ? (await noPayment(sandbox, refid)).message : `${await sandbox.story(refid)}`;
}

/** The failure that a callback did not come in time. */
export async function noCallback(sandbox: Sandbox, { refid, status }: CallbackWanted, timeoutS: number): Promise<ExpectationFailed> {
  const what = ["no callback", refid && `for ${refid}`, status && `with the status ${status}`].filter(Boolean).join(" ");
  const evidence = refid === undefined ? "" : await storyOrRefusals(sandbox, refid);
  return new ExpectationFailed(`${what} came in ${timeoutS} s${await pendingHint(sandbox)}`, evidence);
}

/** The failure that time was moved on and on, and something was still to happen. */
export async function neverIdle(sandbox: Sandbox, { now, fired, reason = "" }: Advanced): Promise<ExpectationFailed> {
  const payments = await sandbox.transactions();
  const latest = payments.slice(0, LATEST).map(({ refid, created, status }) => `payment ${refid}, created ${created}: ${status}`);
  const said = `the sandbox is not idle at ${now}, after ${counted(fired.length, "event")}${reason && `: ${reason}`}`;
  return new ExpectationFailed(said, [`${counted(payments.length, "payment")}, the latest:`, ...latest].join("\n"));
}

/** What a test has forgotten that moves time itself; empty when nothing is pending. */
async function pendingHint(sandbox: Sandbox): Promise<string> {
  const { mode, pending } = await sandbox.ask<Clock & { pending: number }>("GET", "/clock");
  const are = pending === 1 ? "is" : "are";
  return mode === "manual" && pending > 0 ? `; the clock is manual and ${pending} ${are} pending: call advance() or runUntilIdle() first` : "";
}
