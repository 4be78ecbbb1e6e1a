/** A hold of a sandbox: answers and deliveries that rules keep until the test releases them. */

import { guard, HOLD } from "./arguments.js";
import { ExpectationFailed, type Control } from "./control.js";
import type { Held } from "./records.js";

const BEYOND_S = 30; // the answer to a request that waits takes longer than the wait

/** What rules keep with `hold: NAME`. The end of `await using` releases all of it. */
export class Hold {
  readonly name: string;
  readonly #control: Control;
  readonly #path: string;

  constructor(control: Control, path: string, name: string) {
    this.name = name;
    this.#control = control;
    this.#path = `${path}/holds`;
  }

  /** What is held now. */
  async waiting(): Promise<Held[]> {
    return (await this.#control.ask<{ holds: Held[] }>("GET", this.#path, { query: { name: this.name } })).holds;
  }

  /** What is held as soon as `count` are, by default 1. Fails when that takes longer than `timeoutS`, by default 10 seconds. */
  async wait(count = 1, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<Held[]> {
    const query = { name: this.name, wait_for: count, timeout: timeoutS };
    const sent = { query, timeoutS: timeoutS + BEYOND_S };
    const { holds, complete } = await this.#control.ask<{ holds: Held[]; complete: boolean }>("GET", this.#path, sent);
    if (complete) return holds;
    throw new ExpectationFailed(`${holds.length} of ${count} were held in ${this.name} within ${timeoutS} s`, "", holds.length, count);
  }

  /** Lets the first `count` go on, by default all, and returns how many those are. */
  async release(count?: number): Promise<number> {
    const path = `${this.#path}/${encodeURIComponent(this.name)}/release`;
    const json = count === undefined ? {} : { count };
    return (await this.#control.ask<{ released: number }>("POST", path, { json })).released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

guard(Hold, "hold", HOLD);
