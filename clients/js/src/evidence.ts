/** What people read of a sandbox when a test has failed. */

import type { Obligation, RequestRecord } from "./records.js";
import type { Sandbox } from "./sandbox.js";
import { answered, clockTime, note } from "./story.js";

const MOST = 20;

/** One request of the journal in a line, with the diagnosis. */
export function requestLine({ n, at, method, path, query, status, error, diagnosis }: RequestRecord): string {
  const target = query ? `${path}?${query}` : path;
  return `request ${n} at ${clockTime(at)}: ${method} ${target} -> ${answered(status)}${error ? ` ${error}` : ""}${note(diagnosis)}`;
}

/** What was violated, where it is seen, and what to do. */
export function findingLines({ id, section, title, log, evidence, advice }: Obligation): string {
  const where = evidence.length > 0 ? ` (${log} ${evidence.join(", ")})` : "";
  return `${id}, section ${section}${where}: ${title}\n  ${advice}`;
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** The stories of the latest payments, callbacks included, and the latest requests that were refused, oldest first. */
export async function evidence(sandbox: Sandbox): Promise<string> {
  const payments = await sandbox.transactions();
  const shown = payments.slice(0, MOST).reverse();
  const stories = await Promise.all(shown.map(({ refid }) => sandbox.story(refid)));
  const refused = await sandbox.refused();
  const counts = `${counted(payments.length, "payment")}, ${counted(refused.length, "refused request")}`;
  const lines = [`sandbox ${sandbox.id}: ${counts}`];
  if (payments.length > shown.length) lines.push(`the latest ${shown.length} payments:`);
  return [...lines, ...stories.map(String), ...refused.slice(0, MOST).reverse().map(requestLine)].join("\n");
}
