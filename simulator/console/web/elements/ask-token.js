// Asks for the control token, once in a tab.

import { h } from "../app/dom.js";

/** @param {string} retry why it is asked again, empty at first @returns {Promise<string>} */
export function askForToken(retry) {
	return new Promise((then) => {
		const field = /** @type {HTMLInputElement} */ (
			h("input", { type: "password", id: "control-token", autocomplete: "off", required: true })
		);
		const dialog = /** @type {HTMLDialogElement} */ (
			h(
				"dialog",
				{ "aria-labelledby": "token-title" },
				h(
					"form",
					{ method: "dialog" },
					h("h2", { id: "token-title" }, "Control token"),
					h(
						"p",
						{},
						"This simulator wants its control token. It was printed when the simulator started; this tab keeps it until it is closed.",
					),
					retry && h("p", { class: "mistake", role: "alert" }, retry),
					h("label", { for: "control-token" }, "Token"),
					field,
					h("div", { class: "buttons" }, h("button", { class: "main" }, "Continue")),
				),
			)
		);
		dialog.addEventListener("cancel", (event) => event.preventDefault());
		dialog.addEventListener("close", () => {
			dialog.remove();
			then(field.value.trim());
		});
		document.body.append(dialog);
		dialog.showModal();
	});
}
