/** Durations and clocks, as people write them and as the control API takes them. */

const MICROSECONDS: Record<string, number> = { ms: 1e3, s: 1e6, m: 60e6, h: 3_600e6, d: 86_400e6 };
const DURATION = /^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}$/; // as scenarios write them, but never below 0
const PART = /([0-9.]+)([a-z]+)/g;
const DAYS_MAX = 3660;

/** The seconds of `90`, `"90s"`, `"250ms"`, `"1h30m"` or `"1.5d"`; a RangeError for another text or for more than 3660 days. */
export function seconds(duration: string | number): number {
  if (typeof duration === "number") return duration;
  if (!DURATION.test(duration)) {
    throw new RangeError(`${JSON.stringify(duration)} is no duration such as "90s", "1h30m", "1.5d" or "500ms"`);
  }
  const parts = [...duration.matchAll(PART)].map(([, count, unit = ""]) => Number(count) * (MICROSECONDS[unit] ?? 0));
  const total = parts.reduce((sum, part) => sum + Math.round(part), 0);
  if (total > DAYS_MAX * 86_400e6) throw new RangeError(`${JSON.stringify(duration)} is longer than ${DAYS_MAX} days`);
  return total / 1e6;
}

/** The clock of a sandbox that is created, from `manual`, `real` or one such as `x60`. */
export function clockOf(mode: string, start: string | Date | undefined): Record<string, unknown> {
  const rate = /^x([0-9]{1,9}(?:\.[0-9]{1,9})?)$/.exec(mode)?.[1];
  const clock = rate === undefined ? { mode } : { mode: "xN", rate: Number(rate) };
  return start === undefined ? clock : { ...clock, start: iso(start) };
}

/** A time as ISO 8601. */
export function iso(time: string | Date): string {
  return typeof time === "string" ? time : time.toISOString();
}
