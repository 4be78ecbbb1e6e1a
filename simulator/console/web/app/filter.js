// The filter box: the words of the API. `refid:order-7 product:ELECTRIC status:401 refused -kind:action "any text"`.

import { SEARCH_CHARS_MAX, TOO_LONG } from "./pieces.js";

/** @typedef {(row: any) => boolean} Test */

/** The words of the filter, each with what it compares. @type {Record<string, (row: Row) => string>} */
export const WORDS = {
	refid: (row) => row.refid,
	trxid: (row) => row.trxid,
	product: (row) => row.product,
	status: (row) => row.state,
	rule: (row) => row.rule,
	kind: (row) => row.kind,
	method: (row) => row.event.method ?? "",
	path: (row) => row.event.path ?? "",
	reseller: (row) => row.event.reseller ?? "",
	error: (row) => row.event.error ?? "",
	n: (row) => String(row.event.n ?? ""),
};

/** The words of a filter, in a sentence. @param {Record<string, unknown>} words */
export const wordsText = (words) =>
	`The words are ${Object.keys(words).join(", ")}, refused, and any text; a minus before a word excludes it.`;

const PART = /(-?)(?:([a-z]+):)?("[^"]*"?|\S+)/g;

/** Where bare words are looked for. @type {(row: Row) => string[]} */
const TEXTS = (row) => [row.what, row.state, row.refid, row.trxid, row.product, row.rule, row.text];

/**
 * Parse the text of the box. Values are compared without case; `*` matches anything, alone any value; bare words match anywhere.
 * @param {string} text @param {Record<string, (item: any) => string>} [words] of a list other than rows
 * @param {(item: any) => string[]} [texts]
 * @returns {{ test: Test | null, mistake: string }} no test for an empty box
 */
export function filterOf(text, words = WORDS, texts = TEXTS) {
	if (text.length > SEARCH_CHARS_MAX) return { test: null, mistake: `${TOO_LONG}; nothing is filtered` };
	/** @type {Test[]} */
	const tests = [];
	for (const [, minus, word, quoted] of text.matchAll(PART)) {
		const value = quoted.replaceAll('"', "");
		if (word && !Object.hasOwn(words, word))
			return { test: null, mistake: `there is no ${word}: here; use ${Object.keys(words).join(", ")}` };
		if (!value) continue;
		const test = word
			? compared(words[word], value)
			: value === "refused"
				? (/** @type {Row} */ row) => row.refused
				: anywhere(texts, value);
		tests.push(minus ? (row) => !test(row) : test);
	}
	return { test: tests.length ? (row) => tests.every((test) => test(row)) : null, mistake: "" };
}

/** @param {(row: Row) => string} of @param {string} value @returns {Test} */
function compared(of, value) {
	const wanted = value.toLowerCase();
	if (/^\*+$/.test(wanted)) return (row) => Boolean(of(row));
	if (!wanted.includes("*")) return (row) => of(row).toLowerCase() === wanted;
	const [first, ...parts] = wanted.split("*");
	const last = parts.pop() ?? "";
	return (row) => fits(of(row).toLowerCase(), first, parts, last);
}

/** Whether a text begins and ends so and has these parts between, in time that grows with its length. @param {string} text @param {string} first @param {string[]} parts @param {string} last */
function fits(text, first, parts, last) {
	let at = first.length;
	const end = text.length - last.length;
	if (at > end || !text.startsWith(first) || !text.endsWith(last)) return false;
	for (const part of parts) {
		const found = text.indexOf(part, at);
		if (found < 0 || found + part.length > end) return false;
		at = found + part.length;
	}
	return true;
}

/** @param {(row: Row) => string[]} texts @param {string} value @returns {Test} */
function anywhere(texts, value) {
	const wanted = value.toLowerCase();
	return (row) => texts(row).some((one) => one.toLowerCase().includes(wanted));
}
