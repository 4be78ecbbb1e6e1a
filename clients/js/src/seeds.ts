/** Seeds, which may be beyond the whole numbers that a `number` has exactly: such a one is a bigint. */

import { inspected } from "./printable.js";

const SEED_MAX = 2n ** 63n - 1n;
const LONG_SEED = /("seed"\s*:\s*)(\d{16,19})(?=\s*[,}])/g;
const MARK = "long seed ";

/** The same seed; a RangeError for what is none, and for a number that may not be the one that was written. */
export function checkSeed(seed: number | bigint | undefined): typeof seed {
  if (seed === undefined || isSeed(seed)) return seed;
  const long = Number.isInteger(seed) && seed > 0 ? `, and one beyond ${Number.MAX_SAFE_INTEGER} as a bigint, such as ${SEED_MAX}n` : "";
  throw new RangeError(`${inspected(seed)} is no seed: give a whole number from 0 to ${SEED_MAX}${long}`);
}

/** Whether it is a seed in the form that the client gives it: a safe number, or a bigint. */
export function isSeed(value: unknown): value is number | bigint {
  if (typeof value === "bigint") return value >= 0n && value <= SEED_MAX;
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The value of a JSON text, in which a long seed keeps its digits. Throws a SyntaxError. */
export function parsed(text: string): unknown {
  // Quotes within a string have a backslash before them, so that this finds members only.
  const marked = text.replace(LONG_SEED, `$1"${MARK}$2"`);
  return JSON.parse(marked, marked === text ? undefined : unmarked);
}

function unmarked(name: string, value: unknown): unknown {
  if (name !== "seed" || typeof value !== "string" || !value.startsWith(MARK)) return value;
  const seed = BigInt(value.slice(MARK.length));
  return seed <= Number.MAX_SAFE_INTEGER ? Number(seed) : seed;
}
