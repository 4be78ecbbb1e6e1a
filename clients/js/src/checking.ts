/** Checks that decoded JSON has a shape: what the client reads of an answer is there, and is of its kind. */

/** Values that are alike: `name` with its article, for people. */
export class Kind {
  constructor(
    readonly name: string,
    readonly has: (value: unknown) => boolean,
  ) {}
}

/** An object with these members at least, of which those whose name ends in `?` may be absent or null. */
export interface Members {
  readonly [member: string]: Shape;
}

/** A kind of value, an object, or a list whose items all have the one shape that is given. */
export type Shape = Kind | Members | readonly [Shape];

/** Something else is where a value was expected: such as `callbacks[0].url`, or the whole. */
export class Mismatch extends Error {
  override name = "Mismatch";

  constructor(where: string, wanted: string) {
    super(where ? `its ${where} is not ${wanted}` : `it is not ${wanted}`);
  }
}

/** Throws a `Mismatch` for the first place at which a value has not the shape. */
export function check(value: unknown, shape: Shape, where = ""): void {
  if (shape instanceof Kind) {
    if (!shape.has(value)) throw new Mismatch(where, shape.name);
  } else if (isList(shape)) {
    if (!Array.isArray(value)) throw new Mismatch(where, "a list");
    value.forEach((one, number) => check(one, shape[0], `${where}[${number}]`));
  } else {
    checkMembers(value, shape, where);
  }
}

function isList(shape: Members | readonly [Shape]): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function checkMembers(value: unknown, shape: Members, where: string): void {
  if (!isObject(value)) throw new Mismatch(where, "an object");
  for (const [marked, inner] of Object.entries(shape)) {
    const name = marked.replace(/\?$/, "");
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (name === marked || (found ?? null) !== null) check(found, inner, where ? `${where}.${name}` : name);
  }
}

/** Whether it is an object of JSON, which a list and null are not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
