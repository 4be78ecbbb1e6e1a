// The picture of a story: lanes, a timeline, and a button for each item. On a phone, the buttons form a single column.

import { h, svg } from "../app/dom.js";
import { bothTimes, span, time } from "../app/format.js";
import { visible } from "../app/safe-text.js";
import { LANES } from "../app/timeline-items.js";

/** @typedef {import("../app/scale.js").Scale} Scale */

const LANE_PX = 28;
const NAMES_PX = 88;
const AXIS_PX = 32;
const MIDDLE_PX = LANE_PX / 2;
/** How much of the width is not for the scale. */
export const SIDES_PX = NAMES_PX + 16;

/** The boxes that the scale has to fit. @param {Thing[]} things @param {number} start @returns {import("../app/scale.js").Box[]} */
export const boxesOf = (things, start) =>
	things.map((one) => ({ at: one.at - start, end: one.end - start, lane: one.lane, chars: one.label.length }));

/**
 * @param {{ things: Thing[], start: number, scale: Scale, label: string, selected: string, prefix?: string, open: (id: string) => void }} of
 *   `start` is the moment at which the payment began; `prefix` distinguishes the buttons of two stories
 */
export function storyLine({ things, start, scale, label, selected, prefix = "", open }) {
	const rows = rowsOf(things);
	const height = AXIS_PX + rows.count * LANE_PX;
	const items = things.map((one) => {
		const y = AXIS_PX + (rows.of.get(one) ?? 0) * LANE_PX;
		const style = { "--x": `${NAMES_PX + scale.x(one.at - start)}px`, "--y": `${y}px` };
		return h("li", { style }, button(one, start, prefix + one.id === selected, prefix, open));
	});
	const style = { "--width": `${NAMES_PX + scale.width}px`, "--height": `${height}px` };
	const list = h("ol", { "aria-label": label }, ...items);
	return h(
		"div",
		{ class: "line" },
		h("div", { class: "plane", style }, drawing(things, start, scale, rows, height), list),
	);
}

/** @param {Thing} one @param {number} start @param {boolean} isOpen @param {string} prefix @param {(id: string) => void} open */
function button(one, start, isOpen, prefix, open) {
	const attributes = {
		class: `thing tone-${one.row.tone}${one.isDue ? " due" : ""}`,
		"data-id": prefix + one.id,
		"aria-expanded": String(isOpen),
		title: `${bothTimes(one.row.at, one.row.wall)}\n${time(one.row.at)}`,
		onclick: () => open(prefix + one.id),
	};
	return h(
		"button",
		attributes,
		h("span", { class: "lane" }, one.lane),
		h("span", { class: "mark" }, one.mark),
		h("span", { class: "label outside" }, visible(one.label)),
		h("span", { class: "when" }, `+${span(one.at - start)}`),
	);
}

/**
 * The rows of the lanes with items; simultaneous items of a lane get a row of their own below.
 * @param {Thing[]} things @returns {{ of: Map<Thing, number>, names: [string, number][], count: number }}
 */
function rowsOf(things) {
	/** @type {Map<Thing, number>} */
	const of = new Map();
	/** @type {[string, number][]} */
	const names = [];
	let count = 0;
	for (const lane of LANES) {
		const here = things.filter((one) => one.lane === lane);
		if (!here.length) continue;
		names.push([lane, count]);
		const at = new Map();
		for (const one of here) {
			const row = at.get(one.at) ?? 0;
			at.set(one.at, row + 1);
			of.set(one, count + row);
		}
		count += Math.max(...at.values());
	}
	return { of, names, count };
}

/** Lanes, ticks and bars, hidden from screen readers, since the list has the same facts. @param {Thing[]} things @param {number} start @param {Scale} scale @param {ReturnType<typeof rowsOf>} rows @param {number} height */
function drawing(things, start, scale, rows, height) {
	const width = NAMES_PX + scale.width;
	const x = (/** @type {number} */ at) => NAMES_PX + MIDDLE_PX + scale.x(at);
	const ends = new Set(things.map((one) => one.at - start));
	return svg(
		"svg",
		{ width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
		svg("text", { class: "name", x: 0, y: 16 }, "time"),
		svg("line", { class: "axis", x1: NAMES_PX, x2: width, y1: 24.5, y2: 24.5 }),
		...scale.ticks.flatMap((tick, index) => [
			svg("line", { class: "tick", x1: x(tick.at), x2: x(tick.at), y1: 20, y2: height }),
			ends.has(tick.at) &&
				svg("text", { class: "tick-name", x: x(tick.at), y: 14 }, index ? `+${span(tick.at)}` : span(tick.at)),
			tick.isBroken && breakAt((x(tick.at) + x(scale.ticks[index - 1].at)) / 2),
		]),
		...rows.names.flatMap(([name, row]) => {
			const y = AXIS_PX + row * LANE_PX;
			return [
				svg("line", { class: "lane-line", x1: 0, x2: width, y1: y + 0.5, y2: y + 0.5 }),
				svg("text", { class: "name", x: 0, y: y + MIDDLE_PX + 4 }, name),
			];
		}),
		...things
			.filter((one) => one.end > one.at)
			.map((one) => {
				const y = AXIS_PX + (rows.of.get(one) ?? 0) * LANE_PX + LANE_PX - 7;
				return svg("rect", {
					class: `bar tone-${one.row.tone}`,
					x: x(one.at - start),
					y,
					height: 5,
					width: Math.max(3, x(one.end - start) - x(one.at - start)),
				});
			}),
	);
}

/** Two strokes through the axis: time is cut here. @param {number} at */
const breakAt = (at) => svg("path", { class: "break", d: `M${at - 5} 29l4-9M${at} 29l4-9` });
