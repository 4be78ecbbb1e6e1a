// A short form: fields with labels, one button, and what was wrong beside the field that it is about.

import { Refused } from "./api.js";
import { h, once, put } from "./dom.js";
import { visible } from "./safe-text.js";

/**
 * @param {{ fields: Field[], submit: string, label: string, run: (values: Record<string, string>) => unknown, main?: boolean }} of
 *   `run` gets the texts of the fields; what it throws is shown in place
 * @returns {HTMLFormElement}
 */
export function form({ fields, submit, label, run, main = false }) {
	const inputs = new Map(fields.map((field) => [field.name, input(field)]));
	const mistake = h("span", { class: "mistake", role: "alert" });
	const button = h("button", { class: main && "main", onclick: once(() => {}) }, submit);
	const send = async (/** @type {Event} */ event) => {
		event.preventDefault();
		put(mistake);
		for (const one of inputs.values()) one.removeAttribute("aria-invalid");
		button.disabled = true;
		try {
			await run(Object.fromEntries([...inputs].map(([name, one]) => [name, one.value])));
		} catch (failure) {
			if (!(failure instanceof Error)) throw failure;
			put(mistake, visible(failure.message));
			blame(failure, fields, inputs);
		} finally {
			button.disabled = false;
		}
	};
	const rows = fields.map((field) => row(field, /** @type {Control} */ (inputs.get(field.name))));
	return h("form", { class: "short", "aria-label": label, onsubmit: send }, ...rows, button, mistake);
}

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

let ids = 0;

/** @param {Field} field @returns {Control} */
function input(field) {
	const id = `field-${++ids}`;
	const shared = { id, name: field.name, required: field.required, "aria-describedby": field.hint && `${id}-hint` };
	const { value = "", size } = field;
	if (!field.options) return h("input", { ...shared, value, size, spellcheck: "false", autocomplete: "off" });
	const options = field.options.map((one) => (Array.isArray(one) ? one : [one, visible(one)]));
	return h("select", shared, ...options.map(([of, text]) => h("option", { value: of, selected: of === value }, text)));
}

/** @param {Field} field @param {Control} control */
function row(field, control) {
	const hint = field.hint && h("small", { id: `${control.id}-hint`, class: "past" }, field.hint);
	return h("div", { class: "field" }, h("label", { for: control.id }, field.label), control, hint);
}

/** Mark the field that a refusal is about. @param {Error} failure @param {Field[]} fields @param {Map<string, Control>} inputs */
function blame(failure, fields, inputs) {
	if (!(failure instanceof Refused) || !failure.path) return;
	const found = fields.find((field) => (field.path ?? field.name) === failure.path);
	const control = found && inputs.get(found.name);
	control?.setAttribute("aria-invalid", "true");
	control?.focus();
}
