// A key, name or secret: to copy, and shown on demand.

import { h, put } from "../app/dom.js";
import { short } from "../app/safe-text.js";
import { copy } from "../app/action-log.js";

/** A value to copy; a secret one is shown on demand. @param {string} name @param {string} value @param {boolean} isSecret */
export function credential(name, value, isSecret) {
	const shown = h("code", {}, isSecret ? "••••••••" : short(value));
	const show =
		isSecret &&
		h("button", { class: "quiet", "aria-label": `Show the ${name}`, onclick: () => put(shown, short(value)) }, "show");
	return h(
		"span",
		{ class: "credential" },
		shown,
		show,
		h(
			"button",
			{ class: "quiet", "aria-label": `Copy the ${name}`, onclick: () => copy(value, `the ${name}`) },
			"copy",
		),
	);
}
