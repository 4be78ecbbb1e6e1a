/** The evidence about a sandbox after a failed test. */

import { checkArguments, FUNCTIONS, nearest } from "./arguments.js";
import { Control, ExpectationFailed } from "./control.js";
import { proxyHint, steadyS, wallMs } from "./machine.js";
import type { Advanced, CallbackWanted, Clock, Held, Obligation, RequestRecord, TransactionRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { callbackLine, requestLine, shownTime } from "./story.js";

const LINES_MAX = 20;
const LATEST = 5;
const RECENT = 1000; // requests of another sandbox that are looked at
const EXPLAINED_MAX = 10; // each is a search
const EXPLAINING_S = 10; // all of them
const WRONG_SIGNATURE = ["invalid_signature", "invalid_signature_format"];

type Autopsied = { autopsy?: { mistakes: string[]; sentence: string; fix: string } | null };

/** The failure that there is no payment with a refid, with the requests that were refused. */
export async function noPayment(sandbox: Sandbox, refid: string): Promise<ExpectationFailed> {
  const isReached = (await sandbox.requests()).length > 0;
  const lines = isReached ? await refusalLines(sandbox, await sandbox.refused()) : [await noRequest(sandbox)];
  return new ExpectationFailed(`no payment has the refid ${refid}${await heldHint(sandbox, refid)}`, lines.join("\n"));
}

/** The failure that a payment has another status. */
export async function otherStatus(sandbox: Sandbox, { refid, status }: TransactionRecord, wanted: string): Promise<ExpectationFailed> {
  const hints = (await pendingHint(sandbox)) + (await heldHint(sandbox, refid));
  return new ExpectationFailed(`payment ${refid} is ${status}, expected ${wanted}${hints}`, `${await sandbox.story(refid)}`, status, wanted);
}

/** The failure that a wallet has another balance. */
export async function otherBalance(sandbox: Sandbox, balance: number, wanted: string | number): Promise<ExpectationFailed> {
  const lines = (await sandbox.transactions()).map(({ refid, status, cost }) => `payment ${refid}: ${status}, cost ${cost}`).reverse();
  const message = `the balance is ${balance}, expected ${wanted}${await pendingHint(sandbox)}`;
  return new ExpectationFailed(message, lines.join("\n"), balance, Number(wanted));
}

/** The failure that a callback did not come in time. */
export async function noCallback(sandbox: Sandbox, { refid, status, inbox }: CallbackWanted, timeoutS: number): Promise<ExpectationFailed> {
  const what = ["no callback", refid && `for ${refid}`, status && `with the status ${status}`].filter(Boolean).join(" ");
  const hints = (inbox === undefined ? "" : await unusedInbox(sandbox, inbox)) + (await callbackHints(sandbox, refid));
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

/** Why a callback has not been accepted: what its receiver did, what is pending, what is held. Without a refid, of all payments. */
export async function callbackHints(sandbox: Sandbox, refid?: string): Promise<string> {
  const latest = (await sandbox.callbacks(refid === undefined ? {} : { refid })).at(-1);
  const attempt = latest === undefined || isAccepted(latest) ? "" : `; the latest attempt: ${callbackLine(latest)}`;
  return attempt + (await pendingHint(sandbox)) + (await heldHint(sandbox, refid));
}

/** Whether the receiver accepted this attempt of a callback. */
export const isAccepted = ({ status }: { status: number | null }) => Math.floor((status ?? 0) / 100) === 2;

/** Warns of an advance without a duration that did nothing. */
export function warnOfNothing({ fired, idle }: Advanced): void {
  const text = 'advance() runs what is due now, and nothing is: to move time, give a duration such as advance("5s")';
  if (fired.length === 0 && !idle) process.emitWarning(text);
}

/** A violated obligation, with what to do about it. */
export const violationLine = ({ id, section, title, log, evidence, advice }: Obligation): string =>
  `${id}, section ${section}${evidence.length > 0 ? ` (${log} ${evidence.join(", ")})` : ""}: ${title}\n  ${advice}`;

/** The pending items, and how a test with a manual clock continues; empty without any. */
export async function pendingHint(sandbox: Sandbox): Promise<string> {
  const { mode, now, pending, next_due: next } = await sandbox.ask<Clock & { pending: number; next_due: string | null }>("GET", "/clock");
  if (pending === 0) return "";
  const { due } = await sandbox.ask<{ due: { about: string; at: string }[] }>("GET", "/due", { query: { limit: LATEST } });
  const items = due.map(({ about, at }) => `${about} at ${shownTime(at)}`).join("; ");
  const count = `${pending} ${pending === 1 ? "is" : "are"} pending (${items})`;
  if (mode !== "manual") return `; ${count}`;
  const waitS = Math.ceil((Date.parse(next ?? now) - Date.parse(now)) / 1000);
  return `; the clock is manual and ${count}: call advance(${waitS > 0 ? `"${waitS}s"` : ""}) or runUntilIdle() first`;
}

/** The held items of a payment, or of all payments; empty without any. */
export async function heldHint(sandbox: Sandbox, refid?: string): Promise<string> {
  const { holds } = await sandbox.ask<{ holds: Held[] }>("GET", "/holds");
  const held = holds.filter((one) => (refid ?? one.refid) === one.refid).slice(0, LINES_MAX);
  return held.length === 0 ? "" : `; held until a release: ${held.map(({ kind, what, name }) => `${kind} ${what} in ${name}`).join(", ")}`;
}

/** The story of a payment, or the reason why it has no story. */
export const storyOrRefusals = async (sandbox: Sandbox, refid: string): Promise<string> =>
  sandbox.story(refid).then(String, (error: Error) => error.message);

/** `1 payment`, `2 payments`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** The stories of the latest payments, the requests that were refused and the attempts of callbacks, oldest first. */
export async function evidence(sandbox: Sandbox): Promise<string> {
  checkArguments("evidence", arguments, FUNCTIONS.evidence);
  return evidenceOf(sandbox, true);
}

/** The same. `asksForAddress`: where no request came, ask whether the code under test uses the address of the sandbox. */
export async function evidenceOf(sandbox: Sandbox, asksForAddress: boolean): Promise<string> {
  const [payments, refused, callbacks] = [await sandbox.transactions(), await sandbox.refused(), await sandbox.callbacks()];
  const stories = await Promise.all(payments.slice(0, LINES_MAX).map(({ refid }) => sandbox.story(refid)));
  const lines = [`sandbox ${sandbox.id}: ${counted(payments.length, "payment")}, ${counted(refused.length, "refused request")}`];
  const waits = (await pendingHint(sandbox)) + (await heldHint(sandbox));
  if (waits !== "") lines.push(waits.slice("; ".length));
  if (payments.length > stories.length) lines.push(`the latest ${stories.length} payments:`);
  lines.push(...stories.reverse().map(String));
  lines.push(...section("refused requests", await refusalLines(sandbox, refused)), ...section("callbacks", callbacks.map(callbackLine)));
  if (payments.length > 0 || refused.length > 0) return lines.join("\n");
  const requests = (await sandbox.requests()).reverse().map(requestLine);
  const hint = asksForAddress ? [await noRequest(sandbox)] : [];
  return [...lines, ...section("requests", requests.length > 0 ? requests : hint)].join("\n");
}

/** A title and the latest lines below it; empty without lines. */
function section(title: string, lines: readonly string[]): string[] {
  const earlier = lines.length > LINES_MAX ? [`  ... ${lines.length - LINES_MAX} earlier`] : [];
  return lines.length === 0 ? [] : [`${title}:`, ...earlier, ...lines.slice(-LINES_MAX).map((line) => `  ${line}`)];
}

/** The explanation when no request came: the right address, requests that reached another sandbox, and proxies. */
const noRequest = async (sandbox: Sandbox): Promise<string> =>
  `None has reached the sandbox: does the code under test use ${sandbox.url}?${await strays(sandbox)}${proxyHint(process.env)}`;

/** A sentence about requests that have reached the sandbox `default` since this sandbox was opened: they used the key of the banner and a URL
 * without `/s/ID`. Empty without such requests. */
async function strays(sandbox: Sandbox): Promise<string> {
  const { RESELLER_SIM_URL: url = "", RESELLER_SIM_TOKEN: token } = sandbox.environment;
  const control = new Control(url, token);
  const ask = <T>(what: string, query = {}) => control.ask<T>("GET", `/sandboxes/default/${what}`, { query });
  try {
    const { mode, now } = await ask<Clock>("clock");
    const { requests } = await ask<{ requests: RequestRecord[] }>("requests", { limit: RECENT });
    const since = Date.parse(now) - (wallMs() - sandbox.openedAt.getTime());
    const count = requests.filter(({ at }) => Date.parse(at) >= since).length;
    if (mode !== "real" || count === 0 || sandbox.id === "default") return "";
    return ` Meanwhile ${count} reached the sandbox default, whose keys the root address leads to.`;
  } catch {
    return ""; // a token for this sandbox alone
  }
}

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
