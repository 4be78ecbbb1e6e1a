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

const EXTENDS = /(?:^|[{,])\s*(["']?)extends\1\s*:/m;

/** What may stand before the first value: comments, empty lines, directives, the start of a document; then its margin. */
const BEFORE = /^\ufeff?((?:[ \t]*(?:#.*)?\r?\n|%.*\r?\n|---[ \t]*(?:#.*)?\r?\n)*)((?:---)?[ \t]*)(\{?)/;

/**
 * A scenario that extends this base, in a line before its first value, or within its brace.
 * @param {string} text @param {string} base its name @param {string} [comment] after it
 * @returns {{ text: string, before: number }} `before` is the number of inserted lines: none for a text with its own `extends`
 */
function over(text, base, comment = "") {
	if (EXTENDS.test(text)) return { text, before: 0 };
	const line = `extends: ${flow(base)}`;
	const [all, before, margin, brace] = /** @type {RegExpExecArray} */ (BEFORE.exec(text));
	const first = brace
		? `${margin}{ ${line},${comment}\n${" ".repeat(margin.length + 1)}`
		: `${margin}${line}${comment}\n${margin}`;
	return { text: before + first + text.slice(all.length), before: 1 };
}

/** The text in a form that the server can check without reading other files. @param {string} text */
export const checkable = (text) => over(text, (isBaseKnown() && store.sandbox?.origin?.name) || "default");

/** Rules as a file that `reseller-sim check` accepts, beside the sandbox's own where that is a file. @param {string} text */
export const asFile = (text) =>
	over(text, store.sandbox?.origin?.name ?? "default", store.sandbox?.origin ? "" : OWN).text;
