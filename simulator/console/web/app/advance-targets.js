// The target of an advance, as a person writes it: `90s`, `1h30m`, `idle`, `23:59`, `2027-01-10 23:59:30`, or with an offset.

import { dateTime } from "./format.js";
import { visible } from "./safe-text.js";

const SECONDS = /** @type {Record<string, number>} */ ({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 });
const SPAN = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const TIME = /^(\d\d?:\d\d)(:\d\d)?$/;
const DATED = /^\d{4}-\d\d-\d\d[T ]/;
const ZONED = /(Z|[+-]\d\d:?\d\d)$/i;
const ZONE = "+08:00";
const DAY_MS = 86_400_000;

/** @param {string} at a moment of the control API @returns {Until} */
export const toMoment = (at) => ({ body: { to: at }, cli: ["to", at] });

/** @param {number} seconds @returns {Until} */
export const bySeconds = (seconds) => {
	const text = seconds.toFixed(6).replace(/\.?0+$/, ""); // a clock has microseconds
	return { body: { seconds: Number(text) }, cli: [`${text}s`] };
};

/** Do what is due now. @type {Until} */
export const NOW = { body: { seconds: 0 }, cli: ["0s"] };

/** @type {Until} */
export const UNTIL_IDLE = { body: { until: "idle" }, cli: ["idle"] };

/** The server refuses times that do not exist or have passed. @param {string} text @param {Date} now the sandbox's @returns {Until} Throws an `Error` for who wrote it. */
export function untilOf(text, now) {
	const written = text.trim();
	if (written.toLowerCase() === "idle") return UNTIL_IDLE;
	const parts = [...written.replaceAll(" ", "").matchAll(SPAN)];
	if (parts.length && parts.map(([part]) => part).join("") === written.replaceAll(" ", ""))
		return bySeconds(parts.reduce((sum, [, n, unit]) => sum + Number(n) * SECONDS[unit], 0));
	if (DATED.test(written)) return toMoment(written.replace(/ +/, "T") + (ZONED.test(written) ? "" : ZONE));
	const [, clock, seconds = ":00"] = TIME.exec(written) ?? [];
	if (!clock)
		throw new Error(`“${visible(written.slice(0, 40))}” is not a time; write 90s, 2h, idle, 23:59 or 2027-01-10 23:59`);
	const on = (/** @type {number} */ day_ms) =>
		`${dateTime(new Date(day_ms)).slice(0, 10)}T${clock.padStart(5, "0")}${seconds}${ZONE}`;
	const today = on(now.getTime());
	return toMoment(Date.parse(today) < now.getTime() ? on(now.getTime() + DAY_MS) : today);
}
