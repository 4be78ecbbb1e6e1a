// A key, name or secret: to copy, and shown on demand.

import { h, put } from "../app/dom.js";
import { short } from "../app/safe-text.js";
import { copy } from "../app/action-log.js";

/** A value to copy; a secret one is shown on demand. @param {string} name @param {string} value @param {boolean} isSecret */
export function credential(name, value, isSecret) {
	const shown = h("code", {}, isSecret ? "••••••••" : short(value));
	const button = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
		h("button", { class: "quiet", "aria-label": `${label} the ${name}`, onclick }, text);
	const show = isSecret && button("Show", "show", () => put(shown, short(value)));
	return h(
		"span",
		{ class: "credential" },
		shown,
		show,
		button("Copy", "copy", () => copy(value, `the ${name}`)),
	);
}
