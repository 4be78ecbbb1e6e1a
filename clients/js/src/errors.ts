/** What can go wrong, as types. Each message is a sentence; those of the control API are its own. */

import { AssertionError } from "node:assert";

/** The superclass of all errors of this package but failed expectations. */
export class SimulatorError extends Error {
  override name = "SimulatorError";
}

/** No simulator could be started, or none answers at the address. */
export class NotRunning extends SimulatorError {
  override name = "NotRunning";
}

/** What was waited for did not happen in time. */
export class TimedOut extends SimulatorError {
  override name = "TimedOut";
}

/** One of the mistakes in a scenario or rule that was refused. */
export interface Problem {
  message: string;
  path?: string;
  line?: number;
  column?: number;
  [more: string]: unknown;
}

/** The control API refused a request: its status, its error code and, of a scenario or rule, every problem. */
export class Refused extends SimulatorError {
  override name = "Refused";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly path: string,
    readonly problems: readonly Problem[] = [],
  ) {
    super([message, ...problems.map((problem) => `  ${problem.path ?? ""}: ${problem.message}`)].join("\n"));
  }
}

/** An expectation is not met. `evidence` is what did happen: a payment's story, refused requests, violations. */
export class ExpectationFailed extends AssertionError {
  constructor(
    message: string,
    readonly evidence: string,
    actual: unknown,
    expected: unknown,
  ) {
    super({ message: evidence ? `${message}\n${evidence}` : message, actual, expected, operator: "expect" });
    this.name = "ExpectationFailed";
  }
}
