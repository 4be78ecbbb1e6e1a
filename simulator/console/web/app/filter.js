// The filter box: the words of the API. `refid:order-7 product:ELECTRIC status:401 refused -kind:action "any text"`.

/** @typedef {import("./rows.js").Row} Row @typedef {(row: Row) => boolean} Test */

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

const PART = /(-?)(?:([a-z]+):)?("[^"]*"?|\S+)/g;

/**
 * Reads what is in the box. Values are compared without case, and `*` stands for anything; bare words are looked for anywhere.
 * @param {string} text @returns {{ test: Test | null, mistake: string }} no test for an empty box
 */
export function filterOf(text) {
	/** @type {Test[]} */
	const tests = [];
	for (const [, minus, word, quoted] of text.matchAll(PART)) {
		const value = quoted.replaceAll('"', "");
		if (word && !(word in WORDS))
			return { test: null, mistake: `there is no ${word}: here; use ${Object.keys(WORDS).join(", ")}` };
		if (!value) continue;
		const test = word
			? compared(WORDS[word], value)
			: value === "refused"
				? (/** @type {Row} */ row) => row.refused
				: anywhere(value);
		tests.push(minus ? (row) => !test(row) : test);
	}
	return { test: tests.length ? (row) => tests.every((test) => test(row)) : null, mistake: "" };
}

/** @param {(row: Row) => string} of @param {string} value @returns {Test} */
function compared(of, value) {
	const wanted = value.toLowerCase();
	if (!wanted.includes("*")) return (row) => of(row).toLowerCase() === wanted;
	const pattern = new RegExp(`^${wanted.split("*").map(escaped).join(".*")}$`, "s");
	return (row) => pattern.test(of(row).toLowerCase());
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

/** @param {string} value @returns {Test} */
function anywhere(value) {
	const wanted = value.toLowerCase();
	return (row) =>
		[row.what, row.state, row.refid, row.trxid, row.product, row.rule, row.text].some((one) =>
			one.toLowerCase().includes(wanted),
		);
}
