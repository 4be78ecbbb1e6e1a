// A form for a value, made from its schema. It shows what is set and offers what else there is; what is nested unfolds in it.

import { h, put } from "../app/dom.js";
import { resolved, shapesOf, typesOf } from "../app/schema.js";
import { fieldText, isObject, valueOf } from "../app/values.js";

/**
 * @typedef {import("../app/schema.js").Schema} Schema
 * @typedef {{ root: Schema, changed: () => void }} Of
 * @typedef {(value: any) => void} Set
 */

const SHAPES = { one: "a value", list: "a list", object: "more" };
const HINT_CHARS_MAX = 220;
let ids = 0;

/**
 * The form of an object; `value` is changed in place, and `changed` called after it.
 * @param {Of} of @param {Schema} node @param {Record<string, any>} value @param {string} label @param {string[]} [first] keys that are shown without a value
 * @returns {HTMLElement}
 */
export function objectForm(of, node, value, label, first = []) {
	const whole = h("div", { class: "members", role: "group", "aria-label": label });
	/** @type {string[]} */
	const required = node.required ?? [];
	for (const key of [...required, ...first]) if (!(key in value)) value[key] = undefined;
	const known = Object.entries(node.properties ?? {});
	const draw = (focus = "") => {
		const shown = known.filter(([key]) => key in value);
		const others = known.filter(([key]) => !(key in value));
		const rows = shown.map(([key, one]) => {
			const remove = () => {
				delete value[key];
				of.changed();
				draw();
			};
			return member(of, one, key, value, required.includes(key) ? null : remove);
		});
		const add = (/** @type {string} */ key) => {
			value[key] = blank(of.root, node.properties[key]);
			of.changed();
			draw(key);
		};
		put(whole, ...rows, others.length > 0 && adder(of, others, label, add));
		/** @type {HTMLElement | null} */
		const field = focus ? whole.querySelector(`[data-key="${focus}"] :is(input, select)`) : null;
		field?.focus();
	};
	draw();
	return whole;
}

/** @param {Of} of @param {[string, Schema][]} others @param {string} label @param {(key: string) => void} add */
function adder(of, others, label, add) {
	const choices = others.map(([key, one]) =>
		h("option", { value: key, title: resolved(of.root, one).description }, key),
	);
	const chosen = (/** @type {any} */ event) => event.target.value && add(event.target.value);
	const attributes = { class: "add", "aria-label": `Add to ${label}`, onchange: chosen };
	return h("select", attributes, h("option", { value: "" }, "+ add …"), ...choices);
}

/** One member: its key, its editor, what it means. @param {Of} of @param {Schema} node @param {string} key @param {Record<string, any>} value @param {(() => void) | null} remove */
function member(of, node, key, value, remove) {
	const found = resolved(of.root, node);
	const id = `member-${++ids}`;
	const editor = valueForm(of, found, value[key], key, id, (next) => {
		value[key] = next;
	});
	const hint = (found.description ?? "").slice(0, HINT_CHARS_MAX);
	return h(
		"div",
		{ class: "member", "data-key": key },
		h("label", { for: id }, key),
		h("div", { class: "value" }, editor, h("small", { id: `${id}-hint`, class: "past" }, hint)),
		remove &&
			h("button", { class: "quiet", "aria-label": `Remove ${key}`, title: `remove ${key}`, onclick: remove }, "✕"),
	);
}

/** The editor of a value in any of its shapes. @param {Of} of @param {Schema} node @param {any} value @param {string} label @param {string} id @param {Set} set */
function valueForm(of, node, value, label, id, set) {
	const shapes = shapesOf(node);
	let shape = shapeOf(value, shapes);
	const place = h("div", { class: "shaped" });
	const draw = (/** @type {any} */ now) => {
		const select =
			shapes.length > 1 &&
			h(
				"select",
				{
					"aria-label": `How ${label} is written`,
					onchange: (/** @type {any} */ event) => {
						shape = event.target.value;
						const next = shape === "list" ? [] : shape === "object" ? {} : undefined;
						set(next);
						of.changed();
						draw(next);
					},
				},
				...shapes.map((one) => h("option", { value: one, selected: one === shape }, SHAPES[one])),
			);
		put(
			place,
			select,
			shape === "list"
				? listForm(of, node, now, label)
				: shape === "object"
					? objectForm(of, node, now, label)
					: oneForm(of, node, now, id, set),
		);
	};
	if (shape === "list" && !Array.isArray(value)) set((value = []));
	if (shape === "object" && !isObject(value)) set((value = {}));
	draw(value);
	return place;
}

/** @param {any} value @param {import("../app/schema.js").Shape[]} shapes */
function shapeOf(value, shapes) {
	const is = Array.isArray(value) ? "list" : isObject(value) ? "object" : "one";
	return shapes.includes(is) && value !== undefined ? is : shapes[0];
}

/** @param {Of} of @param {Schema} node @param {any[]} items @param {string} label */
function listForm(of, node, items, label) {
	const found = resolved(of.root, node.items);
	const whole = h("ol", { class: "items" });
	const draw = () => {
		const rows = items.map((item, index) => {
			const name = `${label} ${index + 1}`;
			const editor = valueForm(of, found, item, name, `member-${++ids}`, (next) => {
				items[index] = next;
			});
			const remove = () => {
				items.splice(index, 1);
				of.changed();
				draw();
			};
			return h("li", {}, editor, h("button", { class: "quiet", "aria-label": `Remove ${name}`, onclick: remove }, "✕"));
		});
		const add = () => {
			items.push(blank(of.root, node.items));
			of.changed();
			draw();
		};
		put(whole, ...rows, h("li", {}, h("button", { "aria-label": `Add to ${label}`, onclick: add }, "+ add")));
	};
	draw();
	return whole;
}

/** A field or choice. @param {Of} of @param {Schema} node @param {any} value @param {string} id @param {Set} set */
function oneForm(of, node, value, id, set) {
	const types = typesOf(node);
	const words = node.enum ?? (types.length === 1 && types[0] === "boolean" ? [true, false] : null);
	const shared = { id, "aria-describedby": `${id}-hint` };
	if (words) {
		const choose = (/** @type {any} */ event) => {
			set(event.target.value === "" ? undefined : words[Number(event.target.value)]);
			of.changed();
		};
		const options = words.map((/** @type {any} */ one, /** @type {number} */ at) =>
			h("option", { value: at, selected: one === value }, String(one)),
		);
		return h(
			"select",
			{ ...shared, onchange: choose },
			h("option", { value: "", selected: value === undefined }, "choose"),
			...options,
		);
	}
	const isText = types.length === 1 && types[0] === "string";
	const field = h("input", {
		...shared,
		value: value === undefined ? "" : isText ? String(value) : fieldText(value),
		placeholder: node["x-must-be"] ?? "",
		spellcheck: "false",
		autocomplete: "off",
		oninput: (/** @type {any} */ { target: { value: text } }) => {
			set(text === "" ? undefined : isText ? text : valueOf(text));
			of.changed();
		},
	});
	return h("span", { class: "one" }, field);
}

/** The initial value of a member. @param {Schema} root @param {Schema} node @returns {any} */
function blank(root, node) {
	const found = resolved(root, node);
	const shapes = shapesOf(found);
	if (shapes[0] === "list") return [];
	if (shapes[0] === "object") return {};
	if (found.enum) return found.enum[0];
	return typesOf(found).join() === "boolean" ? true : undefined;
}
