// Balances over time as SVG: steps, since a balance stays until the next entry. Each line has its own dashes and its name.

import { svg } from "./dom.js";
import { CHAR_PX, drawing } from "./drawing.js";
import { counted, dateTime, money, shortTime, sum } from "./format.js";
import { visible } from "./safe-text.js";

/** @typedef {{ name: string, points: [string, number][] }} Line */

const LEFT_MIN = 80;
const TOP = 12;
const BOTTOM = 24;
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 2", "12 4"];
export const LINES_MAX = DASHES.length;
const MOMENT_PX = 120; // a day and a time, with room beside them
const NAME_PX = 14;
const DAY_MS = 86_400_000;

/** @param {string} title @param {Line[]} lines at most `LINES_MAX` @param {Date} now where they end @param {number} width @param {number} height */
export function curveOf(title, lines, now, width, height) {
	const times = lines.flatMap((line) => line.points.map(([at]) => Date.parse(at)));
	const start = Math.min(...times, now.getTime());
	const span_ms = Math.max(now.getTime() - start, 1000);
	const amounts = lines.flatMap((line) => line.points.map(([, balance]) => balance));
	const levels = levelsOf(Math.min(...amounts), Math.max(...amounts));
	const [low, high] = [levels[0], levels[levels.length - 1]];
	const left = Math.max(LEFT_MIN, ...levels.map((level) => money(level).length * CHAR_PX + 12));
	const x = (/** @type {number} */ at) => left + ((at - start) / span_ms) * (width - left);
	const y = (/** @type {number} */ balance) => TOP + (1 - (balance - low) / (high - low)) * (height - TOP - BOTTOM);
	const description = lines.map((line) => described(line)).join("; ");
	return drawing(title, description, width, height, () => [
		...levels.flatMap((level) => [
			svg("line", { x1: left, x2: width, y1: y(level), y2: y(level), class: "grid" }),
			svg("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end", class: "value" }, money(level)),
		]),
		...moments(start, span_ms, x, left, width, height),
		...lines.map((line, at) => drawn(line, at, x, y, width)),
		...(lines.length > 1 ? names(lines, y, width, height) : []),
	]);
}

/** @param {Line} line */
function described({ name, points }) {
	const balances = points.map(([, balance]) => balance);
	const last = balances[balances.length - 1];
	return `${visible(name)}: ${sum(balances[0])} at ${dateTime(points[0][0])}, ${counted(points.length - 1, "point")} since, lowest ${sum(Math.min(...balances))}, highest ${sum(Math.max(...balances))}, ${sum(last)} at the end`;
}

/** @param {Line} line @param {number} at @param {(at: number) => number} x @param {(balance: number) => number} y @param {number} width */
function drawn({ points }, at, x, y, width) {
	const steps = points.map(([moment, balance], index) => {
		const to = `${x(Date.parse(moment)).toFixed(1)} ${y(balance).toFixed(1)}`;
		return index ? `H${to.replace(" ", "V")}` : `M${to}`;
	});
	return svg("path", { d: `${steps.join("")}H${width}`, class: "curve", "stroke-dasharray": DASHES[at] || undefined });
}

/** The names at the ends of the lines, each beneath the one before where both end near another. @param {Line[]} lines @param {(balance: number) => number} y @param {number} width @param {number} height */
function names(lines, y, width, height) {
	const ends = lines
		.map(({ name, points }) => ({ name, at: y(points[points.length - 1][1]) - 5 }))
		.sort((a, b) => a.at - b.at);
	let last = -Infinity;
	ends.forEach((one, index) => {
		const room = height - BOTTOM - (ends.length - index) * NAME_PX;
		one.at = last = Math.max(last + NAME_PX, Math.min(Math.max(one.at, TOP), room));
	});
	return ends.map(({ name, at }) =>
		svg("text", { x: width - 4, y: at, "text-anchor": "end", class: "line-name" }, visible(name).slice(0, 24)),
	);
}

/** Three to six round amounts around these. @param {number} low @param {number} high */
function levelsOf(low, high) {
	const range = high - low || Math.max(1, Math.abs(high) * 0.1);
	const rough = range / 3;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
	const first = Math.floor(low / step);
	const last = Math.max(Math.ceil(high / step), first + 1);
	return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

/** Times below, each once: close times are equal to the second. @param {number} start @param {number} span_ms @param {(at: number) => number} x @param {number} left @param {number} width @param {number} height */
function moments(start, span_ms, x, left, width, height) {
	const several = Math.min(4, Math.max(1, Math.floor((width - left) / MOMENT_PX)));
	const texts = Array.from({ length: several + 1 }, (_, index) => {
		const at = new Date(start + (span_ms * index) / several);
		return span_ms > DAY_MS ? dateTime(at).slice(5, 16) : shortTime(at);
	});
	return texts.flatMap((text, index) => {
		if (texts.indexOf(text) < index) return [];
		const at = start + (span_ms * index) / several;
		const anchor = index === 0 ? "start" : index === several ? "end" : "middle";
		return svg("text", { x: x(at), y: height - 6, "text-anchor": anchor, class: "value" }, text);
	});
}
