// Money is a BigInt of sen, since 0.1 + 0.2 is not 0.3. JSON.parse makes a number of 9.75, whose text is "9.75" again:
// take the text at once, and never add or multiply the number.

/** The sen of an amount such as "9.75" or 9.75. */
export function sen(amount) {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/.exec(String(amount)) ?? [];
  if (whole === undefined) throw new RangeError(`${amount} is not an amount of money`);
  return BigInt(`${sign}${whole}${fraction.padEnd(2, "0")}`);
}

/** The text of some sen, with two decimals. */
export function text(amount) {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
