/** Requests to the control API, `/_sim`: JSON in and out, refusals as errors. */

import { NotRunning, SimulatorError, type Problem } from "./errors.js";

type Query = Record<string, string | number | boolean | undefined>;

/** What a request sends besides its method and path. */
export interface Sent {
  query?: Query;
  json?: unknown;
  /** The text of a scenario file. */
  yaml?: string;
}

interface Refusal {
  error?: string;
  message?: string;
  path?: string;
  problems?: Problem[];
}

/** The control API of one server. */
export class Control {
  /** `url` ends in `/_sim`. */
  constructor(
    readonly url: string,
    private readonly token: string | undefined,
  ) {}

  /** The JSON of an answer. A refusal is a `SimulatorError`; `NotRunning` when nobody answers. */
  async ask<T>(method: string, path: string, { query = {}, json, yaml }: Sent = {}): Promise<T> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, `${value}`);
    }
    const headers: Record<string, string> = {
      "Content-Type": yaml === undefined ? "application/json" : "application/yaml",
    };
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    const body = yaml ?? (json === undefined ? null : JSON.stringify(json));
    const address = `${this.url}${path}${parameters.size ? `?${parameters}` : ""}`;
    const answer = await fetch(address, { method, headers, body }).catch((error: unknown) => {
      throw new NotRunning(`no simulator answers at ${this.url}: start one, or set RESELLER_SIM_URL`, { cause: error });
    });
    const text = await answer.text();
    if (!answer.ok) throw refused(answer.status, text);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** All items of a list that comes in pages, in the order of the pages. `name` is the member that has them. */
  async all<T>(path: string, name: string, query: Query = {}): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page: Record<string, unknown> = await this.ask("GET", path, { query: { limit: 1000, ...query, cursor } });
      items.push(...(page[name] as T[]));
      if (!page["has_more"]) return items;
      cursor = `${page["cursor"] as string}`;
    }
  }
}

function refused(status: number, text: string): SimulatorError {
  let refusal: Refusal = {};
  try {
    refusal = JSON.parse(text) as Refusal;
  } catch {
    // Something else than a simulator answers there.
  }
  const { error = "error", message = `the server answered ${status}: ${text.slice(0, 200)}`, path = "" } = refusal;
  return new SimulatorError(status, error, message, path, refusal.problems);
}
