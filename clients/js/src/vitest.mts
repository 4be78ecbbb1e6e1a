/** For Vitest: a fresh sandbox for each test, and what happened in it under each test that fails. */

import { afterAll, afterEach, beforeEach, test as base, type TestAPI } from "vitest";

import { CurrentSandbox, findOrStart, finish, named } from "./fixture.js";
import type { Sandbox } from "./sandbox.js";
import type { SandboxOptions, Simulator } from "./simulator.js";

/** The fixtures of a test. */
export interface Fixtures {
  /** The options of its sandbox, or its scenario; `test.extend({ sandboxOptions: { scenario: "bad-day" } })` changes it. */
  sandboxOptions: string | SandboxOptions;
  simulator: Simulator;
  sandbox: Sandbox;
}

/** Vitest's `test` with a sandbox: `test("pays", async ({ sandbox }) => { ... })`, concurrent ones too. */
export const test: TestAPI<Fixtures> = base.extend<Fixtures>({
  sandboxOptions: {},
  simulator: [
    // Vitest reads which fixtures a function wants from its first parameter, and insists on braces.
    async ({}, use) => {
      const simulator = await findOrStart();
      await use(simulator);
      await simulator.close();
    },
    { scope: "file" },
  ],
  sandbox: async ({ simulator, sandboxOptions, task }, use) => {
    const sandbox = await simulator.sandbox(named(sandboxOptions, task.name));
    await use(sandbox);
    await finish(sandbox, task.result?.state === "fail", (text) => console.error(text));
  },
});

/** The sandbox of the test that runs, for suites that keep Vitest's own `test`: all tests of a file or, inside `describe`, of a suite. */
export function useSandbox(options: string | SandboxOptions = {}): Sandbox {
  const current = new CurrentSandbox(arguments, options);
  beforeEach(({ task }) => current.begin(task.id, task.name));
  afterEach(({ task }) => current.end(task.id, task.result?.state === "fail", (text) => console.error(text)));
  afterAll(() => current.close());
  return current.facade;
}
