// Asks for the control token, once in a tab.

import { canBeToken } from "../app/api.js";
import { h, say } from "../app/dom.js";
import { visible } from "../app/safe-text.js";

/** @param {string} retry why it is asked again, empty at first @returns {Promise<string>} what can be sent as a token */
export function askForToken(retry) {
	return new Promise((then) => {
		const field = /** @type {HTMLInputElement} */ (
			h("input", { type: "password", id: "control-token", autocomplete: "off", required: true })
		);
		const mistake = h("p", { class: "mistake", role: "alert" }, retry);
		const refuse = (/** @type {Event} */ event) => {
			if (canBeToken(field.value.trim())) return;
			event.preventDefault();
			say(mistake, whyNot(field.value.trim()));
			field.select();
		};
		const dialog = /** @type {HTMLDialogElement} */ (
			h(
				"dialog",
				{ "aria-labelledby": "token-title" },
				h(
					"form",
					{ method: "dialog", onsubmit: refuse },
					h("h2", { id: "token-title" }, "Control token"),
					h(
						"p",
						{},
						"Enter the control token, which the simulator printed at its start. This tab keeps it until it is closed.",
					),
					mistake,
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

/** Which character no header can carry, and where. @param {string} text */
function whyNot(text) {
	const at = [...text].findIndex((one) => !canBeToken(one));
	if (at < 0) return "A token has at least one character.";
	const found = [...text][at];
	return `A token has only ASCII letters, digits and signs; character ${at + 1} is ${visible(found)}.`;
}
