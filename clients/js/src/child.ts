/** A process of our own: what it prints first, what it complains about, and its end. */

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";

import { after, within } from "./machine.js";

const STOP_S = 5; // one that ignores its end for longer is killed
const CLOSED_S = 1; // between its end and that of its output, which a process of its own may hold
const LINE_CHARS_MAX = 16_384;
const COMPLAINTS_CHARS_MAX = 8_000;
const LINES_SHOWN = 20;
const LINE_CHARS_SHOWN = 200;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** There is no first line; the message says what happened instead, with the process as its subject left out. */
export class NoLine extends Error {}

/** A process that was started, with what it prints read all the time, so that it never waits for us. */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<string>;
  readonly #closed: Promise<unknown>;
  readonly #failed: Promise<never>;
  readonly #line: Promise<string | undefined>;
  #complaints = "";

  /** Throws what `spawn` throws; what it finds out later, such as that there is no such program, `firstLine` throws. */
  constructor(program: string, rest: readonly string[], env: NodeJS.ProcessEnv) {
    const child = (this.#process = spawn(program, rest, { stdio: "pipe", env }));
    this.#exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code === null ? `by ${signal}` : `with exit code ${code}`)));
    this.#closed = new Promise((resolve) => child.once("close", resolve));
    this.#failed = new Promise((_, reject) => child.on("error", reject));
    this.#failed.catch(() => undefined); // also when nobody asks for its first line
    for (const pipe of child.stdio) pipe?.on("error", () => undefined); // its end says more
    endWithThisProcess(child);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#complaints = (this.#complaints + text).slice(-COMPLAINTS_CHARS_MAX)));
    this.#line = this.#read();
  }

  /** The latest lines that it wrote on stderr, bounded. */
  get complaints(): string[] {
    const lines = this.#complaints.split("\n").filter((line) => line.trim() !== "");
    return lines.slice(-LINES_SHOWN).map((line) => line.slice(0, LINE_CHARS_SHOWN));
  }

  /** Its first line on stdout, or what it begins with. Throws `NoLine`, and what keeps it from being run. */
  async firstLine(timeoutS: number): Promise<string> {
    const line = await within(timeoutS, Promise.race([this.#failed, this.#lineOrEnd()]));
    if (line === undefined) throw new NoLine(`was not ready in ${timeoutS} s`);
    return line;
  }

  async #lineOrEnd(): Promise<string> {
    const line = await Promise.race([this.#line, this.#exited.then(() => within(CLOSED_S, this.#line))]);
    if (line !== undefined) return line;
    const end = await within(CLOSED_S, this.#exited);
    throw new NoLine(end === undefined ? "closed its output before it was ready" : `ended at once, ${end}`);
  }

  /** The first line; undefined if the output ends without one. What follows is forgotten. */
  #read(): Promise<string | undefined> {
    const { stdout } = this.#process;
    let text = "";
    return new Promise((resolve) => {
      const more = (piece: string) => {
        text = (text + piece).slice(0, LINE_CHARS_MAX);
        if (!text.includes("\n") && text.length < LINE_CHARS_MAX) return;
        stdout.off("data", more).resume();
        resolve(text.split("\n", 1)[0]);
      };
      stdout.setEncoding("utf8").on("data", more).once("close", () => resolve(text.trim() === "" ? undefined : text));
    });
  }

  /** Ends it, and waits until it has ended, though not for processes of its own that hold its output. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child.pid === undefined) return;
    child.stdin.end();
    child.kill();
    const cancel = after(STOP_S, () => child.kill("SIGKILL"));
    await this.#exited;
    cancel();
    await within(CLOSED_S, this.#closed);
    for (const pipe of child.stdio) pipe?.destroy();
  }
}

const running = new Set<ChildProcess>();

const endAll = () => running.forEach((child) => void child.kill());

function signalled(signal: NodeJS.Signals): void {
  endAll();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal); // nobody else decides what it means
}

function unwatch(): void {
  process.removeListener("exit", endAll);
  for (const signal of SIGNALS) process.removeListener(signal, signalled);
}

/** End this process's child with it: when it exits, and when a signal ends it, as runners do with tests that hang. What kills this
 * process ends the stdin of its children. */
function endWithThisProcess(child: ChildProcess): void {
  const ended = () => {
    running.delete(child);
    if (running.size === 0) unwatch();
  };
  unwatch(); // so that there is one listener, however many have started
  running.add(child);
  process.once("exit", endAll);
  for (const signal of SIGNALS) process.once(signal, signalled);
  child.once("exit", ended).once("error", ended);
}
