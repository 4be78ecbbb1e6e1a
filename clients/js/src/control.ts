/** Requests to the control API, `/_sim`: JSON in and out, refusals as errors. */

import { inspected, isObject } from "./arguments.js";
import { NotRunning, shortened, SimulatorError, WrongAnswer, type Problem } from "./errors.js";
import { exchange, Malformed, Unanswered, type Answer } from "./exchange.js";
import { encoded, parsed } from "./json.js";

type Query = Record<string, string | number | bigint | boolean | undefined>;

const TIMEOUT_S = 60;
const PAGE = 1000;
const PROBLEMS_MAX = 1000;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** How many pages a list may have. */
export const PAGES_MAX = 10_000;

/** What a request sends besides its method and path. */
export interface Sent {
  query?: Query;
  json?: unknown;
  /** The text of a scenario file. */
  yaml?: string;
  /** How long the answer may take in all, in seconds; by default 60. */
  timeoutS?: number;
}

/** The control API of one server. */
export class Control {
  /** `url` ends in `/_sim`. */
  constructor(
    readonly url: string,
    readonly token: string | undefined,
  ) {}

  /** The JSON of an answer, undefined when it has no body. A refusal is a `SimulatorError`; `NotRunning` when nobody answers,
   * `WrongAnswer` for what the control API would not, a RangeError for a method or a path that it cannot have. */
  async ask<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    checkRequest(method, path);
    const { query = {}, json, yaml, timeoutS = TIMEOUT_S } = sent;
    const url = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, `${value}`);
    }
    const headers: Record<string, string> = {
      "Content-Type": yaml === undefined ? "application/json" : "application/yaml",
    };
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    const body = yaml ?? (json === undefined ? null : encoded(`${method} ${path}`, json));
    const answer = await exchange(url, { method, headers, body }, timeoutS).catch((error: unknown) => {
      if (error instanceof Malformed) throw this.wrongAnswer(method, path, shortened(error.message));
      throw error instanceof Unanswered ? this.#notRunning(error) : error;
    });
    return this.#decoded(method, path, answer) as T;
  }

  /** All items of a list that comes in pages, in the order of the pages. `name` is the member that has them. */
  async all<T>(path: string, name: string, query: Query = {}): Promise<T[]> {
    const lists: T[][] = [];
    let cursor: string | undefined;
    for (let count = 0; count < PAGES_MAX; count += 1) {
      const page: Record<string, unknown> = await this.ask("GET", path, { query: { limit: PAGE, ...query, cursor } });
      const items = page[name];
      if (!Array.isArray(items)) throw this.wrongAnswer("GET", path, `its ${name} is not a list`);
      lists.push(items as T[]);
      if (!page["has_more"]) return lists.flat();
      const next = `${(page["cursor"] ?? cursor ?? "") as string}`;
      if (next === (cursor ?? "") || items.length === 0) throw this.wrongAnswer("GET", path, "it has more, but the same page again");
      cursor = next;
    }
    throw this.wrongAnswer("GET", path, `it has more than ${PAGES_MAX} pages`);
  }

  /** What to say when something else answers. */
  wrongAnswer(method: string, path: string, wrong: string): WrongAnswer {
    return new WrongAnswer(`${method} ${this.url}${path} was not answered as by a simulator of this version: ${wrong}`);
  }

  #notRunning(reason: Unanswered): NotRunning {
    const said = `no simulator answers at ${this.url} (${shortened(reason.message)}): start one, or set RESELLER_SIM_URL`;
    return new NotRunning(said, { cause: reason.cause });
  }

  #decoded(method: string, path: string, { status, bytes }: Answer): unknown {
    let found: unknown;
    try {
      found = bytes.length > 0 ? parsed(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) : undefined;
    } catch {
      throw this.wrongAnswer(method, path, `${status} without JSON`);
    }
    if (status >= 400) throw refused(status, found);
    if (status >= 300 || !(found === undefined || isObject(found))) {
      throw this.wrongAnswer(method, path, `${status}, and not with an object`);
    }
    return found;
  }
}

/** Throw a RangeError for a method that the control API has not, and for a path that a URL would change: `/a/..` is `/`. */
export function checkRequest(method: string, path: string): void {
  if (!METHODS.includes(method)) throw new RangeError(`${inspected(method)} is no method of the control API: give ${METHODS.join(", ")}`);
  const [named = ""] = path.split(/[?#]/);
  if (!/^($|\/)/.test(named)) throw new RangeError(`${inspected(path)} is no path of the control API: begin it with /`);
  const parts = named.replace(/[\t\r\n]/g, "").split(/[/\\]/).slice(1); // as a URL is read
  const odd = parts.find((part) => /^(\.|%2e){0,2}$/i.test(part));
  if (odd === undefined) return;
  throw new RangeError(`${inspected(path)} is no path of the control API: its part ${inspected(odd)} would lead elsewhere, so give a name`);
}

function refused(status: number, decoded: unknown): SimulatorError {
  const said = isObject(decoded) ? decoded : {};
  const { error = "unknown", message = "the control API refused the request", path, problems } = said;
  const listed = Array.isArray(problems) ? problems.slice(0, PROBLEMS_MAX).map(problemOf) : [];
  const hint = status === 401 ? "; give the control API's token as `token`, or in RESELLER_SIM_TOKEN" : "";
  return new SimulatorError(status, shortened(error), shortened(message) + hint, shortened(path ?? ""), listed);
}

function problemOf(one: unknown): Problem {
  if (!isObject(one)) return { message: shortened(one) };
  const { message, path, line, column, ...more } = one;
  const at = { ...(Number.isInteger(line) && { line: line as number }), ...(Number.isInteger(column) && { column: column as number }) };
  return { ...more, ...at, message: shortened(message ?? ""), ...(path !== undefined && { path: shortened(path) }) };
}
