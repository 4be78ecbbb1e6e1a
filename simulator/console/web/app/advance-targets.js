// The target of an advance, as a person writes it: `90s`, `1h30m`, `idle`, `23:59`, `2027-01-10 23:59:30`, or with an offset.

import { dateTime } from "./format.js";
import { visible } from "./safe-text.js";

const SECONDS = /** @type {Record<string, number>} */ ({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 });
const SPAN = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const MOMENT = /^(?:(\d{4}-\d\d-\d\d)[T ]+)?(\d\d?:\d\d)(:\d\d(?:\.\d{1,6})?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;
const ZONE = "+08:00";
const DAY_MS = 86_400_000;
const DAYS_MAX = 3660; // per advance

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

/** @param {string} text @param {Date} now the sandbox's @returns {Until} Throws an `Error` for who wrote it. */
export function untilOf(text, now) {
	const written = text.trim();
	if (written.toLowerCase() === "idle") return UNTIL_IDLE;
	const parts = [...written.replaceAll(" ", "").matchAll(SPAN)];
	if (parts.length && parts.map(([part]) => part).join("") === written.replaceAll(" ", "")) {
		const seconds = parts.reduce((sum, [, n, unit]) => sum + Number(n) * SECONDS[unit], 0);
		if (seconds > DAYS_MAX * SECONDS.d)
			throw new Error(`“${written.slice(0, 40)}” is too long: the clock goes ${DAYS_MAX}d at a time, ten years`);
		return bySeconds(seconds);
	}
	const moment = MOMENT.exec(written);
	if (!moment)
		throw new Error(`“${visible(written.slice(0, 40))}” is not a time; write 90s, 2h, idle, 23:59 or 2027-01-10 23:59`);
	const [, date, clock, rest = ":00", offset = ZONE] = moment;
	const zone = offset.toUpperCase().replace(/(\d\d)(\d\d)$/, "$1:$2");
	const timed = (/** @type {string} */ day) => `${day}T${clock.padStart(5, "0")}${rest}${zone}`;
	const today = dayOf(now, zone);
	if (
		Number.isNaN(Date.parse(timed(date ?? today))) ||
		!isOnCalendar(`${date ?? today}T${clock.padStart(5, "0")}${rest.slice(0, 3)}`)
	)
		throw new Error(`“${written}” is not a valid date or time; hours go to 23, minutes and seconds to 59`);
	if (date && Date.parse(timed(date)) < now.getTime())
		throw new Error(`“${written}” is in the past: it is ${dateTime(now)}, and the clock only moves forward`);
	if (date) return toMoment(timed(date));
	return toMoment(
		Date.parse(timed(today)) >= now.getTime() ? timed(today) : timed(dayOf(new Date(now.getTime() + DAY_MS), zone)),
	);
}

/** Whether it is read as it is written: a browser takes 30 February and 24:00, too. @param {string} moment without zone */
function isOnCalendar(moment) {
	const read = new Date(`${moment}Z`);
	return !Number.isNaN(read.getTime()) && read.toISOString().slice(0, moment.length) === moment;
}

/** The day in a zone. @param {Date} moment @param {string} zone */
function dayOf(moment, zone) {
	const [hours, minutes] = zone === "Z" ? [0, 0] : zone.slice(1).split(":").map(Number);
	const shift_ms = (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
	return new Date(moment.getTime() + shift_ms).toISOString().slice(0, 10);
}
