/** JSON with whole numbers of any size: seeds may be beyond those that a `number` has exactly, and are bigints then. */

import { randomUUID } from "node:crypto";

import { inspected, isObject } from "./arguments.js";

const LONG_SEED = /("seed"\s*:\s*)(\d{16,19})(?=\s*[,}])/g;
const MARK = "long seed ";

/** Return the value of a JSON text, in which a long seed keeps its digits. Throws a SyntaxError. */
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

/** Return a value as JSON, a bigint as its digits. `JSON.stringify` changes or drops many values without an error, such as NaN, a
 * promise, a Map and a function: here each is a TypeError, and a number that is not finite a RangeError. An undefined member is left out. */
export function encoded(of: string, value: unknown): string {
  const mark = randomUUID();
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name: string, found: unknown): unknown {
    const given = this[name]; // before its toJSON
    const where = `${of}: ${name === "" ? "json" : inspected(name).slice(1, -1)} is ${inspected(given)}`;
    if (typeof found === "bigint") return `${mark}${found}`;
    if (typeof found === "number" && !Number.isFinite(found)) throw new RangeError(`${where}, and JSON has no such number`);
    if (!isJson(given)) throw new TypeError(`${where}; give a value that JSON has`);
    return found;
  });
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** Whether JSON has it: not bytes, a Date that is none, or an object that would be `{}`, as a promise or a Map. */
function isJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !["function", "symbol"].includes(typeof value);
  if (Array.isArray(value) || isObject(value)) return true;
  if (ArrayBuffer.isView(value)) return false;
  return "toJSON" in value ? (value as { toJSON(): unknown }).toJSON() !== null : Object.keys(value).length > 0;
}
