/** Requests to the control API, `/_sim`: JSON in and out, refusals as errors. And what else can go wrong, as types. */

import { AssertionError } from "node:assert";

import { checkPath, inspected, isObject } from "./arguments.js";
import { exchange, Unanswered, type HttpResponse } from "./machine.js";

const TIMEOUT_S = 60;
const PAGE = 1000;
const CHARS_SHOWN = 100;

/** One of the mistakes in a scenario or rule that was refused. */
export type Problem = { message: string; path?: string; file?: string | null; line?: number; column?: number; [more: string]: unknown };

/** The place of a problem as the beginning of a line, as `check` prints it for a file. */
function placeOf({ file, line, column }: Problem): string {
  if (!line) return "";
  return file ? `${file}:${line}:${column}, ` : `line ${line}, `;
}

/** The control API refused a request: its status, its code and sentence, and every problem of a scenario or rule. */
export class SimulatorError extends Error {
  override name = "SimulatorError";

  /** `path` is the part of the request that it is about, or empty. */
  constructor(readonly status: number, readonly code: string, message: string, readonly path: string, readonly problems: readonly Problem[] = []) {
    const lines = problems.map((problem) => `${placeOf(problem)}${problem.path ? `${problem.path}: ` : ""}${problem.message}`);
    const all = [`${message} (${status} ${code}${path && `, at ${path}`})`, ...lines].join("\n  ");
    super(lines.length === 1 ? `${lines[0]} (${status} ${code})` : all);
  }
}

/** The simulator's address does not answer. */
export class NotRunning extends Error {
  override name = "NotRunning";
}

/** The server at the address is no simulator of this version; the message has the address. */
export class WrongAnswer extends NotRunning {
  override name = "WrongAnswer";
}

/** A simulator of our own could not be started; the message has its output. */
export class NotStarted extends Error {
  override name = "NotStarted";
}

/** An expectation is not met. `evidence` is what did happen: a payment's story, refused requests, violations. */
export class ExpectationFailed extends AssertionError {
  readonly evidence!: string;

  constructor(message: string, evidence: string, actual?: unknown, expected?: unknown) {
    super({ message: evidence ? `${message}\n${evidence}` : message, actual, expected, operator: "expect" });
    this.name = "ExpectationFailed";
    // Runners print the members of an error, and the message has this already.
    Object.defineProperty(this, "evidence", { value: evidence, enumerable: false });
  }
}

/** The content of a request besides its method and path: `yaml` is the text of a scenario file, `bytes` a tape. The answer may take `timeoutS`
 * seconds in all, by default 60. */
export type Sent = { query?: Record<string, string | number | boolean | undefined>; json?: unknown; yaml?: string; bytes?: Uint8Array; timeoutS?: number };

/** The control API of a server. */
export class Control {
  /** `url` ends in `/_sim`. */
  constructor(readonly url: string, readonly token?: string) {}

  /** The JSON of an answer, undefined when it has no body; its warnings are warnings of the process. A refusal is a `SimulatorError`; `NotRunning` when nothing answers,
   * `WrongAnswer` when something else does, a RangeError for a path that would not arrive as it is written. */
  async ask<T>(method: string, path: string, { query = {}, json, yaml, bytes, timeoutS = TIMEOUT_S }: Sent = {}): Promise<T> {
    checkPath("control API", path);
    const url = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, `${value}`);
    }
    const type = bytes !== undefined ? "application/octet-stream" : yaml === undefined ? "application/json" : "application/yaml";
    const headers = { "Content-Type": type, ...(this.token && { Authorization: `Bearer ${this.token}` }) };
    const body = bytes ?? yaml ?? (json === undefined ? null : encoded(`${method} ${path}`, json));
    const answer = await exchange(url, { method, headers, body }, timeoutS).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error;
      if (error.kind === "foreign") throw this.wrongAnswer(method, path, error.message);
      if (error.kind === "unusable") throw new NotRunning(`${this.url} cannot be used: ${error.message}`, { cause: error.cause });
      throw new NotRunning(`no simulator answers at ${this.url} (${error.message}): start one, or set RESELLER_SIM_URL`, { cause: error.cause });
    });
    return this.#decoded(method, path, answer) as T;
  }

  /** All items of a list that comes in pages, in the order of the pages. `name` is the member that has them. */
  async all<T>(path: string, name: string, query: Sent["query"] = {}): Promise<T[]> {
    const items: T[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.ask<Record<string, unknown>>("GET", path, { query: { limit: PAGE, ...query, cursor } });
      items.push(...(page[name] as T[]));
      if (!page["has_more"]) return items;
      cursor = `${page["cursor"] as string}`;
    }
  }

  /** The error for a server that is no simulator. */
  wrongAnswer(method: string, path: string, problem: string): WrongAnswer {
    return new WrongAnswer(`${method} ${this.url}${path} was not answered as by a simulator of this version: ${problem}`);
  }

  #decoded(method: string, path: string, { status, bytes }: HttpResponse): unknown {
    if (bytes.length === 0 && status < 300) return undefined;
    const text = Buffer.from(bytes).toString();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // It is shown below.
    }
    if (!isObject(value) || (status >= 300 && !("error" in value && "message" in value))) throw this.wrongAnswer(method, path, `${status} ${JSON.stringify(text.trim().slice(0, CHARS_SHOWN))}`);
    if (status < 300) {
      if (method !== "GET" && Array.isArray(value["warnings"])) value["warnings"].forEach((text) => process.emitWarning(`${text as string}`));
      return value;
    }
    const { error, message, path: part, problems } = value as { error: string; message: string; path?: string; problems?: Problem[] };
    const hint = "; give the control API's token as `token`, or without a URL in RESELLER_SIM_TOKEN";
    throw new SimulatorError(status, error, status === 401 ? `${message.split(": send ", 1)[0]}${hint}` : message, part ?? "", problems);
  }
}

/** Return a value as JSON. `JSON.stringify` changes or drops many values without an error, such as NaN, a promise, a Map and a function:
 * here each is a TypeError, and a number that is not finite a RangeError. An undefined member is left out. */
export function encoded(of: string, value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name: string, member: unknown): unknown {
    const original = this[name]; // before its toJSON
    const where = `${of}: ${name === "" ? "json" : inspected(name).slice(1, -1)} is ${inspected(original)}`;
    if (typeof member === "number" && !Number.isFinite(member)) throw new RangeError(`${where}, and JSON has no such number`);
    if (!isJson(original)) throw new TypeError(`${where}; give a value that JSON has`);
    return member;
  });
}

/** Whether JSON has it: not a bigint, bytes, an invalid Date, or an object that would be `{}`, as a promise or a Map. */
function isJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !["function", "symbol", "bigint"].includes(typeof value);
  if (Array.isArray(value) || isObject(value)) return true;
  if (ArrayBuffer.isView(value)) return false;
  return "toJSON" in value ? (value as { toJSON(): unknown }).toJSON() !== null : Object.keys(value).length > 0;
}
