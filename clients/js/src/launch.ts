/** A simulator of our own: `reseller-sim serve` on a free port, for as long as it is wanted. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

import { NotStarted } from "./errors.js";
import { waitS } from "./time.js";

/** What to start. */
export interface StartOptions {
  /** The name of a bundled scenario, or a file. */
  scenario?: string | undefined;
  /** `manual`, `real` or one such as `x60`. */
  clock?: string | undefined;
  seed?: number | undefined;
  /** Program to start and its first arguments; by default RESELLER_SIM_COMMAND, or `reseller-sim` on the PATH. */
  command?: string | readonly string[] | undefined;
  /** More arguments of `reseller-sim serve`. */
  arguments?: readonly string[] | undefined;
  /** How long it may take to be ready, in seconds. */
  timeoutS?: number | undefined;
}

/** A server that is ready. */
export interface Launched {
  url: string;
  token: string | undefined;
  /** Ends it, and waits until it has ended. */
  stop: () => Promise<void>;
}

const ADVICE =
  "the command comes with the Python package reseller-sim: pip install FOLDER-OF-THE-CLONE, " +
  "or set RESELLER_SIM_COMMAND / RESELLER_SIM_URL";
const STDERR_MAX = 4_000;
const STOP_MS = 5_000; // one that ignores its end for longer is killed
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Start a server and wait until it is ready. `NotStarted` says what it said instead. */
export async function launch(options: StartOptions): Promise<Launched> {
  const [program, ...first] = words(options.command ?? process.env["RESELLER_SIM_COMMAND"] ?? "reseller-sim");
  const { scenario, clock, seed } = options;
  const timeoutS = waitS(options.timeoutS ?? 30);
  const rest = ["serve", "--json", "--port", "0", "--until-stdin-ends"];
  if (clock !== undefined) rest.push("--clock", clock);
  if (seed !== undefined) rest.push("--seed", `${seed}`);
  rest.push(...(options.arguments ?? []));
  if (scenario !== undefined) rest.push(scenario);
  const child = spawn(program, [...first, ...rest], { stdio: ["pipe", "pipe", "pipe"], env: environment() });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  endWithThisProcess(child);
  const stop = async () => {
    child.kill();
    const deaf = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(deaf);
  };
  try {
    const { url, token } = ready(await firstLine(child, program, timeoutS), program);
    return { url, token, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
}

/** Ours, without what was set for another simulator or for its clients. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RESELLER_")));
}

/** Ends it when this process exits or is told to end, as runners do with tests that hang. What kills this process ends its stdin. */
function endWithThisProcess(child: ChildProcess): void {
  const kill = () => void child.kill();
  const signalled = (signal: NodeJS.Signals) => {
    kill();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.once("exit", kill);
  for (const signal of SIGNALS) process.once(signal, signalled);
  child.once("close", () => {
    process.removeListener("exit", kill);
    for (const signal of SIGNALS) process.removeListener(signal, signalled);
  });
}

/** A command in words. One string has them between blanks: a path with blanks has to come in a list. */
function words(command: string | readonly string[]): [string, ...string[]] {
  const [program = "", ...first] = typeof command === "string" ? command.trim().split(/\s+/) : command;
  return [program, ...first];
}

/** What the line says that `--json` prints. */
function ready(line: string, program: string): { url: string; token: string | undefined } {
  try {
    const said = JSON.parse(line) as { url: string; control_token: string | null };
    if (typeof said?.url !== "string") throw new TypeError("no url");
    return { url: said.url, token: said.control_token ?? undefined };
  } catch {
    throw new NotStarted(`${program} is no reseller-sim: it printed ${JSON.stringify(line.slice(0, 200))}`);
  }
}

/** Its first line on stdout. What follows is read and forgotten, so that it never waits for us. */
function firstLine(child: ChildProcess, program: string, timeoutS: number): Promise<string> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-STDERR_MAX)));
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new NotStarted(`${program} did not start: ${[reason, errors.trim()].filter(Boolean).join("\n")}`));
    const timer = setTimeout(() => fail(`it said nothing in ${timeoutS} s`), timeoutS * 1000);
    child.once("error", (error) => {
      clearTimeout(timer);
      const found = (error as NodeJS.ErrnoException).code === "ENOENT" ? "is not found" : `cannot be run (${error.message})`;
      reject(new NotStarted(`${program} ${found}: ${ADVICE}`));
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      fail(`it ended with ${code}`);
    });
    if (child.stdout) {
      createInterface(child.stdout).once("line", (line) => {
        clearTimeout(timer);
        child.stdout?.resume();
        resolve(line);
      });
    }
  });
}
