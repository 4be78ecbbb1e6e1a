/** The evidence about a sandbox after a failed test. */

import { checkArguments, FUNCTIONS, nearest } from "./arguments.js";
import { ExpectationFailed } from "./control.js";
import { proxyHint } from "./machine.js";
import type { CallbackWanted, Clock, Held, Obligation, RequestRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { callbackLine, requestLine, shownTime } from "./story.js";

const LINES_MAX = 20;
const DUE_MAX = 5;
const EXPLAINED_MAX = 10; // each is a search
const EXPLAINING_S = 10;
const WRONG_SIGNATURE = ["invalid_signature", "invalid_signature_format"];

type Autopsied = { autopsy?: { mistakes: string[]; sentence: string; fix: string } | null };

/** A failed expectation, with what is pending and held, and what happened instead: the payment's story, or everything. */
export async function failed(sandbox: Sandbox, message: string, refid?: string, actual?: unknown, expected?: unknown): Promise<ExpectationFailed> {
  const hints = (await pendingHint(sandbox)) + (await heldHint(sandbox, refid));
  const payment = refid === undefined ? null : await sandbox.transaction(refid);
  const lines = payment === null ? await happened(sandbox) : `${await sandbox.story(payment.refid)}`;
  return new ExpectationFailed(`${message}${hints}`, lines, actual, expected);
}

/** The failure that there is no payment with a refid. */
export const noPayment = async (sandbox: Sandbox, refid: string): Promise<ExpectationFailed> =>
  failed(sandbox, `no payment has the refid ${refid}`, refid);

/** The failure that a callback did not come in time. */
export async function noCallback(sandbox: Sandbox, { refid, status, inbox }: CallbackWanted, timeoutS: number): Promise<ExpectationFailed> {
  if (refid !== undefined && (await sandbox.transaction(refid)) === null) return noPayment(sandbox, refid);
  const what = ["no callback", refid && `for ${refid}`, status && `with the status ${status}`].filter(Boolean).join(" ");
  const hint = inbox === undefined ? "" : await unusedInbox(sandbox, inbox);
  return failed(sandbox, `${what} came in ${timeoutS} s${hint}${await attemptHint(sandbox, refid)}`, refid);
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

/** Why the latest callback has not been accepted: what its receiver did. Without a refid, of all payments. */
export async function attemptHint(sandbox: Sandbox, refid?: string): Promise<string> {
  const latest = (await sandbox.callbacks(refid === undefined ? {} : { refid })).at(-1);
  return latest === undefined || isAccepted(latest) ? "" : `; the latest attempt: ${callbackLine(latest)}`;
}

/** Whether the receiver accepted this attempt of a callback. */
export const isAccepted = ({ status }: { status: number | null }) => Math.floor((status ?? 0) / 100) === 2;

/** A violated obligation, with what to do about it. */
export const violationLine = ({ id, section, title, log, evidence, advice }: Obligation): string =>
  `${id}, section ${section}${evidence.length > 0 ? ` (${log} ${evidence.join(", ")})` : ""}: ${title}\n  ${advice}`;

/** The pending items, and how a test with a manual clock continues; empty without any. */
export async function pendingHint(sandbox: Sandbox): Promise<string> {
  const { mode, now, pending, next_due: next } = await sandbox.ask<Clock & { pending: number; next_due: string | null }>("GET", "/clock");
  if (pending === 0) return "";
  const { due } = await sandbox.ask<{ due: { about: string; at: string }[] }>("GET", "/due", { query: { limit: DUE_MAX } });
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

/** `1 payment`, `2 payments`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** What is pending and held, the stories of the latest payments, the requests that were refused and the attempts of callbacks, oldest first. */
export async function evidence(sandbox: Sandbox): Promise<string> {
  checkArguments("evidence", arguments, FUNCTIONS.evidence);
  return happened(sandbox, (await pendingHint(sandbox)) + (await heldHint(sandbox)));
}

async function happened(sandbox: Sandbox, waits = ""): Promise<string> {
  const [payments, refused, callbacks] = [await sandbox.transactions(), await sandbox.refused(), await sandbox.callbacks()];
  const stories = await Promise.all(payments.slice(0, LINES_MAX).map(({ refid }) => sandbox.story(refid)));
  const lines = [`sandbox ${sandbox.id}: ${counted(payments.length, "payment")}, ${counted(refused.length, "refused request")}`];
  if (waits !== "") lines.push(waits.slice("; ".length));
  if (payments.length > stories.length) lines.push(`the latest ${stories.length} payments:`);
  lines.push(...stories.reverse().map(String));
  lines.push(...section("refused requests", await refusalLines(sandbox, refused)), ...section("callbacks", callbacks.map(callbackLine)));
  if (payments.length > 0 || refused.length > 0) return lines.join("\n");
  const requests = (await sandbox.requests()).reverse().map(requestLine);
  return [...lines, ...section("requests", requests.length > 0 ? requests : [noRequest(sandbox)])].join("\n");
}

/** A title and the latest lines below it; empty without lines. */
function section(title: string, lines: readonly string[]): string[] {
  const earlier = lines.length > LINES_MAX ? [`  ... ${lines.length - LINES_MAX} earlier`] : [];
  return lines.length === 0 ? [] : [`${title}:`, ...earlier, ...lines.slice(-LINES_MAX).map((line) => `  ${line}`)];
}

/** The explanation when no request came: the right address, and proxies. */
const noRequest = ({ url }: Sandbox) =>
  `None has reached the sandbox: does the code under test use ${url}?${proxyHint(process.env)}`;

/** A line for each row of the journal, oldest first; the rows are newest first. The latest ones with a wrong signature say what the
 * autopsy found and its fix, if the simulator answers: the test has an error of its own to show. */
export async function refusalLines(sandbox: Sandbox, rows: readonly RequestRecord[]): Promise<string[]> {
  const wrong = rows.filter(({ error }) => WRONG_SIGNATURE.includes(error)).slice(0, EXPLAINED_MAX);
  const lines: string[] = [];
  for (const row of rows) {
    const asked = wrong.includes(row) ? sandbox.ask<Autopsied>("GET", `/requests/${row.n}`, { timeoutS: EXPLAINING_S }) : undefined;
    const { autopsy } = (await asked?.catch((): Autopsied => ({}))) ?? {};
    lines.unshift(requestLine(autopsy?.mistakes.length ? { ...row, diagnosis: `${autopsy.sentence}; ${autopsy.fix}` } : row));
  }
  return lines;
}
