// The search box of a list. Its text is part of the address, so its length is limited.

import { h } from "./dom.js";
import { count } from "./format.js";
import { say } from "./action-log.js";

export const SEARCH_CHARS_MAX = 2000;
export const TOO_LONG = `this takes ${count(SEARCH_CHARS_MAX)} characters at most`;

/**
 * One character more than may be is let in, so that the list knows that this is not what was meant.
 * @param {{ label: string, placeholder: string, oninput?: () => void, onchange?: () => void }} of
 * @returns {HTMLInputElement}
 */
export function searchBox({ label, placeholder, oninput, onchange }) {
	const box = /** @type {HTMLInputElement} */ (
		h("input", {
			type: "search",
			"aria-label": label,
			placeholder,
			maxlength: SEARCH_CHARS_MAX + 1,
			spellcheck: "false",
			autocomplete: "off",
			onchange,
			oninput: () => {
				if (box.value.length > SEARCH_CHARS_MAX) say(`${label}: ${TOO_LONG}; the rest was left out`);
				oninput?.();
			},
		})
	);
	return box;
}
