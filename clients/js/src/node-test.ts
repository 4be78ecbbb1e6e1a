/** For Node's own test runner: a fresh sandbox for each test, and what happened in it under each test that fails. */

import { after, afterEach, beforeEach, type TestContext } from "node:test";

import { CurrentSandbox } from "./fixture.js";
import type { Sandbox } from "./sandbox.js";
import type { SandboxOptions } from "./simulator.js";

/** The sandbox of the test that runs, for all tests of a file or, inside `describe`, of a suite. A test that fails prints the
 * stories of its payments and its refused requests. */
export function useSandbox(options: string | SandboxOptions = {}): Sandbox {
  const current = new CurrentSandbox(arguments, options);
  beforeEach((context) => current.begin((context as TestContext).fullName, context.name));
  afterEach((context) => {
    const test = context as TestContext;
    return current.end(test.fullName, !test.passed, (text) => text.split("\n").forEach((line) => test.diagnostic(line)));
  });
  after(() => current.close());
  return current.facade;
}
