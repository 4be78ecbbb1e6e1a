// Where moments stand on a line of time. Long gaps are drawn short, in steps that grow with the logarithm, and marked as broken.

import { span } from "./format.js";

/**
 * @typedef {{ at: number, end: number, lane: string, chars: number }} Box a label at a moment, in milliseconds from the start
 * @typedef {{ at: number, x: number, isBroken: boolean }} Tick `isBroken` when the gap before it is drawn shorter than the others
 * @typedef {{ ticks: Tick[], width: number, x: (at: number) => number }} Scale
 */

const CHAR_PX = 7.3;
const MARK_PX = 26;
const STRETCH_MAX = 1.8;

/** @param {Box[]} boxes @param {number} width_px what there is room for; more is used where labels need it @returns {Scale} */
export function scaleOf(boxes, width_px) {
	const moments = [...new Set(boxes.flatMap((box) => [box.at, box.end]))].sort((a, b) => a - b);
	/** @type {Map<string, number>} where the last label of a lane ends */
	const ends = new Map();
	/** @type {Map<number, number>} */
	const places = new Map();
	let last = 0;
	moments.forEach((at, index) => {
		const step = index ? 24 + 26 * Math.log10(1 + (at - moments[index - 1]) / 100) : 0;
		const here = boxes.filter((box) => box.at === at);
		const free = Math.max(0, ...here.map((box) => ends.get(box.lane) ?? 0), ends.get("axis") ?? 0);
		last = Math.max(last + step, index ? free : 0);
		places.set(at, last);
		for (const box of here) ends.set(box.lane, Math.max(ends.get(box.lane) ?? 0, last + MARK_PX + box.chars * CHAR_PX));
		ends.set("axis", last + Math.max(72, (span(at).length + 2) * CHAR_PX));
	});
	const needed = Math.max(last, ...ends.values());
	const stretch = Math.min(STRETCH_MAX, Math.max(1, (width_px - (needed - last)) / Math.max(1, last)));
	const x = (/** @type {number} */ at) => (places.get(at) ?? 0) * stretch;
	return { ticks: ticksOf(moments, x), width: Math.max(width_px, needed - last + last * stretch), x };
}

/** @param {number[]} moments @param {(at: number) => number} x @returns {Tick[]} */
function ticksOf(moments, x) {
	const pace = moments.slice(1).map((at, index) => (at - moments[index]) / Math.max(1, x(at) - x(moments[index])));
	const slowest = Math.min(...pace.filter((one) => one > 0), Infinity);
	return moments.map((at, index) => ({ at, x: x(at), isBroken: index > 0 && pace[index - 1] > slowest * 2 }));
}
