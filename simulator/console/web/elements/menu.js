// A menu of actions, by pointer, arrows, or the key that each has.

import { h } from "../app/dom.js";

/** @typedef {import("../app/actions.js").Action} Action */

/** @param {string} title @param {Action[]} actions @param {(action: Action) => void} run */
export function openMenu(title, actions, run) {
	const pick = (/** @type {Action} */ one) => {
		dialog.close();
		run(one);
	};
	const buttons = actions.map((one) =>
		h(
			"button",
			{ class: "quiet", onclick: () => pick(one) },
			h("span", {}, one.name),
			one.key && h("kbd", {}, one.key),
		),
	);
	const dialog = /** @type {HTMLDialogElement} */ (
		h("dialog", { class: "menu", "aria-label": title }, h("h2", {}, title), ...buttons)
	);
	dialog.addEventListener("keydown", (event) => {
		if (event.key === "Escape") return event.stopPropagation();
		const now = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
		const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
		if (step) buttons[(now + step + buttons.length) % buttons.length].focus();
		const found = actions.find((one) => one.key === event.key && event.key.length === 1);
		if (found) pick(found);
		if (step || found) event.preventDefault();
		event.stopPropagation();
	});
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
	buttons[0]?.focus();
}
