/** Why requests were refused: of a wrong signature, what the whole autopsy of the journal found. */

import { check } from "./checking.js";
import { shortened } from "./printable.js";
import type { RequestRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { EXCHANGE } from "./shapes.js";
import { requestLine } from "./story.js";

const EXPLAINED_MAX = 10; // each is a search
const EXPLAINING_MS = 10_000; // all of them
const WRONG_SIGNATURE = ["invalid_signature", "invalid_signature_format"];

/** A line for each row of the journal, oldest first; the rows are newest first. The latest ones with a wrong signature say what the
 * autopsy found and its fix, as far as the simulator answers in time: never does this throw. */
export async function refusalLines(sandbox: Sandbox, rows: readonly RequestRecord[]): Promise<string[]> {
  const explained = new Map<number, string>();
  const wrong = rows.filter(({ error }) => WRONG_SIGNATURE.includes(error)).slice(0, EXPLAINED_MAX);
  const until = Date.now() + EXPLAINING_MS;
  try {
    for (const { n } of wrong) explained.set(n, await autopsy(sandbox, n, Math.max(0, until - Date.now()) / 1000));
  } catch {
    // The test has an error of its own to show; the rows that are left keep the diagnosis that they have.
  }
  return rows.map((row) => requestLine({ ...row, diagnosis: explained.get(row.n) || row.diagnosis })).reverse();
}

/** What the signature of a request shows; empty when it shows nothing. */
async function autopsy(sandbox: Sandbox, n: number, timeoutS: number): Promise<string> {
  const found = await sandbox.ask<{ autopsy?: { mistakes: string[]; sentence: string; fix: string } | null }>("GET", `/requests/${n}`, { timeoutS });
  check(found, EXCHANGE);
  const { mistakes = [], sentence = "", fix = "" } = found.autopsy ?? {};
  return mistakes.length > 0 ? `${shortened(sentence)}; ${shortened(fix)}` : "";
}
