/** Shared parts of test runners: a simulator for the tests of a process, a fresh sandbox for each test. */

import { randomUUID } from "node:crypto";

import { checkArguments, FUNCTIONS } from "./arguments.js";
import { evidence } from "./evidence.js";
import { Sandbox } from "./sandbox.js";
import { Simulator, type SandboxOptions } from "./simulator.js";

const ID_CHARS_MAX = 48;

type Method = (...values: unknown[]) => unknown;

/** The simulator that RESELLER_SIM_URL names, as under `reseller-sim exec`; without it one of our own. */
export const findOrStart = async (): Promise<Simulator> => (process.env["RESELLER_SIM_URL"] ? new Simulator() : Simulator.start());

/** The options of a test's sandbox, whose id begins with the name of the test unless it is given. */
export function named(options: string | SandboxOptions, test: string): SandboxOptions {
  const name = test.toLowerCase().match(/[a-z0-9]+/g)?.join("-").slice(0, ID_CHARS_MAX) ?? "test";
  return { id: `${name}-${randomUUID().slice(0, 8)}`, ...(typeof options === "string" ? { scenario: options } : options) };
}

/** Ends the test of a sandbox: prints what happened in it if the test has failed, deletes it. */
export async function finish(sandbox: Sandbox, failed: boolean, print: (text: string) => void): Promise<void> {
  try {
    if (failed) print(await evidence(sandbox).catch((error: unknown) => `sandbox ${sandbox.id}: ${String(error)}`));
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

let running: Promise<Simulator> | undefined;
let users = 0;

/** The sandbox of the test that runs. Tests inside a test share the sandbox of the outer test. */
export class CurrentSandbox {
  #sandbox: Sandbox | undefined;
  #owner: string | undefined;
  readonly #pending = new Map<Promise<unknown>, string>();

  /** `values`: the arguments of `useSandbox`. */
  constructor(values: ArrayLike<unknown>, private readonly options: string | SandboxOptions) {
    checkArguments("useSandbox", values, FUNCTIONS.useSandbox);
    users += 1;
  }

  /** The object for tests: each member belongs to the sandbox of the running test. */
  get facade(): Sandbox {
    return new Proxy(Object.create(Sandbox.prototype) as Sandbox, {
      get: (_, name) => {
        if (this.#sandbox === undefined) throw new Error("there is a sandbox only while a test or its hooks run");
        const member: unknown = Reflect.get(this.#sandbox, name, this.#sandbox);
        return typeof member === "function" ? this.#tracked(String(name), member.bind(this.#sandbox) as Method) : member;
      },
    });
  }

  /** The method, whose promises are pending until they are settled. */
  #tracked(name: string, method: Method): Method {
    return (...values) => {
      const result = method(...values);
      if (!(result instanceof Promise)) return result;
      const promise: Promise<unknown> = result.finally(() => this.#pending.delete(promise));
      this.#pending.set(promise, name);
      return promise;
    };
  }

  /** The test `name` begins. `owner` is what identifies it: the names or ids of those around it, then its own. */
  async begin(owner: string, name: string): Promise<void> {
    if (this.#owner !== undefined) {
      if (owner.startsWith(`${this.#owner} > `)) return;
      throw new Error("tests that run at the same time need a sandbox each: await simulator.sandbox() in the test");
    }
    this.#owner = owner; // at once, so that a test that begins meanwhile is refused
    try {
      this.#sandbox = await (await (running ??= findOrStart())).sandbox(named(this.options, name));
    } catch (error) {
      this.#owner = undefined;
      throw error;
    }
  }

  /** The test `owner` has ended. Throws an error if it did not await a method, whose result would be lost. */
  async end(owner: string, failed: boolean, print: (text: string) => void): Promise<void> {
    const sandbox = this.#sandbox;
    if (sandbox === undefined || owner !== this.#owner) return;
    this.#sandbox = this.#owner = undefined;
    const forgotten = [...new Set(this.#pending.values())];
    for (const promise of this.#pending.keys()) promise.catch(() => undefined); // it fails with the sandbox
    this.#pending.clear();
    await finish(sandbox, failed || forgotten.length > 0, print);
    if (forgotten.length > 0 && !failed) throw new Error(`the test ended before ${forgotten.join(" and ")}: write await before each call`);
  }

  /** No test follows. The last one to say so ends the simulator. */
  async close(): Promise<void> {
    users -= 1;
    if (users > 0) return;
    const simulator = running?.catch(() => undefined); // a test has failed with the reason
    running = undefined;
    await (await simulator)?.close();
  }
}
