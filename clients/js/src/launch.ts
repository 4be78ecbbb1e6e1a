/** A simulator of our own: `reseller-sim serve` on a free port, for as long as it is wanted. */

import { Child, NoLine } from "./child.js";
import { NotStarted, printable } from "./errors.js";

/** What to start. */
export interface StartOptions {
  /** The name of a bundled scenario, or a file. */
  scenario?: string | undefined;
  /** `manual`, `real` or one such as `x60`. */
  clock?: string | undefined;
  /** A bigint beyond Number.MAX_SAFE_INTEGER. */
  seed?: number | bigint | undefined;
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
const CHARS_SHOWN = 200;

/** Start a server and wait until it is ready. `NotStarted` says what it did instead; nothing of it is left then. */
export async function launch(options: StartOptions): Promise<Launched> {
  const [program, ...first] = words(options.command ?? process.env["RESELLER_SIM_COMMAND"] ?? "reseller-sim");
  const { timeoutS = 30 } = options;
  const child = spawned(program, [...first, ...serveArguments(options)]);
  try {
    const { url, control_token: token } = ready(await child.firstLine(timeoutS));
    return { url, token: token ?? undefined, stop: () => child.stop() };
  } catch (error) {
    await child.stop();
    if (!(error instanceof NoLine)) throw notRun(program, error);
    throw new NotStarted(printable([`the simulator ${shown(program)} ${error.message}`, ...child.complaints].join("\n  ")));
  }
}

function serveArguments({ scenario, clock, seed, arguments: more }: StartOptions): string[] {
  const all = ["serve", "--json", "--port", "0", "--until-stdin-ends"];
  if (clock !== undefined) all.push("--clock", clock);
  if (seed !== undefined) all.push("--seed", `${seed}`);
  all.push(...(more ?? []));
  if (scenario !== undefined) all.push(scenario);
  return all;
}

/** Ours, without what was set for another simulator or for its clients. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RESELLER_")));
}

/** A command in words. One string has them between blanks: a path with blanks has to come in a list. */
function words(command: string | readonly string[]): [string, ...string[]] {
  return (typeof command === "string" ? command.trim().split(/\s+/) : command) as [string, ...string[]];
}

function spawned(program: string, rest: readonly string[]): Child {
  try {
    return new Child(program, rest, environment());
  } catch (error) {
    throw notRun(program, error);
  }
}

function notRun(program: string, error: unknown): NotStarted {
  const found = (error as NodeJS.ErrnoException).code === "ENOENT" ? "is not found" : `cannot be run (${(error as Error).message})`;
  return new NotStarted(printable(`${shown(program)} ${found}: ${ADVICE}`), { cause: error });
}

const shown = (text: string) => text.slice(0, CHARS_SHOWN);

/** What the line says that `--json` prints. */
function ready(line: string): { url: string; control_token?: string | null } {
  try {
    const said = JSON.parse(line) as { url: string; control_token?: string | null };
    if (/^https?:$/.test(new URL(said.url).protocol)) return said;
  } catch {
    // It is named below.
  }
  throw new NoLine(`printed ${JSON.stringify(shown(line.trim()))}, which is not how it begins`);
}
