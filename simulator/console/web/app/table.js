// A table with a caption, for what is few enough to stand on the page; long lists are `<sim-list>`. On a phone each row is
// a card, whose cells begin with the names of their columns.

import { h } from "./dom.js";

/**
 * @template T
 * @typedef {{ name: string, cell: (item: T) => import("./dom.js").Child, number?: boolean }} Column
 */

/**
 * @template T
 * @param {string} caption @param {Column<T>[]} columns @param {T[]} items @param {string} [none] the text of an empty table
 * @param {(item: T) => boolean} [isMarked] whether the address leads to this row
 */
export function table(caption, columns, items, none = "none", isMarked = () => false) {
	const kind = (/** @type {Column<T>} */ column) => (column.number ? "number" : undefined);
	return h(
		"div",
		{ class: "table" },
		h(
			"table",
			{},
			h("caption", {}, caption),
			h(
				"thead",
				{},
				h("tr", {}, ...columns.map((column) => h("th", { scope: "col", class: kind(column) }, column.name))),
			),
			h(
				"tbody",
				{},
				...items.map((item) =>
					h(
						"tr",
						{ "aria-current": isMarked(item) && "true" },
						...columns.map((column) => h("td", { class: kind(column), "data-name": column.name }, column.cell(item))),
					),
				),
				items.length === 0 && h("tr", {}, h("td", { colspan: columns.length, class: "past" }, none)),
			),
		),
	);
}
