// Text from outside on the screen: bounded, control characters made visible, JSON in lines, and never longer than can be read.

import { h, put } from "./dom.js";
import { count } from "./format.js";

const FIRST_CHARS = 20_000;
const MORE_CHARS = 200_000;
const PRETTY_CHARS = 200_000;
// Controls but for line feed and tab, and what turns the direction of what follows.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text with every character visible: `␀` for a zero byte, `⟨202E⟩` for a change of the direction. @param {string} text */
export function visible(text) {
	return text.replace(UNSEEN, (one) => {
		const code = one.charCodeAt(0);
		return code < 32 ? String.fromCharCode(0x2400 + code) : `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
	});
}

/** A short text from outside, for a cell or a line. @param {unknown} value @param {number} [chars_max] */
export function short(value, chars_max = 200) {
	const text = String(value ?? "");
	const cut = text.length > chars_max ? `${text.slice(0, chars_max)}…` : text;
	return h(
		"span",
		{ class: "outside", title: cut === text ? undefined : `${count(text.length)} characters` },
		visible(cut),
	);
}

/**
 * A body as it is read: JSON in lines where it is some, the beginning of a long one with a button for more.
 * @param {string | null | undefined} body @param {{ bytes?: number, label?: string }} [of] `bytes` when the journal has cut it
 */
export function bodyOf(body, { bytes, label = "body" } = {}) {
	if (!body) return h("p", { class: "past" }, "no body");
	const text = pretty(body);
	const shown = h("pre", { tabindex: "0", "aria-label": label });
	const whole = h("div", { class: "body" }, shown);
	let end = 0;
	const more = h("button", { onclick: () => grow(MORE_CHARS) });
	const grow = (/** @type {number} */ by) => {
		shown.append(visible(text.slice(end, end + by)));
		end = Math.min(text.length, end + by);
		put(more, `show more of ${count(text.length)} characters`);
		if (end < text.length) whole.append(more);
		else more.remove();
	};
	grow(FIRST_CHARS);
	if (bytes !== undefined && bytes > new Blob([body]).size)
		whole.append(h("p", { class: "past" }, `the journal kept the beginning of ${count(bytes)} bytes`));
	return whole;
}

/** @param {string} body */
function pretty(body) {
	if (body.length > PRETTY_CHARS || !/^\s*[[{]/.test(body)) return body;
	try {
		JSON.parse(body);
		return indented(body);
	} catch {
		return body;
	}
}

/** JSON in lines without reading its numbers, which a browser would round. @param {string} json */
function indented(json) {
	let depth = 0;
	const line = () => `\n${"  ".repeat(depth)}`;
	return json.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|\s+|[{}[\],:]/g, (token) => {
		if (token[0] === '"') return token;
		if (/^\s+$/.test(token)) return "";
		if (token === ":") return ": ";
		if (token === ",") return `,${line()}`;
		if (token.length > 1) return token.replace(/\s+/g, "");
		depth += token === "{" || token === "[" ? 1 : -1;
		return token === "{" || token === "[" ? token + line() : line() + token;
	});
}

/** Headers as a list of terms. @param {[string, string][] | Record<string, string>} headers */
export function headersOf(headers) {
	const pairs = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
	return h(
		"dl",
		{ class: "pairs" },
		...pairs.flatMap(([name, value]) => [h("dt", {}, short(name)), h("dd", {}, short(value, 2000))]),
	);
}
