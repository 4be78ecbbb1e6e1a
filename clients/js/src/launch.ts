/** A simulator of our own: `reseller-sim serve` on a free port, for as long as it is wanted. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

import { NotRunning } from "./errors.js";

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

const STDERR_MAX = 4_000;

/** Start a server and wait until it is ready. `NotRunning` says what it said instead. */
export async function launch(options: StartOptions): Promise<Launched> {
  const [program, ...first] = words(options.command ?? process.env["RESELLER_SIM_COMMAND"] ?? "reseller-sim");
  const { scenario, clock, seed } = options;
  const rest = ["serve", "--json", "--port", "0"];
  if (clock !== undefined) rest.push("--clock", clock);
  if (seed !== undefined) rest.push("--seed", `${seed}`);
  rest.push(...(options.arguments ?? []));
  if (scenario !== undefined) rest.push(scenario);
  const child = spawn(program, [...first, ...rest], { stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void child.kill();
  process.once("exit", kill);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  void ended.then(() => process.removeListener("exit", kill));
  const stop = async () => {
    child.kill();
    await ended;
  };
  try {
    const { url, token } = ready(await firstLine(child, program, options.timeoutS ?? 30), program);
    return { url, token, stop };
  } catch (error) {
    child.kill();
    throw error;
  }
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
    return { url: said.url, token: said.control_token ?? undefined };
  } catch {
    throw new NotRunning(`${program} is no reseller-sim: it printed ${JSON.stringify(line.slice(0, 200))}`);
  }
}

/** Its first line on stdout. What follows is read and forgotten, so that it never waits for us. */
function firstLine(child: ChildProcess, program: string, timeoutS: number): Promise<string> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-STDERR_MAX)));
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new NotRunning(`${program} did not start: ${errors.trim() || reason}`));
    const timer = setTimeout(() => fail(`it said nothing in ${timeoutS} s`), timeoutS * 1000);
    child.once("error", (error) => {
      clearTimeout(timer);
      const advice = "install it, or name it with the option `command` or the variable RESELLER_SIM_COMMAND";
      reject(new NotRunning(`${program} cannot be run (${error.message}): ${advice}`));
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
