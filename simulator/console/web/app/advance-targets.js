// The target of an advance, as a person writes it: `90s`, `1h30m`, `idle`, `23:59`, `2027-01-10 23:59:30`, or with an offset.

import { visible } from "./safe-text.js";

const SECONDS = /** @type {Record<string, number>} */ ({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 });
const SPAN = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const MOMENT = /^(?:(\d{4}-\d\d-\d\d)[T ]+)?(\d\d?:\d\d)(:\d\d(?:\.\d{1,6})?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;
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
	const [found, date, clock, seconds = ":00", zone = ZONE] = MOMENT.exec(written) ?? [];
	if (!found)
		throw new Error(`“${visible(written.slice(0, 40))}” is not a time; write 90s, 2h, idle, 23:59 or 2027-01-10 23:59`);
	const offset = zone.toUpperCase().replace(/(\d\d)(\d\d)$/, "$1:$2");
	const on = (/** @type {string} */ day) => `${day}T${clock.padStart(5, "0")}${seconds}${offset}`;
	if (date) return toMoment(on(date));
	// A time of day is the next one, wherever the day of its zone is the one before or after UTC's.
	const days = [-1, 0, 1, 2].map((n) => on(new Date(now.getTime() + n * DAY_MS).toISOString().slice(0, 10)));
	return toMoment(days.find((one) => Date.parse(one) >= now.getTime()) ?? days[1]);
}
