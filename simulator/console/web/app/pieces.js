// Small parts that several views have: times, facts, marks, shares, and the controls whose values are in the address.

import { say } from "./action-log.js";
import { h, redraw } from "./dom.js";
import { bothTimes, count, time } from "./format.js";
import { place, setQuery } from "./router.js";
import { MARKS, toneOf } from "./rows.js";

/** A time of the sandbox; the day and the wall clock's time on hover. @param {string} at @param {string} [wall] */
export const moment = (at, wall) => h("time", { title: bothTimes(at, wall) }, time(at));

/** The names and values that are there. @param {[string, Child][]} pairs */
export const facts = (pairs) =>
	h(
		"dl",
		{ class: "pairs" },
		...pairs.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
	);

/** The button that closes what is open beside or below a list, without a keyboard. @param {() => void} onclick */
export const closeButton = (onclick) =>
	h("button", { class: "quiet close", "aria-label": "Close the details", title: "key Escape", onclick }, "✕");

/** @param {...Child} children of less weight */
export const past = (...children) => h("p", { class: "past" }, ...children);

/** A state with its mark. @param {Tone} tone @param {string} text */
export const marked = (tone, text) => h("span", { class: `marked tone-${tone}` }, `${MARKS[tone]} ${text}`);

/** A payment's status with its mark. @param {string} status */
export const statusOf = (status) => marked(toneOf(status), status);

/** How much of something, as a bar and in words. @param {string} name @param {number} part @param {number} all @param {string} [word] */
export function share(name, part, all, word = "met") {
	const full = h("span", { style: { width: `${all ? (100 * part) / all : 0}%` } });
	const bar = h("span", { class: "share-bar", "aria-hidden": "true" }, full);
	return h("p", { class: "share" }, h("b", {}, name), bar, `${part} of ${all} ${word}`);
}

/** Draw the links to the parts of a view. @param {Element} nav @param {[title: string, href: string, isCurrent: boolean][]} links */
export const drawParts = (nav, links) =>
	redraw(nav, ...links.map(([title, href, isCurrent]) => h("a", { href, "aria-current": isCurrent && "page" }, title)));

export const SEARCH_CHARS_MAX = 2000;
export const TOO_LONG = `this takes ${count(SEARCH_CHARS_MAX)} characters at most`;

/**
 * The search box of a list, whose text is in the address as it is typed, or once it is entered. One character more than
 * may be is let in, so that the list knows that this is not what was meant.
 * @param {string} name in the address @param {string} label @param {string} placeholder @param {"oninput" | "onchange"} [when]
 */
export function searchBox(name, label, placeholder, when = "oninput") {
	/** @type {HTMLInputElement} */
	const box = h("input", {
		type: "search",
		name,
		"data-when": when,
		"aria-label": label,
		placeholder,
		maxlength: SEARCH_CHARS_MAX + 1,
		spellcheck: "false",
		autocomplete: "off",
		[when]: () => {
			if (box.value.length > SEARCH_CHARS_MAX) say(`${label}: ${TOO_LONG}; the rest was left out`);
			setQuery({ [name]: when === "oninput" ? box.value : box.value.trim() });
		},
	});
	return box;
}

/** A choice whose value is in the address. @param {string} name @param {string} label @param {string} all the text of none @param {[string, string][]} options */
export function queryChoice(name, label, all, options) {
	/** @type {HTMLSelectElement} */
	const select = h(
		"select",
		{ name, "aria-label": label, onchange: () => setQuery({ [name]: select.value }) },
		...[["", all], ...options].map(([value, text]) => h("option", { value }, text)),
	);
	return select;
}

/** Give controls the values of the address, but a box whose text is being written. @param {...(HTMLInputElement | HTMLSelectElement)} controls */
export function showQuery(...controls) {
	for (const one of controls) {
		const text = place.query.get(one.name) ?? "";
		const isWritten = one === document.activeElement && one.dataset.when === "onchange";
		if (one.value !== text && !isWritten) one.value = text;
	}
}
