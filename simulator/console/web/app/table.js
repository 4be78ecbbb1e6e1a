// A table with a caption, for what is few enough to stand on the page; long lists are `<sim-list>`. On a phone each row is
// a card, whose cells begin with the names of their columns.

import { h } from "./dom.js";

/** A column of numbers. @template T @param {(item: T) => Child} cell @returns {Cell<T>} */
export const number = (cell) => Object.assign(cell, { isNumber: true });

/**
 * @template T
 * @param {string} caption @param {Record<string, Cell<T>> | [string, Cell<T>][]} columns by their names @param {T[]} items
 * @param {string} [none] the text of an empty table @param {(item: T) => boolean} [isMarked] whether the address leads to this row
 */
export function table(caption, columns, items, none = "none", isMarked = () => false) {
	const all = Array.isArray(columns) ? columns : Object.entries(columns);
	const kind = (/** @type {Cell<T>} */ cell) => cell.isNumber && "number";
	const heads = all.map(([name, cell]) => h("th", { scope: "col", class: kind(cell) }, name));
	const rows = items.map((item) => {
		const cells = all.map(([name, cell]) => h("td", { class: kind(cell), "data-name": name }, cell(item)));
		return h("tr", { "aria-current": isMarked(item) && "true" }, ...cells);
	});
	const empty = items.length === 0 && h("tr", {}, h("td", { colspan: all.length, class: "past" }, none));
	const whole = [h("caption", {}, caption), h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows, empty)];
	return h("div", { class: "table" }, h("table", {}, ...whole));
}
