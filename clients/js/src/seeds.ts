/** Seeds, which may be beyond the whole numbers that a `number` has exactly: such a one is a bigint. */

const LONG_SEED = /("seed"\s*:\s*)(\d{16,19})(?=\s*[,}])/g;
const MARK = "long seed ";

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
