// A text as a file of the person's own, and rules as a scenario that stands alone.

import { h } from "./dom.js";
import { store } from "./store.js";
import { flow } from "./values.js";

const OWN = " # this sandbox's scenario came in a request; what a rule names and default lacks has to stand here, too";

// A browser that is busy begins to read a download late, and one that is let go before then never comes.
const KEPT_MS = 60_000;

/** @param {string} text @param {string} name */
export function download(text, name) {
	const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** Whether the server can read what the sandbox was made of. */
export const isBaseKnown = () => ["bundled", "folder"].includes(store.sandbox?.origin?.source ?? "");

/** @param {string} text */
const extendsOne = (text) => /(?:^|[{,])\s*(["']?)extends\1\s*:/m.test(text);

/**
 * A scenario that extends this base: one more line, before the first with something in it or within its brace.
 * @param {string} text @param {string} base its name @param {string} [comment] after it
 * @returns {{ text: string, line: number }} `line` is the inserted line; 0 for a text with its own `extends`
 */
function over(text, base, comment = "") {
	if (extendsOne(text)) return { text, line: 0 };
	const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
	// The lines before the first value: comments, directives, the start of a document.
	const found = lines.findIndex((one) => !/^\s*(?:#.*)?$|^%|^---\s*(?:#.*)?$/.test(one));
	const at = found < 0 ? lines.length : found;
	const first = lines[at] ?? "";
	const brace = /^(?:---)?\s*\{/.exec(first)?.[0];
	const put = brace
		? [`${brace} extends: ${flow(base)},${comment}`, " ".repeat(brace.length) + first.slice(brace.length)]
		: [`${/^\s*/.exec(first)?.[0]}extends: ${flow(base)}${comment}`, first];
	return { text: [...lines.slice(0, at), ...put, ...lines.slice(at + 1)].join("\n"), line: at + 1 };
}

/** The text in a form that the server can check without reading other files. @param {string} text */
export const checkable = (text) => over(text, (isBaseKnown() && store.sandbox?.origin?.name) || "default");

/** Rules as a file that `reseller-sim check` accepts, beside the sandbox's own where that is a file. @param {string} text */
export const asFile = (text) =>
	over(text, store.sandbox?.origin?.name ?? "default", store.sandbox?.origin ? "" : OWN).text;
