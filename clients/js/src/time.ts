/** Durations and clocks, as people write them and as the control API takes them. */

const MILLISECONDS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** The seconds of `90`, `"90s"`, `"250ms"`, `"5m"`, `"1h30m"` or `"1d"`; a RangeError for anything else. */
export function seconds(duration: string | number): number {
  if (typeof duration === "number") return duration;
  const parts = [...duration.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== duration.replaceAll(" ", "")) {
    throw new RangeError(`${JSON.stringify(duration)} is no duration such as "90s", "1h30m" or "500ms"`);
  }
  return parts.reduce((sum, [, count = "", unit = ""]) => sum + Number(count) * (MILLISECONDS[unit] ?? 0), 0) / 1_000;
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
