/** Texts of somebody else in what people read: without control characters, and bounded. */

const CHARS_MAX = 4000;
const INSPECTED_CHARS_MAX = 60;
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** The text with an escape for each character that does not print; lines stay lines. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A decoded value as printable text of at most 4000 characters and an ellipsis; of an object or a list only its kind. */
export function shortened(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "(list)" : "(object)";
  const text = String(value);
  return printable(text.slice(0, CHARS_MAX)) + (text.length > CHARS_MAX ? "…" : "");
}

/** A value that was given, as a message about it shows it: a text in quotes, of an object only its kind. */
export function inspected(value: unknown): string {
  return (typeof value === "string" ? JSON.stringify(value) : shortened(value)).slice(0, INSPECTED_CHARS_MAX);
}
