/** What people read of a sandbox when a test has failed: what did happen. */

import { checkArguments, FUNCTIONS, nearest } from "./arguments.js";
import { ExpectationFailed } from "./control.js";
import { proxyHint, steadyS } from "./machine.js";
import type { Advanced, CallbackWanted, Clock, RequestRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { callbackLine, requestLine, shownTime } from "./story.js";

const LINES_MAX = 20;
const LATEST = 5;
const EXPLAINED_MAX = 10; // each is a search
const EXPLAINING_S = 10; // all of them
const WRONG_SIGNATURE = ["invalid_signature", "invalid_signature_format"];

type Autopsied = { autopsy?: { mistakes: string[]; sentence: string; fix: string } | null };

/** The failure that there is no payment with a refid, with the requests that were refused. */
export async function noPayment(sandbox: Sandbox, refid: string): Promise<ExpectationFailed> {
  const isReached = (await sandbox.requests()).length > 0;
  const lines = isReached ? await refusalLines(sandbox, await sandbox.refused()) : [noRequest(sandbox)];
  return new ExpectationFailed(`no payment has the refid ${refid}`, lines.join("\n"));
}

/** The failure that a callback did not come in time. */
export async function noCallback(sandbox: Sandbox, { refid, status, inbox }: CallbackWanted, timeoutS: number): Promise<ExpectationFailed> {
  const what = ["no callback", refid && `for ${refid}`, status && `with the status ${status}`].filter(Boolean).join(" ");
  const hints = (inbox === undefined ? "" : await unusedInbox(sandbox, inbox)) + (await pendingHint(sandbox));
  return new ExpectationFailed(`${what} came in ${timeoutS} s${hints}`, refid === undefined ? "" : await storyOrRefusals(sandbox, refid));
}

/** The failure that time was moved on and on, and something was still to happen. */
export async function neverIdle(sandbox: Sandbox, { now, fired, left_out, reason = "" }: Advanced): Promise<ExpectationFailed> {
  const payments = await sandbox.transactions();
  const latest = payments.slice(0, LATEST).map(({ refid, created, status }) => `payment ${refid}, created ${shownTime(created)}: ${status}`);
  const message = `the sandbox is not idle at ${shownTime(now)}, after ${counted(fired.length + left_out, "event")}${reason && `: ${reason}`}`;
  return new ExpectationFailed(message, [`${counted(payments.length, "payment")}, the latest:`, ...latest].join("\n"));
}

/** Where neither a callback nor a webhook is sent to this inbox and nothing has come to it: which one was meant. Otherwise empty. */
export async function unusedInbox(sandbox: Sandbox, name: string): Promise<string> {
  const { inboxes } = await sandbox.ask<{ inboxes: { name: string }[] }>("GET", "/inbox");
  const { resellers } = await sandbox.ask<{ resellers: { callback?: { url: string } | null; webhooks: { url: string }[] }[] }>("GET", "/resellers");
  const urls = resellers.flatMap(({ callback, webhooks }) => [callback?.url ?? "", ...webhooks.map(({ url }) => url)]);
  const names = [...urls.map((url) => /^inbox:(.+)|\/_sim\/inbox\/[^/]+\/(.+)/.exec(url)?.slice(1).join("") ?? ""), ...inboxes.map((inbox) => inbox.name)];
  if (names.includes(name)) return "";
  const near = nearest(name, names.filter(Boolean));
  return near === undefined ? "" : `; nothing is sent to the inbox ${name}: did you mean ${near}?`;
}

/** What a test has forgotten that moves time itself; empty when nothing is pending. */
export async function pendingHint(sandbox: Sandbox): Promise<string> {
  const { mode, pending } = await sandbox.ask<Clock & { pending: number }>("GET", "/clock");
  if (mode !== "manual" || pending === 0) return "";
  const { due } = await sandbox.ask<{ due: { about: string; at: string }[] }>("GET", "/due", { query: { limit: LATEST } });
  const next = due.map(({ about, at }) => `${about} at ${shownTime(at)}`).join("; ");
  return `; the clock is manual and ${pending} ${pending === 1 ? "is" : "are"} pending (${next}): call advance() or runUntilIdle() first`;
}

/** The story of a payment or, if there is none, why. */
export const storyOrRefusals = async (sandbox: Sandbox, refid: string): Promise<string> =>
  sandbox.story(refid).then(String, (error: Error) => error.message);

/** `1 payment`, `2 payments`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** The stories of the latest payments, the requests that were refused and the attempts of callbacks, oldest first. */
export async function evidence(sandbox: Sandbox): Promise<string> {
  checkArguments("evidence", arguments, FUNCTIONS.evidence);
  const [payments, refused, callbacks] = [await sandbox.transactions(), await sandbox.refused(), await sandbox.callbacks()];
  const stories = await Promise.all(payments.slice(0, LINES_MAX).map(({ refid }) => sandbox.story(refid)));
  const lines = [`sandbox ${sandbox.id}: ${counted(payments.length, "payment")}, ${counted(refused.length, "refused request")}`];
  if (payments.length > stories.length) lines.push(`the latest ${stories.length} payments:`);
  lines.push(...stories.reverse().map(String));
  lines.push(...section("refused requests", await refusalLines(sandbox, refused)), ...section("callbacks", callbacks.map(callbackLine)));
  if (payments.length > 0 || refused.length > 0) return lines.join("\n");
  const requests = (await sandbox.requests()).reverse().map(requestLine);
  return [...lines, ...section("requests", requests.length > 0 ? requests : [noRequest(sandbox)])].join("\n");
}

/** A title and the latest lines below it; nothing if there are none. */
function section(title: string, lines: readonly string[]): string[] {
  const earlier = lines.length > LINES_MAX ? [`  ... ${lines.length - LINES_MAX} earlier`] : [];
  return lines.length === 0 ? [] : [`${title}:`, ...earlier, ...lines.slice(-LINES_MAX).map((line) => `  ${line}`)];
}

/** What to say where no request came: the right address, and proxies. */
const noRequest = (sandbox: Sandbox): string => `None has reached the sandbox: does the code under test use ${sandbox.url}?${proxyHint(process.env)}`;

/** A line for each row of the journal, oldest first; the rows are newest first. The latest ones with a wrong signature say what the
 * autopsy found and its fix, as far as the simulator answers in time: the test has an error of its own to show. */
export async function refusalLines(sandbox: Sandbox, rows: readonly RequestRecord[]): Promise<string[]> {
  const until = steadyS() + EXPLAINING_S;
  const wrong = rows.filter(({ error }) => WRONG_SIGNATURE.includes(error)).slice(0, EXPLAINED_MAX);
  const lines: string[] = [];
  for (const row of rows) {
    const timeoutS = wrong.includes(row) ? until - steadyS() : 0;
    const { autopsy = null } = timeoutS > 0 ? await sandbox.ask<Autopsied>("GET", `/requests/${row.n}`, { timeoutS }).catch((): Autopsied => ({})) : {};
    lines.unshift(requestLine(autopsy?.mistakes.length ? { ...row, diagnosis: `${autopsy.sentence}; ${autopsy.fix}` } : row));
  }
  return lines;
}
