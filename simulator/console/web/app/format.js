// How facts are written: times of the sandbox in the service's zone, money with two decimals, spans of time in short.

export const CURRENCY = "MYR";
const ZONE_OFFSET_MS = 8 * 3600 * 1000;

/** @param {string | Date} moment @returns {Date} shifted so that its UTC fields show the service's zone */
const zoned = (moment) => new Date(new Date(moment).getTime() + ZONE_OFFSET_MS);

/** `23:59:02.114`. @param {string | Date | null} moment */
export const time = (moment) => (moment ? zoned(moment).toISOString().slice(11, 23) : "");

/** `23:59:02`. @param {string | Date | null} moment */
export const shortTime = (moment) => (moment ? zoned(moment).toISOString().slice(11, 19) : "");

/** `2027-01-10 23:59:02 +08:00`. @param {string | Date | null} moment */
export const dateTime = (moment) =>
	moment ? `${zoned(moment).toISOString().slice(0, 19).replace("T", " ")} +08:00` : "";

/** The tooltip of a time: the moment, and its wall clock time. @param {string} at @param {string} [wall] */
export const bothTimes = (at, wall) => `${dateTime(at)}${wall ? `\nwall clock ${dateTime(wall)}` : ""}`;

/** `100.00`. @param {number | string | null | undefined} amount */
export const money = (amount) =>
	amount === null || amount === undefined || amount === ""
		? ""
		: Number(amount)
				.toFixed(2)
				.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** `MYR 100.00`, with a real minus. @param {number | string} amount */
export const sum = (amount) => `${Number(amount) < 0 ? "−" : ""}${CURRENCY} ${money(Math.abs(Number(amount)))}`;

/** `−100.00`, for a column that names the currency. @param {number | string} amount */
export const signed = (amount) => `${Number(amount) < 0 ? "−" : ""}${money(Math.abs(Number(amount)))}`;

/** `+100.00` or `−100.00`, what is added or taken. @param {number} amount */
export const change = (amount) => `${amount < 0 ? "−" : "+"}${money(Math.abs(amount))}`;

const UNITS = /** @type {[string, number][]} */ ([
	["d", 86_400_000],
	["h", 3_600_000],
	["min", 60_000],
	["s", 1000],
]);

/** `2 min 5 s`, two units at most. @param {number} span_ms */
export function span(span_ms) {
	let left = Math.abs(span_ms);
	if (left < 1000) return `${Math.round(left)} ms`;
	left = left < 60_000 ? Math.round(left / 100) * 100 : Math.round(left / 1000) * 1000;
	const parts = [];
	for (const [unit, size] of UNITS) {
		const count = unit === "s" ? left / size : Math.floor(left / size);
		if (count >= 1 && parts.length < 2) parts.push(`${Number(count.toFixed(1))} ${unit}`);
		left -= Math.floor(left / size) * size;
	}
	return parts.join(" ");
}

/** Microseconds as `0.2 ms`, `40 ms`, or `1 min 5 s`. @param {number} us */
export const took = (us) => (us < 10_000 ? `${(us / 1000).toFixed(1)} ms` : span(us / 1000));

/** `12,031`. @param {number} n */
export const count = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** `1 thing`, `2 things`. @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
