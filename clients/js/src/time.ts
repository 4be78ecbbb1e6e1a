/** Durations and clocks, as people write them and as the control API takes them. */

const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of `90`, `"90s"`, `"250ms"`, `"5m"`, `"2h"` or `"1d"`; a RangeError for anything else. */
export function seconds(duration: string | number): number {
  if (typeof duration === "number") return duration;
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) {
    throw new RangeError(`${JSON.stringify(duration)} is no duration such as 250ms, 90s, 5m, 2h or 1d`);
  }
  return Number(count) * (SECONDS[unit] ?? 1);
}

/** The clock of a sandbox that is created, from `manual`, `real` or one such as `x60`. */
export function clockOf(mode: string, start: string | Date | undefined): Record<string, unknown> {
  const rate = /^x(\d+(?:\.\d+)?)$/.exec(mode)?.[1];
  const clock = rate === undefined ? { mode } : { mode: "xN", rate: Number(rate) };
  return start === undefined ? clock : { ...clock, start: iso(start) };
}

/** A time as ISO 8601. */
export function iso(time: string | Date): string {
  return typeof time === "string" ? time : time.toISOString();
}
