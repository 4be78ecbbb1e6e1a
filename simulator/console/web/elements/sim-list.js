// A list of any length of which only the rows that are seen exist. It is a grid to the keyboard and to a screen reader.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";

/**
 * @template T
 * @typedef {{
 *   label: string,
 *   columns: { name: string, cell: (item: T) => (Node | string)[] | Node | string, class?: string }[],
 *   key: (item: T) => string,
 *   tone?: (item: T) => string,
 *   open?: (item: T) => void,
 *   select?: (item: T | null) => void,
 *   empty?: () => Node,
 *   end?: () => void,
 * }} Of
 */

const OVERSCAN = 8;

/** Set `of` once (`end` is called when the last items are near, for who reads pages), then `items`, newest first, as often as they change. */
export class SimList extends SimElement {
	constructor() {
		super();
		/** @type {Of<any>} */
		this.of = { label: "", columns: [], key: String };
		/** @type {any[]} */
		this.all = [];
		/** Items that came while the list was scrolled away from its top. @type {any[] | null} */
		this.waiting = null;
		this.selected = "";
		/** Whether the selected row is still to be scrolled to, since an address named it before it was there. */
		this.isSought = false;
		/** @type {Map<string, { row: HTMLElement, item: any }>} */
		this.drawn = new Map();
	}

	start() {
		this.body = h("div", { class: "rows", role: "rowgroup" });
		this.scroller = h(
			"div",
			{ class: "scroller", role: "grid", tabindex: "0", "aria-label": this.of.label },
			this.head(),
			this.body,
		);
		this.more = h("button", { class: "more", hidden: true, onclick: () => this.toTop() });
		this.none = h("div", { class: "empty" });
		put(this, this.more, this.scroller, this.none);
		this.listen(this.scroller, "scroll", () => this.scrolled());
		this.listen(this.body, "click", (event) => this.clicked(event));
		this.listen(this.body, "dblclick", (event) => this.clicked(event, true));
		const sizes = new ResizeObserver(() => this.draw());
		sizes.observe(this.scroller);
		this.ends.push(() => sizes.disconnect());
		this.keys([
			{ key: "j", does: "next row", group: "List", run: () => this.move(1) },
			{ key: "k", does: "row before", group: "List", run: () => this.move(-1) },
			{ key: "ArrowDown", does: "next row", group: "List", run: () => this.move(1) },
			{ key: "ArrowUp", does: "row before", group: "List", run: () => this.move(-1) },
			{ key: "Home", does: "newest row", group: "List", run: () => this.moveTo(0) },
			{ key: "End", does: "oldest row", group: "List", run: () => this.moveTo(this.all.length - 1) },
			{ key: "PageDown", does: "a page on", group: "List", run: () => this.move(this.page()) },
			{ key: "PageUp", does: "a page back", group: "List", run: () => this.move(-this.page()) },
			{ key: "Enter", does: "open the row", group: "List", run: () => this.openSelected() },
		]);
		this.draw();
	}

	head() {
		return h(
			"div",
			{ class: "row head", role: "row", "aria-rowindex": "1" },
			...this.of.columns.map((column) => h("span", { role: "columnheader", class: column.class }, column.name)),
		);
	}

	/** Newest first. Rows do not move under the pointer: new ones wait behind a button while the list is scrolled. @param {any[]} items */
	set items(items) {
		const top = (this.scroller?.scrollTop ?? 0) < 4;
		const grew = items.length > this.all.length && this.all.length > 0;
		const isSame = grew && this.of.key(items[items.length - this.all.length]) === this.of.key(this.all[0]);
		if (!top && isSame) {
			this.waiting = items;
			if (!this.more) return;
			this.more.hidden = false;
			this.more.textContent = `${items.length - this.all.length} new ↑`;
			return;
		}
		this.all = items;
		this.waiting = null;
		if (this.more) this.more.hidden = true;
		this.draw();
	}

	get items() {
		return this.all;
	}

	toTop() {
		if (this.waiting) this.all = this.waiting;
		this.waiting = null;
		if (this.more) this.more.hidden = true;
		if (this.scroller) this.scroller.scrollTop = 0;
		this.draw();
		this.scroller?.focus();
	}

	scrolled() {
		if (this.waiting && (this.scroller?.scrollTop ?? 0) < 4) this.toTop();
		else this.draw();
	}

	/** The height of a row as the style sheet has it: it is another on a phone. */
	height() {
		return parseFloat(getComputedStyle(this).getPropertyValue("--row")) || 28;
	}

	page() {
		return Math.max(1, Math.floor((this.scroller?.clientHeight ?? 0) / this.height()) - 2);
	}

	/** Make the rows that are seen, keep those that were drawn before, and drop the others. */
	draw() {
		const { scroller, body } = this;
		if (!scroller || !body) return;
		put(/** @type {HTMLElement} */ (this.none), this.all.length === 0 && this.of.empty ? this.of.empty() : null);
		const height = this.height();
		this.seek(height);
		const first = Math.max(0, Math.floor(scroller.scrollTop / height) - OVERSCAN);
		const last = Math.min(this.all.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + OVERSCAN);
		body.style.setProperty("height", `${this.all.length * height}px`);
		scroller.setAttribute("aria-rowcount", String(this.all.length + 1));
		const seen = new Map();
		for (let at = first; at < last; at++) {
			const item = this.all[at];
			const key = this.of.key(item);
			const before = this.drawn.get(key);
			const row = before && before.item === item ? before.row : this.row(item, key);
			row.style.setProperty("transform", `translateY(${at * height}px)`);
			row.setAttribute("aria-rowindex", String(at + 2));
			row.dataset.at = String(at);
			seen.set(key, { row, item });
		}
		for (const [key, { row }] of this.drawn) if (seen.get(key)?.row !== row) row.remove();
		this.drawn = seen;
		let next = body.firstChild;
		for (const { row } of seen.values()) {
			if (row === next) next = row.nextSibling;
			else body.insertBefore(row, next);
		}
		this.mark();
		if (this.all.length && last === this.all.length) this.of.end?.();
	}

	/** @param {any} item @param {string} key */
	row(item, key) {
		const tone = this.of.tone?.(item);
		return h(
			"div",
			{ class: `row${tone ? ` tone-${tone}` : ""}`, role: "row", id: `row-${key}` },
			...this.of.columns.map((column) => h("span", { role: "gridcell", class: column.class }, column.cell(item))),
		);
	}

	mark() {
		for (const [key, { row }] of this.drawn) row.setAttribute("aria-selected", String(key === this.selected));
		if (this.drawn.has(this.selected)) this.scroller?.setAttribute("aria-activedescendant", `row-${this.selected}`);
		else this.scroller?.removeAttribute("aria-activedescendant");
	}

	/** @param {MouseEvent} event @param {boolean} [open] */
	clicked(event, open = false) {
		if (!(event.target instanceof Element) || event.target.closest("a, button")) return;
		const row = /** @type {HTMLElement | null} */ (event.target.closest(".row"));
		if (!row?.dataset.at) return;
		this.moveTo(Number(row.dataset.at));
		if (open) this.openSelected();
	}

	/** @param {number} by */
	move(by) {
		const now = this.all.findIndex((item) => this.of.key(item) === this.selected);
		this.moveTo(now < 0 ? 0 : now + by);
	}

	/** @param {number} at */
	moveTo(at) {
		if (!this.all.length || !this.scroller) return;
		const to = Math.min(Math.max(at, 0), this.all.length - 1);
		this.selected = this.of.key(this.all[to]);
		const height = this.height();
		const { scrollTop, clientHeight } = this.scroller;
		if (to * height < scrollTop) this.scroller.scrollTop = to * height;
		else if ((to + 2) * height > scrollTop + clientHeight) this.scroller.scrollTop = (to + 2) * height - clientHeight;
		this.draw();
		this.of.select?.(this.all[to]);
	}

	/** Select by key, as an address does. @param {string} key */
	choose(key) {
		if (key === this.selected) return this.mark();
		this.selected = key;
		this.isSought = key !== "";
		this.draw();
	}

	/** Scroll once to what an address selected, so that it stands in the middle. @param {number} height of a row */
	seek(height) {
		const { scroller } = this;
		if (!this.isSought || !scroller?.clientHeight) return;
		const at = this.all.findIndex((item) => this.of.key(item) === this.selected);
		if (at < 0) return;
		this.isSought = false;
		const top = at * height;
		const isSeen = top >= scroller.scrollTop && top + 2 * height <= scroller.scrollTop + scroller.clientHeight;
		if (isSeen) return;
		this.body?.style.setProperty("height", `${this.all.length * height}px`);
		scroller.scrollTop = top - scroller.clientHeight / 2;
	}

	/** The item that is selected. @returns {any} */
	get chosen() {
		return this.all.find((item) => this.of.key(item) === this.selected) ?? null;
	}

	openSelected() {
		if (this.chosen) this.of.open?.(this.chosen);
	}
}

customElements.define("sim-list", SimList);
