/** What can go wrong, as types. Messages are sentences. */

import { AssertionError } from "node:assert";

const CHARS_MAX = 4000;
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** The text with an escape for each character that does not print; lines stay lines. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A decoded value as printable text of at most 4000 characters and an ellipsis; of an object or a list only its kind. */
export function shortened(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "(list)" : "(object)";
  const text = String(value);
  return printable(text.slice(0, CHARS_MAX)) + (text.length > CHARS_MAX ? "…" : "");
}

/** One of the mistakes in a scenario or rule that was refused. */
export interface Problem {
  message: string;
  path?: string;
  line?: number;
  column?: number;
  [more: string]: unknown;
}

/** The control API refused a request: its status, its code and sentence, and every problem of a scenario or rule. */
export class SimulatorError extends Error {
  override name = "SimulatorError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The part of the request that it is about, or empty. */
    readonly path: string,
    readonly problems: readonly Problem[] = [],
  ) {
    const where = path ? `, at ${path}` : "";
    const lines = problems.map((problem) => `  ${problem.path ? `${problem.path}: ` : ""}${problem.message}`);
    super([`${message} (${status} ${code}${where})`, ...lines].join("\n"));
  }
}

/** Nothing answers at the simulator's address. */
export class NotRunning extends Error {
  override name = "NotRunning";
}

/** What answers there is no simulator of this version; the message says which address, and what is wrong where. */
export class WrongAnswer extends NotRunning {
  override name = "WrongAnswer";
}

/** A simulator of our own could not be started; the message has what it said. */
export class NotStarted extends Error {
  override name = "NotStarted";
}

/** An expectation is not met. `evidence` is what did happen: a payment's story, refused requests, violations. */
export class ExpectationFailed extends AssertionError {
  readonly evidence!: string;

  constructor(message: string, evidence: string, actual?: unknown, expected?: unknown) {
    super({ message: evidence ? `${message}\n${evidence}` : message, actual, expected, operator: "expect" });
    this.name = "ExpectationFailed";
    // Runners print the members of an error, and the message has this already.
    Object.defineProperty(this, "evidence", { value: evidence, enumerable: false });
  }
}
