/// <reference lib="esnext.disposable" preserve="true" />
/** A simulator: one that we start, or one that runs. It makes sandboxes. */

import { readFile } from "node:fs/promises";

import { checkArguments, guard, inspected } from "./arguments.js";
import { Control } from "./control.js";
import { launch, type StartOptions } from "./launch.js";
import { isHttpUrl, SIMULATOR } from "./parameters.js";
import type { SandboxRecord } from "./records.js";
import { opened, Sandbox } from "./sandbox.js";
import { clockOf, iso } from "./time.js";

/** What a new sandbox is like. */
export interface SandboxOptions {
  /** A bundled scenario's name, the path of a file ending in .yaml or .yml, YAML text, or an object; by default the server's. */
  scenario?: string | object | undefined;
  id?: string | undefined;
  /** `manual` by default: time stands still until `advance`. Otherwise `real`, or one such as `x60`. */
  clock?: string | undefined;
  /** When its time begins; by default now. */
  start?: string | Date | undefined;
  /** A bigint beyond Number.MAX_SAFE_INTEGER. */
  seed?: number | bigint | undefined;
  /** `unique`: keys that no other sandbox has. */
  credentials?: "scenario" | "unique" | undefined;
  /** False for one that `reseller-sim exec --audit` passes over, as obligations are violated in it on purpose. */
  audit?: boolean | undefined;
}

/** Where a running simulator is. */
export interface SimulatorOptions {
  /** Ending in /_sim or not. By default RESELLER_SIM_URL, or http://127.0.0.1:8080. */
  url?: string | undefined;
  /** The control token. By default RESELLER_SIM_TOKEN or RESELLER_SIM_CONTROL_TOKEN. */
  token?: string | undefined;
}

/** A running simulator. */
export class Simulator {
  readonly url: string;
  readonly controlUrl: string;
  readonly #control: Control;
  #stop: (() => Promise<void>) | undefined;

  /** A text is the URL. */
  constructor(options: string | SimulatorOptions = {}) {
    checkArguments("new Simulator", arguments, SIMULATOR.constructor);
    const { url, token } = typeof options === "string" ? { url: options } : { token: undefined, ...options };
    const { RESELLER_SIM_URL, RESELLER_SIM_TOKEN, RESELLER_SIM_CONTROL_TOKEN } = process.env;
    const address = url ?? (RESELLER_SIM_URL || "http://127.0.0.1:8080");
    if (!isHttpUrl(address)) throw new RangeError(`RESELLER_SIM_URL is ${inspected(address)}; give a URL such as http://127.0.0.1:8080`);
    this.url = address.replace(/\/+$/, "").replace(/\/_sim$/, "");
    this.controlUrl = `${this.url}/_sim`;
    this.#control = new Control(this.controlUrl, token ?? (RESELLER_SIM_TOKEN || RESELLER_SIM_CONTROL_TOKEN));
  }

  /** Starts a simulator on a free port, which `close` ends, as does the end of this process. A text is the scenario. */
  static async start(options: string | StartOptions = {}): Promise<Simulator> {
    const { url, token, stop } = await launch(typeof options === "string" ? { scenario: options } : options);
    const simulator = new Simulator({ url, token: token ?? "" });
    simulator.#stop = stop;
    return simulator;
  }

  /** `{ status, version }`. */
  async health(): Promise<{ status: string; version: string }> {
    const found = await this.#control.ask<{ status: string; version: string }>("GET", "/health");
    if (found?.status !== "ok") throw this.#control.wrongAnswer("GET", "/health", "its status is not ok");
    return found;
  }

  /** All sandboxes. */
  async sandboxes(): Promise<SandboxRecord[]> {
    return (await this.#control.ask<{ sandboxes: SandboxRecord[] }>("GET", "/sandboxes")).sandboxes;
  }

  /** Creates a sandbox: a service of its own, with wallet, payments, time and keys. A text is the scenario. */
  async sandbox(options: string | SandboxOptions = {}): Promise<Sandbox> {
    const wanted: SandboxOptions = typeof options === "string" ? { scenario: options } : options;
    const { id, clock = "manual", start, seed, credentials } = wanted;
    const audit = (wanted.audit ?? true) ? undefined : false; // said only then, since a simulator before this one does not know it
    const yaml = await yamlOf(wanted.scenario);
    const sent =
      yaml === undefined
        ? { json: { id, seed, credentials, audit, scenario: wanted.scenario, clock: clockOf(clock, start) } }
        : { yaml, query: { id, seed, credentials, audit, clock, start: start && iso(start) } };
    return opened(this.#control, "POST", "/sandboxes", sent);
  }

  /** A sandbox that exists, such as `default`. */
  async open(id: string): Promise<Sandbox> {
    return opened(this.#control, "GET", `/sandboxes/${encodeURIComponent(id)}`);
  }

  /** Ends a simulator that `start` started; does nothing to another. */
  async close(): Promise<void> {
    await this.#stop?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

guard(Simulator, "simulator", SIMULATOR);

/** The text of a scenario file that was given as text or by its path; undefined for a name, an object or nothing. */
async function yamlOf(scenario: string | object | undefined): Promise<string | undefined> {
  if (typeof scenario !== "string") return undefined;
  if (/\n|: /.test(scenario)) return scenario;
  if (!/\.ya?ml$/.test(scenario)) return undefined;
  return readFile(scenario, "utf8").catch((error: Error) => {
    throw new RangeError(`simulator.sandbox: the scenario file ${inspected(scenario)} cannot be read (${error.message})`, { cause: error });
  });
}
