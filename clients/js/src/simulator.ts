/// <reference lib="esnext.disposable" preserve="true" />
/** A simulator: one that we start, or one that runs. It makes sandboxes. */

import { readFile } from "node:fs/promises";

import { Control } from "./control.js";
import { launch, type StartOptions } from "./launch.js";
import type { SandboxRecord } from "./records.js";
import { Sandbox } from "./sandbox.js";
import { checkSeed } from "./seeds.js";
import { HEALTH, MADE, SANDBOX, SANDBOXES } from "./shapes.js";
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
  credentials?: "unique" | undefined;
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

  constructor({ url, token }: SimulatorOptions = {}) {
    const { RESELLER_SIM_URL, RESELLER_SIM_TOKEN, RESELLER_SIM_CONTROL_TOKEN } = process.env;
    const address = (url ?? RESELLER_SIM_URL) || "http://127.0.0.1:8080";
    this.url = address.replace(/\/+$/, "").replace(/\/_sim$/, "");
    this.controlUrl = `${this.url}/_sim`;
    this.#control = new Control(this.controlUrl, token ?? (RESELLER_SIM_TOKEN || RESELLER_SIM_CONTROL_TOKEN));
  }

  /** Starts a simulator on a free port, which `close` ends, as does the end of this process. */
  static async start(options: StartOptions = {}): Promise<Simulator> {
    const { url, token, stop } = await launch(options);
    const simulator = new Simulator({ url, token: token ?? "" });
    simulator.#stop = stop;
    return simulator;
  }

  /** `{ status, version }`. */
  health(): Promise<{ status: string; version: string }> {
    return this.#control.ask("GET", "/health", {}, HEALTH);
  }

  /** All sandboxes. */
  async sandboxes(): Promise<SandboxRecord[]> {
    return (await this.#control.ask<{ sandboxes: SandboxRecord[] }>("GET", "/sandboxes", {}, SANDBOXES)).sandboxes;
  }

  /** Creates a sandbox: a service of its own, with wallet, payments, time and keys. */
  async sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
    const { id, clock = "manual", start, credentials } = options;
    const seed = checkSeed(options.seed);
    const audit = (options.audit ?? true) ? undefined : false; // said only then, since a simulator before this one does not know it
    const yaml = await yamlOf(options.scenario);
    const sent =
      yaml === undefined
        ? { json: { id, seed, credentials, audit, scenario: options.scenario, clock: clockOf(clock, start) } }
        : { yaml, query: { id, seed, credentials, audit, clock, start: start && iso(start) } };
    const made = await this.#control.ask<SandboxRecord>("POST", "/sandboxes", sent, MADE);
    try {
      this.#control.checked("POST", "/sandboxes", made, SANDBOX);
    } catch (error) {
      await this.#control.ask("DELETE", `/sandboxes/${made.id}`).catch(() => undefined); // nobody else knows of it
      throw error;
    }
    return new Sandbox(this.#control, made, true);
  }

  /** A sandbox that exists, such as `default`. */
  async open(id: string): Promise<Sandbox> {
    return new Sandbox(this.#control, await this.#control.ask("GET", `/sandboxes/${encodeURIComponent(id)}`, {}, SANDBOX));
  }

  /** Ends a simulator that `start` started; does nothing to another. */
  async close(): Promise<void> {
    await this.#stop?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The text of a scenario file that was given as text or by its path; undefined for a name, an object or nothing. */
async function yamlOf(scenario: string | object | undefined): Promise<string | undefined> {
  if (typeof scenario !== "string") return undefined;
  if (/\n|: /.test(scenario)) return scenario;
  return /\.ya?ml$/.test(scenario) ? readFile(scenario, "utf8") : undefined;
}
