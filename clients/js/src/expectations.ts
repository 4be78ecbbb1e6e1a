/** What a test expects of a sandbox. Each failure shows what did happen. */

import { ExpectationFailed } from "./errors.js";
import { findingLines, requestLine } from "./evidence.js";
import type { Sandbox } from "./sandbox.js";

/** The latest payment with this refid has this status. */
export async function expectStatus(sandbox: Sandbox, refid: string, status: string): Promise<void> {
  const payment = await sandbox.transaction(refid);
  if (payment?.status === status) return;
  const evidence = await storyOrRefusals(sandbox, refid, payment !== null);
  const is = payment === null ? "does not exist" : `is ${payment.status}`;
  throw new ExpectationFailed(`payment ${refid} ${is}, expected ${status}`, evidence, payment?.status, status);
}

/** A wallet has this balance. */
export async function expectBalance(sandbox: Sandbox, amount: string | number, code?: string): Promise<void> {
  const { resellers } = await sandbox.record();
  const reseller = code === undefined ? resellers[0] : resellers.find((one) => one.code === code);
  if (reseller !== undefined && reseller.balance === Number(amount)) return;
  const payments = (await sandbox.transactions()).reverse();
  const evidence = payments.map(({ refid, status, cost }) => `payment ${refid}: ${status}, cost ${cost}`).join("\n");
  const is = reseller === undefined ? "does not exist" : `is ${reseller.balance}`;
  const message = `the balance of ${code ?? reseller?.code ?? "the first reseller"} ${is}, expected ${amount}`;
  throw new ExpectationFailed(message, evidence, reseller?.balance, Number(amount));
}

/** An inbox has received a callback of this payment, with this status. */
export async function expectCallback(
  sandbox: Sandbox,
  refid: string,
  { status, inbox = "callbacks" }: { status?: string; inbox?: string },
): Promise<void> {
  const statuses = (await sandbox.inbox(inbox))
    .map(({ payment }) => payment)
    .filter((payment) => payment.refid === refid)
    .map((payment) => payment.status);
  if (status === undefined ? statuses.length > 0 : statuses.includes(status)) return;
  const evidence = await storyOrRefusals(sandbox, refid, (await sandbox.transaction(refid)) !== null);
  const had = statuses.length > 0 ? `had ${statuses.join(", ")}` : "had none";
  const message = `the inbox ${inbox} ${had} of payment ${refid}, expected ${status ?? "a callback"}`;
  throw new ExpectationFailed(message, evidence, statuses, status);
}

/** No request was refused. */
export async function expectNoRefusals(sandbox: Sandbox): Promise<void> {
  const refused = (await sandbox.refused()).reverse();
  if (refused.length === 0) return;
  const count = refused.length === 1 ? "1 request was" : `${refused.length} requests were`;
  throw new ExpectationFailed(`${count} refused`, refused.map(requestLine).join("\n"), refused.length, 0);
}

/** The client violated nothing that the service asks of it. */
export async function expectCleanAudit(sandbox: Sandbox): Promise<void> {
  const { ok, obligations } = await sandbox.audit();
  if (ok) return;
  const violated = obligations.filter(({ state }) => state === "violated");
  const ids = violated.map(({ id }) => id);
  throw new ExpectationFailed(`violated: ${ids.join(", ")}`, violated.map(findingLines).join("\n"), ids, []);
}

async function storyOrRefusals(sandbox: Sandbox, refid: string, exists: boolean): Promise<string> {
  if (exists) return (await sandbox.story(refid)).toString();
  return (await sandbox.refused()).reverse().map(requestLine).join("\n");
}
