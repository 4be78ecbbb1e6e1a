/// <reference lib="esnext.disposable" preserve="true" />
/** A simulator: one that we start, or one that runs. It creates sandboxes. */

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

import { checkArguments, guard, inspected, isHttpUrl, iso, SIMULATOR } from "./arguments.js";
import { Control, NotStarted } from "./control.js";
import { after, proxyBypass, sleep } from "./machine.js";
import type { Options, SandboxRecord } from "./records.js";
import { opened, Sandbox } from "./sandbox.js";

const STOP_S = 5; // a server that does not end for longer is killed
const CLOSED_S = 1; // between its end and the end of its output
const OUTPUT_CHARS_MAX = 16_000;
const LINES_SHOWN = 20;
const CHARS_SHOWN = 200;
const ADVICE = "the command comes with the Python package reseller-sim: pip install FOLDER-OF-THE-CLONE, or set RESELLER_SIM_COMMAND / RESELLER_SIM_URL";

/** The initial state of a server or a sandbox. The clock is `manual`, so that time stands still until `advance`, `real`, or one such as `x60`; a
 * sandbox's is `manual` by default. */
type Start = { clock: string; seed: number };

/** The simulator to start: the name of a bundled scenario or a file; the program and its first arguments, by default RESELLER_SIM_COMMAND, or
 * `reseller-sim` on the PATH; more arguments of `reseller-sim serve`; and how many seconds it may take to be ready, by default 30. */
export type StartOptions = Options<Start & { scenario: string; command: string | readonly string[]; arguments: readonly string[]; timeoutS: number }>;

/** The options of a new sandbox. */
export type SandboxOptions = Options<
  Start & {
    /** A bundled scenario's name, the path of a file ending in .yaml or .yml, YAML text, or an object; by default the server's. */
    scenario: string | object;
    id: string;
    /** When its time begins; by default now. */
    start: string | Date;
    /** `unique` by default: keys that no other sandbox has, which lead here without `/s/ID` in the URL. `scenario`: the scenario's keys. */
    credentials: "scenario" | "unique";
    /** False for a sandbox that violates obligations on purpose: `reseller-sim exec --audit` skips it. */
    audit: boolean;
    /** The path of a tape: the sandbox begins in the state at its end, with its scenario, seed and keys. */
    tape: string;
    /** A mark on the tape to begin at. */
    mark: string;
  }
>;

/** Where a running simulator is, ending in /_sim or not: by default RESELLER_SIM_URL, or http://127.0.0.1:8080; and its control token, without
 * a URL by default RESELLER_SIM_TOKEN or RESELLER_SIM_CONTROL_TOKEN. */
export type SimulatorOptions = Options<{ url: string | URL; token: string }>;

/** A running simulator. */
export class Simulator {
  readonly url: string;
  readonly controlUrl: string;
  readonly #control: Control;
  #child: ChildProcessWithoutNullStreams | undefined;

  /** A text is the URL. */
  constructor(options: string | URL | SimulatorOptions = {}) {
    checkArguments("new Simulator", arguments, SIMULATOR.constructor);
    const { url, token = undefined } = typeof options === "string" || options instanceof URL ? { url: options } : options;
    const { RESELLER_SIM_URL, RESELLER_SIM_TOKEN, RESELLER_SIM_CONTROL_TOKEN } = process.env;
    const address = `${url ?? (RESELLER_SIM_URL || "http://127.0.0.1:8080")}`;
    if (!isHttpUrl(address)) throw new RangeError(`RESELLER_SIM_URL is ${inspected(address)}; give a URL such as http://127.0.0.1:8080`);
    this.url = address.replace(/(\/s\/[^/]+)?(\/v[12](\/.*)?)?\/*$/, "").replace(/\/_sim$/, ""); // of a sandbox, too
    this.controlUrl = `${this.url}/_sim`;
    const ofVariables = url === undefined ? RESELLER_SIM_TOKEN || RESELLER_SIM_CONTROL_TOKEN : undefined; // for their server alone
    this.#control = new Control(this.controlUrl, token ?? ofVariables);
  }

  /** Starts a simulator on a free port, which `close` ends, as does the end of this process. A text is the scenario. */
  static async start(options: string | StartOptions = {}): Promise<Simulator> {
    const { url, token, child } = await launch(typeof options === "string" ? { scenario: options } : options);
    const simulator = new Simulator({ url, token });
    simulator.#child = child;
    return simulator;
  }

  /** `{ status, version }`. */
  async health(): Promise<{ status: string; version: string }> {
    return this.#control.ask("GET", "/health");
  }

  /** All sandboxes. */
  async sandboxes(): Promise<SandboxRecord[]> {
    return (await this.#control.ask<{ sandboxes: SandboxRecord[] }>("GET", "/sandboxes")).sandboxes;
  }

  /** Creates a sandbox: a service of its own, with wallet, payments, time and keys. A text is the scenario. */
  async sandbox(options: string | SandboxOptions = {}): Promise<Sandbox> {
    const given: SandboxOptions = typeof options === "string" ? { scenario: options } : options;
    const { id, clock = "manual", start, seed, credentials = "unique", scenario, audit = true, tape, mark } = given;
    const speed = clock.startsWith("x") ? { mode: "xN", rate: Number(clock.slice(1)) } : { mode: clock };
    if (tape === undefined && mark !== undefined) throw new RangeError("simulator.sandbox: mark names a place on a tape: give the tape, too");
    if (tape !== undefined) {
      const isFixed = scenario === undefined && start === undefined && seed === undefined;
      if (!isFixed) throw new RangeError("simulator.sandbox: a tape has its own scenario, start and seed: leave them out");
      const bytes = await readFile(tape);
      const sandbox = await opened(this.#control, "POST", "/sandboxes", { bytes, query: { id, mark } });
      await sandbox.ask("PUT", "/clock", { json: speed });
      return sandbox;
    }
    const yaml = await yamlOf(scenario);
    const common = { id, seed, credentials, audit };
    const begin = start && iso(start);
    const sent = yaml === undefined ? { json: { ...common, scenario, clock: { ...speed, start: begin } } } : { yaml, query: { ...common, clock, start: begin } };
    return opened(this.#control, "POST", "/sandboxes", sent);
  }

  /** A sandbox that exists, such as `default`. */
  async open(id: string): Promise<Sandbox> {
    return opened(this.#control, "GET", `/sandboxes/${encodeURIComponent(id)}`);
  }

  /** Ends a simulator that `start` started; does nothing to another. */
  async close(): Promise<void> {
    if (this.#child) await stop(this.#child);
  }

  [Symbol.asyncDispose] = (): Promise<void> => this.close();
}

guard(Simulator, "simulator", SIMULATOR);

/** The text of a scenario file that was given as text or by its path; undefined for a name, an object or nothing. */
async function yamlOf(scenario: string | object | undefined): Promise<string | undefined> {
  if (typeof scenario !== "string") return undefined;
  if (/\n|: /.test(scenario)) return scenario;
  if (!/\.ya?ml$/.test(scenario)) return undefined;
  return readFile(scenario, "utf8");
}

/** Start a server and wait until it is ready. `NotStarted` says what it did instead; nothing of it is left then. The server ends with its
 * stdin, which the end of this process closes, however it ends. */
async function launch(options: StartOptions): Promise<{ url: string; token: string; child: ChildProcessWithoutNullStreams }> {
  const { scenario, clock, seed, timeoutS = 30, command = process.env["RESELLER_SIM_COMMAND"] ?? "reseller-sim" } = options;
  const [program = "", ...rest] = typeof command === "string" ? command.trim().split(/\s+/) : command;
  rest.push("serve", "--json", "--port", "0", "--until-stdin-ends", ...(clock === undefined ? [] : ["--clock", clock]));
  rest.push(...(seed === undefined ? [] : ["--seed", `${seed}`]), ...(options.arguments ?? []), ...(scenario === undefined ? [] : [scenario]));
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("RESELLER_")); // those are another simulator's
  const child = spawn(program, rest, { stdio: "pipe", env: { ...Object.fromEntries(kept), ...proxyBypass(process.env, "http://127.0.0.1") } });
  let complaints = "";
  child.stdin.on("error", () => undefined); // its end says more
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints = (complaints + text).slice(-OUTPUT_CHARS_MAX)));
  try {
    return { ...ready(await firstLine(child, timeoutS)), child };
  } catch (error) {
    if (child.pid === undefined) {
      const problem = (error as { code?: string }).code === "ENOENT" ? "is not found" : `cannot be run (${(error as Error).message})`;
      throw new NotStarted(`${program} ${problem}: ${ADVICE}`, { cause: error });
    }
    await stop(child);
    const lines = complaints.split("\n").filter((line) => line.trim() !== "").slice(-LINES_SHOWN);
    const output = lines.map((line) => `\n  ${line.slice(0, CHARS_SHOWN)}`).join("");
    throw new NotStarted(`the simulator ${program.slice(0, CHARS_SHOWN)} ${(error as Error).message}${output}`);
  }
}

/** The first line that it prints. Throws an error whose message has the process as its subject. */
function firstLine(child: ChildProcessWithoutNullStreams, timeoutS: number): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    after(timeoutS, () => reject(new Error(`was not ready in ${timeoutS} s`)));
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text = (text + piece).slice(0, OUTPUT_CHARS_MAX);
      if (text.includes("\n") || text.length === OUTPUT_CHARS_MAX) resolve(text.split("\n", 1)[0] ?? "");
    });
    child.once("error", reject).once("close", (code, signal) => {
      if (text.trim() !== "") resolve(text);
      else reject(new Error(`ended at once, ${code === null ? `by ${signal}` : `with exit code ${code}`}`));
    });
  });
}

/** The content of the line that `--json` prints. */
function ready(line: string): { url: string; token: string } {
  const { url, control_token: token } = line.startsWith("{") ? (JSON.parse(line) as { url: string; control_token?: string }) : { url: "" };
  if (!isHttpUrl(url)) throw new Error(`printed ${JSON.stringify(line.trim().slice(0, CHARS_SHOWN))}, which is not how it begins`);
  return { url, token: token ?? "" };
}

/** End a server, and wait until it has ended, though not for processes of its own that hold its output. */
async function stop(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const cancel = after(STOP_S, () => child.kill("SIGKILL"));
    child.kill();
    await Promise.race([once(child, "close"), once(child, "exit").then(() => sleep(CLOSED_S))]);
    cancel();
  }
  for (const pipe of child.stdio) pipe?.destroy();
}
