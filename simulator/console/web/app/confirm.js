// Ask for confirmation by name before an action that cannot be undone.

import { h } from "./dom.js";

/**
 * @param {{ title: string, text: string, name?: string, button: string }} of with `name`, that has to be typed
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, name, button }) {
	return new Promise((then) => {
		const field = /** @type {HTMLInputElement} */ (
			h("input", { id: "confirm-name", autocomplete: "off", spellcheck: "false" })
		);
		const go = /** @type {HTMLButtonElement} */ (
			h("button", { class: "main", value: "yes", disabled: Boolean(name) }, button)
		);
		field.addEventListener("input", () => {
			go.disabled = Boolean(name) && field.value !== name;
		});
		const asked = name && [h("label", { for: "confirm-name" }, "Type ", h("code", {}, name), " to continue"), field];
		const dialog = /** @type {HTMLDialogElement} */ (
			h(
				"dialog",
				{ "aria-labelledby": "confirm-title" },
				h(
					"form",
					{ method: "dialog" },
					h("h2", { id: "confirm-title" }, title),
					h("p", {}, text),
					h("div", { class: "field" }, asked),
					h(
						"div",
						{ class: "buttons" },
						h(
							"button",
							{ value: "no", formnovalidate: true, type: "button", onclick: () => dialog.close("no") },
							"Cancel",
						),
						go,
					),
				),
			)
		);
		dialog.addEventListener("close", () => {
			dialog.remove();
			then(dialog.returnValue === "yes");
		});
		document.body.append(dialog);
		dialog.showModal();
		(name ? field : go).focus();
	});
}
