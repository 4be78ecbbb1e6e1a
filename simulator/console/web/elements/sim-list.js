// A list of any length; only its visible rows exist. It is a grid to the keyboard and to a screen reader.
// In a frame it measures nothing: sizes come from an observer and the scroll position from its event, so that drawing
// never makes the browser lay out twice.

import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";

/**
 * @typedef {{
 *   label: string,
 *   columns: ListColumn[],
 *   key: (item: any) => string,
 *   tone?: (item: any) => string,
 *   open?: (item: any) => void,
 *   select?: (item: any) => void,
 *   empty?: () => Node,
 *   end?: () => void,
 * }} Of `end` is called when the last items are near, for who reads pages
 * @typedef {{ row: HTMLElement, item: any, at: number }} Drawn
 */

const OVERSCAN = 8;

/** Set `items`, newest first, as often as they change. */
export class SimList extends SimElement {
	/** @param {Of} of */
	constructor(of) {
		super();
		this.of = of;
		/** @type {any[]} */
		this.all = [];
		/** All items, while new ones of them wait for the list to be scrolled back to its top. @type {any[] | null} */
		this.waiting = null;
		this.selected = "";
		/** The key of the address that is not scrolled to yet: its item may still be read. */
		this.sought = "";
		/** @type {Map<string, Drawn>} in the order of the document, which is that on the screen */
		this.drawn = new Map();
		this.top = 0;
		this.room = 0;
		this.rowHeight = 28;
		this.body = h("div", { class: "rows", role: "rowgroup" });
		this.scroller = h(
			"div",
			{ class: "scroller", role: "grid", tabindex: "0", "aria-label": of.label },
			this.row(
				{ class: "row head", role: "row", "aria-rowindex": "1" },
				"columnheader",
				(column) => column.name ?? column.class,
			),
			this.body,
		);
		this.more = h("button", { class: "more", hidden: true, onclick: () => this.toTop() });
		this.none = h("div", { class: "empty" });
	}

	start() {
		put(this, this.more, this.scroller, this.none);
		this.listen(this.scroller, "scroll", () => this.scrolled());
		this.listen(this.scroller, "wheel", () => (this.sought = ""));
		this.listen(this.body, "click", (event) => this.clicked(event));
		this.listen(this.body, "dblclick", (event) => this.clicked(event, true));
		this.resized(() => this.measure());
		/** @type {[string, string, () => void][]} */
		const keys = [
			["j", "next row", () => this.move(1)],
			["k", "row before", () => this.move(-1)],
			["ArrowDown", "next row", () => this.move(1)],
			["ArrowUp", "row before", () => this.move(-1)],
			["Home", "newest row", () => this.moveTo(0)],
			["End", "oldest row", () => this.moveTo(this.all.length - 1)],
			["PageDown", "a page on", () => this.move(this.page())],
			["PageUp", "a page back", () => this.move(-this.page())],
			["Enter", "open the row", () => this.openSelected()],
		];
		this.keys(keys.map(([key, does, run]) => ({ key, does, group: "List", run })));
		this.draw();
	}

	/** Newest first. Rows do not move under the pointer: while the list is scrolled, a button shows the new rows. @param {any[]} items */
	set items(items) {
		const first = this.top < 4 || !this.all.length ? "" : this.of.key(this.all[0]);
		const fresh = first ? items.findIndex((item) => item === this.all[0] || this.of.key(item) === first) : 0;
		this.waiting = fresh > 0 ? items : null;
		this.all = fresh > 0 ? items.slice(fresh) : items;
		this.more.hidden = !this.waiting;
		say(this.more, `${fresh} new ↑`);
		this.draw();
		this.seek();
	}

	get items() {
		return this.all;
	}

	toTop() {
		if (this.waiting) this.all = this.waiting;
		this.waiting = null;
		this.more.hidden = true;
		this.goTo(0);
		this.scroller.focus();
	}

	scrolled() {
		this.top = this.scroller.scrollTop;
		if (this.waiting && this.top < 4) this.toTop();
		else this.draw();
	}

	/** How much is seen, and the height of a row as the style sheet has it: it is another on a phone. The selected row stays in sight. */
	measure() {
		const at = this.indexOf(this.selected);
		const wasSeen = this.sees(at);
		this.room = this.scroller.clientHeight;
		this.top = this.scroller.scrollTop;
		this.rowHeight = parseFloat(getComputedStyle(this).getPropertyValue("--row")) || 28;
		this.draw();
		this.seek();
		if (wasSeen) this.reveal(at);
	}

	/** @param {number} top */
	goTo(top) {
		this.draw();
		this.scroller.scrollTop = top;
		this.top = this.scroller.scrollTop;
		this.draw();
	}

	page() {
		return Math.max(1, Math.floor(this.room / this.rowHeight) - 2);
	}

	/** Create the visible rows, reuse drawn rows, and drop the others. */
	draw() {
		const { body, none, rowHeight, all } = this;
		if (!all.length && this.of.empty) put(none, this.of.empty());
		else if (none.firstChild) put(none);
		const first = Math.max(0, Math.min(Math.floor(this.top / rowHeight) - OVERSCAN, all.length - 1));
		const last = Math.min(all.length, Math.ceil((this.top + this.room) / rowHeight) + OVERSCAN);
		body.style.height = `${all.length * rowHeight}px`;
		body.style.paddingTop = `${first * rowHeight}px`;
		this.scroller.setAttribute("aria-rowcount", String(all.length + 1));
		this.place(first, last);
		this.mark();
		if (all.length && last === all.length) this.of.end?.();
	}

	/** Rows that stay are never moved, so that a link in them keeps the focus. @param {number} first @param {number} last */
	place(first, last) {
		/** @type {Map<string, Drawn>} */
		const seen = new Map();
		for (let at = first; at < last; at++) {
			const item = this.all[at];
			const key = this.of.key(item);
			const before = this.drawn.get(key);
			seen.set(key, before && before.item === item ? before : { row: this.rowOf(item, key), item, at: -1 });
		}
		for (const [key, one] of this.drawn) if (seen.get(key) !== one) one.row.remove();
		this.drawn = seen;
		let next = this.body.firstChild;
		let at = first;
		for (const one of seen.values()) {
			if (one.row === next) next = next.nextSibling;
			else this.body.insertBefore(one.row, next);
			if (one.at !== at) one.row.setAttribute("aria-rowindex", String(at + 2));
			one.at = at++;
		}
	}

	/** @param {any} item @param {string} key */
	rowOf(item, key) {
		const attributes = { role: "row", id: `row-${key}`, "aria-selected": "false" };
		const tone = this.of.tone?.(item);
		const row = this.row({ class: `row${tone ? ` tone-${tone}` : ""}`, ...attributes }, "gridcell", (column) =>
			column.cell(item),
		);
		// A grid is a single stop of Tab, so that the next one is what is open beside it.
		for (const link of row.querySelectorAll("a")) link.tabIndex = -1;
		return row;
	}

	/** @param {Record<string, string>} attributes @param {string} role of the cells @param {(column: ListColumn) => Child} content */
	row(attributes, role, content) {
		const cells = this.of.columns.map((column) => {
			const flex = column.flex ?? (column.width ? `0 0 ${column.width}ch` : "1");
			const style = { flex, "grid-area": column.class.split(" ")[0] }; // the area on a phone, where a row is a grid
			return h("span", { role, class: column.class, style, "data-name": column.name }, content(column));
		});
		return h("div", attributes, ...cells);
	}

	mark() {
		for (const [key, { row }] of this.drawn) {
			const isSelected = String(key === this.selected);
			if (row.getAttribute("aria-selected") !== isSelected) row.setAttribute("aria-selected", isSelected);
		}
		if (this.drawn.has(this.selected)) this.scroller.setAttribute("aria-activedescendant", `row-${this.selected}`);
		else this.scroller.removeAttribute("aria-activedescendant");
	}

	/** @param {MouseEvent} event @param {boolean} [open] */
	clicked(event, open = false) {
		if (!(event.target instanceof Element) || event.target.closest("a, button")) return;
		const row = event.target.closest(".row");
		for (const one of this.drawn.values()) if (one.row === row) this.moveTo(one.at);
		if (row && open) this.openSelected();
	}

	/** @param {number} by */
	move(by) {
		const now = this.indexOf(this.selected);
		this.moveTo(now < 0 ? 0 : now + by);
	}

	/** @param {number} at */
	moveTo(at) {
		if (!this.all.length) return;
		const to = Math.min(Math.max(at, 0), this.all.length - 1);
		this.selected = this.of.key(this.all[to]);
		this.sought = "";
		this.reveal(to);
		this.mark();
		this.of.select?.(this.all[to]);
	}

	/** Whether a row is in sight, below the head. @param {number} at */
	sees(at) {
		return at >= 0 && at * this.rowHeight >= this.top && (at + 2) * this.rowHeight <= this.top + this.room;
	}

	/** Scroll no further than needed to see a row. @param {number} at */
	reveal(at) {
		if (this.sees(at)) return;
		const above = at * this.rowHeight;
		this.goTo(above < this.top ? above : above + 2 * this.rowHeight - this.room);
	}

	/** Select by key, as an address does, and scroll there as soon as the item is known. @param {string} key */
	choose(key) {
		if (key !== this.selected) this.sought = key;
		this.selected = key;
		this.mark();
		this.seek();
	}

	seek() {
		const at = this.sought && this.room ? this.indexOf(this.sought) : -1;
		if (at < 0) return;
		this.sought = "";
		if (!this.sees(at)) this.goTo(Math.max(0, at * this.rowHeight - this.room / 2));
	}

	/** Focus the rows; the selected row is active. */
	focusRow() {
		this.scroller.focus({ preventScroll: true });
	}

	/** @param {string} key */
	indexOf(key) {
		return key ? this.all.findIndex((item) => this.of.key(item) === key) : -1;
	}

	/** The item that is selected. @returns {any} */
	get chosen() {
		return this.all[this.indexOf(this.selected)] ?? null;
	}

	openSelected() {
		if (this.chosen) this.of.open?.(this.chosen);
	}
}

customElements.define("sim-list", SimList);
