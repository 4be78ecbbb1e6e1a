/** Checks of what public functions are given: a name or a type that a function does not have is a TypeError, which names the nearest
 * right one; a value of the right type that cannot be meant is a RangeError. */

const SHOWN_CHARS_MAX = 60;

/** Values that a parameter or an option takes. */
export interface Kind {
  /** The values in words, such as `a text`. */
  readonly wanted: string;
  readonly isType: (value: unknown) => boolean;
  readonly isInRange?: (value: any) => boolean; // eslint-disable-line @typescript-eslint/no-explicit-any -- of the type above
  /** The only values. */
  readonly choices?: readonly string[];
  /** The options of an object. */
  readonly options?: Signature;
  /** Whether undefined means the same as leaving it out. */
  readonly isUnset?: boolean;
}

/** The parameters of a function in order, or the options of an object. A name that ends in `?` may be left out. */
export type Signature = { readonly [name: string]: Kind };

/** Throw for the first argument that the function does not take. */
export function checkArguments(of: string, values: ArrayLike<unknown>, signature: Signature): void {
  const names = Object.keys(signature);
  if (values.length > names.length) {
    const takes = names.length === 0 ? "no arguments" : `at most ${names.length} (${names.map(bare).join(", ")})`;
    throw new TypeError(`${of} takes ${takes}; it was given ${values.length}`);
  }
  for (const [position, [name, kind]] of Object.entries(signature).entries()) {
    if (position < values.length) checkValue(of, bare(name), values[position], kind);
    else if (!name.endsWith("?")) throw new TypeError(`${of}: ${name} is missing; give ${kind.wanted}`);
  }
}

/** Make every method of a class, and its static functions, check its arguments. */
export function guard(type: { prototype: object; name: string }, of: string, signatures: { readonly [method: string]: Signature }): void {
  for (const owner of [type, type.prototype]) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const method: unknown = descriptor.value;
      if (typeof method !== "function" || name === "constructor") continue;
      const signature = signatures[name];
      const label = `${owner === type ? type.name : of}.${name}`;
      if (signature === undefined) throw new Error(`the parameters of ${label} are not listed`);
      Object.defineProperty(owner, name, { ...descriptor, value: guarded(method, label, signature) });
    }
  }
}

/** The method with its checks; one that returns a promise rejects it. */
function guarded(method: Function, of: string, signature: Signature): Function {
  if (method.constructor.name === "AsyncFunction") {
    return async function (this: unknown, ...values: unknown[]): Promise<unknown> {
      checkArguments(of, values, signature);
      return method.apply(this, values) as unknown;
    };
  }
  return function (this: unknown, ...values: unknown[]): unknown {
    checkArguments(of, values, signature);
    return method.apply(this, values) as unknown;
  };
}

function checkValue(of: string, name: string, value: unknown, kind: Kind): void {
  if (value === undefined && kind.isUnset) return;
  if (kind.options !== undefined && isObject(value)) return checkOptions(of, value, kind.options);
  const { wanted, isType, isInRange, choices } = kind;
  const given = `${of}: ${name} is ${inspected(value)}`;
  if (!isType(value)) throw new TypeError(`${given}; give ${wanted}`);
  const isRight = choices?.includes(value as string) ?? isInRange?.(value) ?? true;
  if (isRight) return;
  const near = choices && nearest(value as string, choices);
  throw new RangeError(`${given}; ${near ? `did you mean ${near}? Give` : "give"} ${wanted}`);
}

function checkOptions(of: string, given: Record<string, unknown>, options: Signature): void {
  const names = Object.keys(options).map(bare);
  for (const [name, value] of Object.entries(given)) {
    const kind = options[name] ?? options[`${name}?`];
    if (kind !== undefined && !name.endsWith("?")) {
      checkValue(of, name, value, kind);
      continue;
    }
    const near = nearest(name, names);
    const advice = near === undefined ? `the options are ${names.join(", ")}` : `did you mean ${near}?`;
    throw new TypeError(`${of}: unknown option ${inspected(name).slice(1, -1)}; ${advice}`);
  }
  for (const [name, kind] of Object.entries(options)) {
    if (!name.endsWith("?") && !Object.hasOwn(given, name)) throw new TypeError(`${of}: ${name} is missing; give ${kind.wanted}`);
  }
}

const bare = (name: string) => name.replace(/\?$/, "");

/** Whether it is an object such as `{ refid: "order-1" }`, and no list, Date, Map or other class's. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // also the Object of another realm, as Jest has one
}

/** The likeliest of these names that was meant, if any is like it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  const wanted = plain(name);
  const ranked = known.map((right) => ({ right, length: Math.max(right.length, wanted.length), edits: distance(wanted, plain(right)) }));
  const [best] = ranked.sort((one, other) => one.edits - other.edits);
  if (best !== undefined && best.edits * 2 <= best.length) return best.right;
  const isBeginning = (one: string, other: string): boolean => one.length >= 3 && other.startsWith(one);
  return known.find((right) => isBeginning(wanted, plain(right)) || isBeginning(plain(right), wanted));
}

/** How many letters to insert, delete or change (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let column = 0; column < other.length; column += 1) {
      const changed = (row[column] ?? 0) + (letter === other[column] ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** A value as a message shows it: a text in quotes, of an object only its class. */
export function inspected(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, SHOWN_CHARS_MAX));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value) + (typeof value === "bigint" ? "n" : "");
  return Array.isArray(value) ? "a list" : isObject(value) ? "an object" : `a ${value.constructor?.name || "value"}`;
}
