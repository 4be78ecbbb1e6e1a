/** What people read of a sandbox when a test has failed. */

import { checkArguments } from "./arguments.js";
import { shortened } from "./errors.js";
import { steadyS } from "./machine.js";
import { FUNCTIONS } from "./parameters.js";
import type { Obligation, RequestRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { callbackLine, requestLine } from "./story.js";

const MOST = 20;
const EXPLAINED_MAX = 10; // each is a search
const EXPLAINING_S = 10; // all of them
const WRONG_SIGNATURE = ["invalid_signature", "invalid_signature_format"];

/** What was violated, where it is seen, and what to do. */
export function findingLines({ id, section, title, log, evidence, advice }: Obligation): string {
  const where = evidence.length > 0 ? ` (${log} ${evidence.join(", ")})` : "";
  return `${id}, section ${section}${where}: ${title}\n  ${advice}`;
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** The stories of the latest payments, the requests that were refused and the attempts of callbacks, oldest first. */
export async function evidence(sandbox: Sandbox): Promise<string> {
  checkArguments("evidence", arguments, FUNCTIONS.evidence);
  const payments = await sandbox.transactions();
  const refused = await sandbox.refused();
  const callbacks = await sandbox.callbacks();
  const shown = payments.slice(0, MOST).reverse();
  const stories = await Promise.all(shown.map(({ refid }) => sandbox.story(refid)));
  const counts = `${counted(payments.length, "payment")}, ${counted(refused.length, "refused request")}`;
  const lines = [`sandbox ${sandbox.id}: ${counts}`];
  if (payments.length > shown.length) lines.push(`the latest ${shown.length} payments:`);
  lines.push(...stories.map(String));
  lines.push(...section("refused requests", await refusalLines(sandbox, refused)));
  lines.push(...section("callbacks", callbacks.map(callbackLine)));
  if (payments.length === 0 && refused.length === 0) lines.push(...section("requests", await otherRequests(sandbox)));
  return lines.join("\n");
}

/** Where no payment was made and nothing refused: what else was asked. */
async function otherRequests(sandbox: Sandbox): Promise<string[]> {
  const requests = (await sandbox.requests()).reverse().map(requestLine);
  return requests.length > 0 ? requests : [`None has reached the sandbox: does the code under test use ${sandbox.url}?`];
}

/** A title and the latest lines below it; nothing if there are none. */
function section(title: string, lines: readonly string[]): string[] {
  const earlier = lines.length > MOST ? [`  ... ${lines.length - MOST} earlier`] : [];
  return lines.length === 0 ? [] : [`${title}:`, ...earlier, ...lines.slice(-MOST).map((line) => `  ${line}`)];
}

/** A line for each row of the journal, oldest first; the rows are newest first. The latest ones with a wrong signature say what the
 * autopsy found and its fix, as far as the simulator answers in time: never does this throw. */
export async function refusalLines(sandbox: Sandbox, rows: readonly RequestRecord[]): Promise<string[]> {
  const explained = new Map<number, string>();
  const wrong = rows.filter(({ error }) => WRONG_SIGNATURE.includes(error)).slice(0, EXPLAINED_MAX);
  const until = steadyS() + EXPLAINING_S;
  try {
    for (const { n } of wrong) explained.set(n, await autopsy(sandbox, n, Math.max(0, until - steadyS())));
  } catch {
    // The test has an error of its own to show; the rows that are left keep the diagnosis that they have.
  }
  return rows.map((row) => requestLine({ ...row, diagnosis: explained.get(row.n) || row.diagnosis })).reverse();
}

/** What the signature of a request shows; empty when it shows nothing. */
async function autopsy(sandbox: Sandbox, n: number, timeoutS: number): Promise<string> {
  const found = await sandbox.ask<{ autopsy?: { mistakes: string[]; sentence: string; fix: string } | null }>("GET", `/requests/${n}`, { timeoutS });
  const { mistakes = [], sentence = "", fix = "" } = found.autopsy ?? {};
  return mistakes.length > 0 ? `${shortened(sentence)}; ${shortened(fix)}` : "";
}
