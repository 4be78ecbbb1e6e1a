// The dialogs of the page: a menu of actions, a question before what cannot be undone, and the control token.

import { canBeToken } from "../app/api.js";
import { h, say } from "../app/dom.js";
import { visible } from "../app/safe-text.js";

let ids = 0;

/** Open a dialog, which is removed when it closes. @param {string} title @param {Child[]} children @param {string} [kind] @returns {HTMLDialogElement} */
function opened(title, children, kind) {
	const id = `dialog-${++ids}`;
	const dialog = h("dialog", { class: kind, "aria-labelledby": id }, h("h2", { id }, title), ...children);
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}

/** A menu of actions, by pointer, arrows, or the key that each has. @param {string} title @param {Action[]} actions @param {(action: Action) => void} run */
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
	const dialog = opened(title, buttons, "menu");
	dialog.addEventListener("keydown", (event) => {
		if (event.key === "Escape") return event.stopPropagation();
		const now = buttons.findIndex((one) => one === document.activeElement);
		const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
		if (step) buttons[(now + step + buttons.length) % buttons.length].focus();
		const found = actions.find((one) => one.key === event.key && event.key.length === 1);
		if (found) pick(found);
		if (step || found) event.preventDefault();
		event.stopPropagation();
	});
	buttons[0]?.focus();
}

/**
 * Ask before an action that cannot be undone.
 * @param {{ title: string, text: string, name?: string, button: string }} of with `name`, that has to be typed
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, name, button }) {
	const field = h("input", { id: "confirm-name", autocomplete: "off", spellcheck: "false" });
	const go = h("button", { class: "main", value: "yes", disabled: Boolean(name) }, button);
	field.addEventListener("input", () => (go.disabled = Boolean(name) && field.value !== name));
	const asked = name && [h("label", { for: "confirm-name" }, "Type ", h("code", {}, name), " to continue"), field];
	const form = h(
		"form",
		{ method: "dialog" },
		h("p", {}, text),
		h("div", { class: "field" }, asked),
		h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => dialog.close("no") }, "Cancel"), go),
	);
	const dialog = opened(title, [form]);
	(name ? field : go).focus();
	return new Promise((then) => dialog.addEventListener("close", () => then(dialog.returnValue === "yes")));
}

/** Ask for the control token, once in a tab. @param {string} retry why it is asked again, empty at first @returns {Promise<string>} what can be sent as a token */
export function askForToken(retry) {
	const field = h("input", { type: "password", id: "control-token", autocomplete: "off", required: true });
	const mistake = h("p", { class: "mistake", role: "alert" }, retry);
	const refuse = (/** @type {Event} */ event) => {
		if (canBeToken(field.value.trim())) return;
		event.preventDefault();
		say(mistake, whyNot(field.value.trim()));
		field.select();
	};
	const text =
		"Enter the control token, which the simulator printed at its start. This tab keeps it until it is closed.";
	const form = h(
		"form",
		{ method: "dialog", onsubmit: refuse },
		h("p", {}, text),
		mistake,
		h("label", { for: "control-token" }, "Token"),
		field,
		h("div", { class: "buttons" }, h("button", { class: "main" }, "Continue")),
	);
	const dialog = opened("Control token", [form]);
	dialog.addEventListener("cancel", (event) => event.preventDefault());
	return new Promise((then) => dialog.addEventListener("close", () => then(field.value.trim())));
}

/** Which character no header can carry, and where. @param {string} text */
function whyNot(text) {
	const at = [...text].findIndex((one) => !canBeToken(one));
	if (at < 0) return "A token has at least one character.";
	const found = visible([...text][at]);
	return `A token has only ASCII letters, digits and signs; character ${at + 1} is ${found}.`;
}
