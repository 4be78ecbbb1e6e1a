/** Durations and clocks, as people write them and as the control API takes them. */

import { inspected } from "./arguments.js";

const MICROSECONDS: Record<string, number> = { ms: 1e3, s: 1e6, m: 60e6, h: 3_600e6, d: 86_400e6 };
const DURATION = /^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}$/; // as scenarios write them, but never below 0
const PART = /([0-9.]+)([a-z]+)/g;
const DAYS_MAX = 3660;

/** The longest that anything here waits in wall time, in seconds: a day. */
export const WAIT_S_MAX = 86_400;

/** The seconds of `90`, `"90s"`, `"250ms"`, `"1h30m"` or `"1.5d"`; a RangeError for anything else, and for what is below 0 or more
 * than 3660 days. */
export function seconds(duration: string | number): number {
  if (typeof duration === "number") return bounded(duration);
  if (!DURATION.test(duration)) {
    throw new RangeError(`${inspected(duration)} is no duration such as "90s", "1h30m", "1.5d" or "500ms"`);
  }
  const parts = [...duration.matchAll(PART)].map(([, count, unit = ""]) => Number(count) * (MICROSECONDS[unit] ?? 0));
  const total = parts.reduce((sum, part) => sum + Math.round(part), 0);
  if (total > DAYS_MAX * 86_400e6) throw new RangeError(`${inspected(duration)} is longer than ${DAYS_MAX} days`);
  return total / 1e6;
}

function bounded(count: number): number {
  if (Number.isNaN(count)) throw new RangeError("NaN is no duration");
  if (count < 0) throw new RangeError(`${count} is below 0: time does not go back`);
  if (count > DAYS_MAX * 86_400) throw new RangeError(`${count} is longer than ${DAYS_MAX} days`);
  return count;
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
