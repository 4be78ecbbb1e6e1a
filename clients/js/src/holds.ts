/** A hold of a sandbox: answers and deliveries that rules keep until the test releases them. */

import { guard, HOLD } from "./arguments.js";
import { ExpectationFailed, type Control } from "./control.js";
import type { Held } from "./records.js";

const BEYOND_S = 30; // the answer to a request that waits takes longer than the wait

/** The items that rules hold with `hold: NAME`. The end of `await using` releases all of them. */
export class Hold {
  readonly name: string;
  readonly #control: Control;
  readonly #path: string;

  constructor(control: Control, path: string, name: string) {
    this.name = name;
    this.#control = control;
    this.#path = `${path}/holds`;
  }

  /** The items that are held now. */
  async waiting(): Promise<Held[]> {
    return (await this.#control.ask<{ holds: Held[] }>("GET", this.#path, { query: { name: this.name } })).holds;
  }

  /** Waits until `count` items are held, by default 1, and returns them. Fails when that takes longer than `timeoutS`, by default 10 seconds. */
  async wait(count = 1, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<Held[]> {
    const query = { name: this.name, wait_for: count, timeout: timeoutS };
    const sent = { query, timeoutS: timeoutS + BEYOND_S };
    const { holds, complete } = await this.#control.ask<{ holds: Held[]; complete: boolean }>("GET", this.#path, sent);
    if (complete) return holds;
    throw new ExpectationFailed(`${holds.length} of ${count} were held in ${this.name} within ${timeoutS} s`, "", holds.length, count);
  }

  /** Releases the first `count` items, by default all, and returns how many were released. */
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
