// Bars and ranges as SVG. Each part has a pattern beside its colour and its number as text, so that it is read without colour.

import { h, svg } from "./dom.js";
import { visible } from "./safe-text.js";

/** @typedef {{ value: number, tone: string }} Part `tone` is the tone of a style: good, bad, wait, past */
/** @typedef {{ label: string, text: string, parts: Part[] }} Bar parts beside one another; `text` says their numbers */

const ROW_PX = 38;
const BAR_PX = 10;
export const CHAR_PX = 7.2;
let drawings = 0;

/**
 * A drawing with a name and a description for who does not see it.
 * @param {string} title @param {string} description @param {number} width @param {number} height @param {(id: string) => SVGElement[]} draw
 */
export function drawing(title, description, width, height, draw) {
	const id = `drawing-${++drawings}`;
	return svg(
		"svg",
		{ role: "img", width, height, viewBox: `0 0 ${width} ${height}`, "aria-labelledby": `${id}-title ${id}-text` },
		svg("title", { id: `${id}-title` }, title),
		svg("desc", { id: `${id}-text` }, description),
		...draw(id),
	);
}

/** @param {string} title @param {Bar[]} bars @param {number} width */
export function barsOf(title, bars, width) {
	const longest = Math.max(1e-9, ...bars.map((bar) => total(bar.parts)));
	const description = bars.map((bar) => `${visible(bar.label)}: ${bar.text}`).join("; ");
	return drawing(title, description, width, bars.length * ROW_PX, (id) => [
		patterns(id),
		...bars.flatMap((bar, at) => row(bar, at * ROW_PX, width, longest, id)),
	]);
}

/** @param {Part[]} parts */
const total = (parts) => parts.reduce((sum, part) => sum + part.value, 0);

/** @param {Bar} bar @param {number} y @param {number} width @param {number} longest @param {string} id */
function row(bar, y, width, longest, id) {
	const chars = Math.max(6, Math.floor((width - bar.text.length * CHAR_PX - 16) / CHAR_PX));
	const label = visible(bar.label);
	let x = 0;
	const parts = bar.parts.flatMap(({ value, tone }) => {
		if (!value) return [];
		const box = { x, y: y + 20, width: Math.max(2, (value / longest) * width - 1), height: BAR_PX };
		x += (value / longest) * width;
		return [svg("rect", { ...box, class: `fill-${tone}` }), svg("rect", { ...box, fill: `url(#${id}-${tone})` })];
	});
	return [
		svg("text", { x: 0, y: y + 14 }, label.length > chars ? `${label.slice(0, chars - 1)}…` : label),
		svg("text", { x: width, y: y + 14, class: "value", "text-anchor": "end" }, bar.text),
		svg("rect", { x: 0, y: y + 20, width, height: BAR_PX, class: "track" }),
		...parts,
	];
}

/** Good is full, bad is hatched, waiting is dotted, past has lines. @param {string} id */
function patterns(id) {
	const pattern = (/** @type {string} */ tone, /** @type {Record<string, any>} */ mark) =>
		svg(
			"pattern",
			{ id: `${id}-${tone}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
			svg("path", { class: "mark", ...mark }),
		);
	return svg(
		"defs",
		{},
		pattern("good", {}),
		pattern("bad", { d: "M-1 1l2-2M0 6l6-6M5 7l2-2" }),
		pattern("wait", { d: "M2 3h2" }),
		pattern("past", { d: "M0 1h6M0 4h6" }),
	);
}

/** The legend of a drawing with several marks. @param {[string, string][]} tones tone and its word */
export function legend(tones) {
	return h("p", { class: "legend past" }, ...tones.flatMap(([tone, word]) => [sample(tone), h("span", {}, word)]));
}

/** @param {string} tone */
function sample(tone) {
	const id = `drawing-${++drawings}`;
	const box = { width: 16, height: 10 };
	return svg(
		"svg",
		{ ...box, "aria-hidden": "true" },
		patterns(id),
		svg("rect", { ...box, class: `fill-${tone}` }),
		svg("rect", { ...box, fill: `url(#${id}-${tone})` }),
	);
}
