// Everything that happens in the sandbox, as it happens: requests, statuses, callbacks, webhooks, alerts.

import "./first-steps.js";
import "./sim-detail.js";
import "./sim-holds.js";
import { thingId } from "../app/timeline-items.js";
import { SimList } from "./sim-list.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { visible } from "../app/safe-text.js";
import { log } from "../app/events.js";
import { filterOf, WORDS } from "../app/filter.js";
import { bothTimes, count, time } from "../app/format.js";
import { go, here, place, setQuery } from "../app/router.js";
import { markOf } from "../app/rows.js";
import { searchBox } from "../app/search-box.js";

/** @typedef {import("../app/rows.js").Row} Row */

/** So many of the latest rows may still change what a filter finds in them. */
const UNSETTLED = 100;

const COLUMNS = [
	{
		name: "time",
		class: "time",
		cell: (/** @type {Row} */ row) => h("time", { title: bothTimes(row.at, row.wall) }, time(row.at)),
	},
	{ name: "what", class: "what", cell: (/** @type {Row} */ row) => visible(row.what) },
	{
		name: "state",
		class: "state",
		cell: (/** @type {Row} */ row) => (row.state ? `${markOf(row)} ${visible(row.state)}` : ""),
	},
	{
		name: "refid",
		class: "refid",
		cell: (/** @type {Row} */ row) =>
			row.trxid ? h("a", { href: here(["payments", row.trxid]) }, visible(row.refid)) : visible(row.refid),
	},
	{ name: "product", class: "product", cell: (/** @type {Row} */ row) => visible(row.product) },
	{
		name: "why",
		class: "text",
		cell: (/** @type {Row} */ row) =>
			visible([row.rule ? `rule: ${row.rule}` : "", row.text].filter(Boolean).join("   ")),
	},
	{ name: "took", class: "took", cell: (/** @type {Row} */ row) => row.took },
];

class SimLive extends SimElement {
	/** @type {import("../app/filter.js").Test | null} */
	test = null;

	/** The rows that the filter has found. @type {{ test: any, rows: Row[], dropped: number, upTo: number, found: Row[] } | null} */
	known = null;

	start() {
		this.box = searchBox({
			label: "Filter",
			placeholder: "refid:order-7 product:ELECTRIC status:401 refused",
			oninput: () => setQuery({ q: this.box?.value ?? "" }),
		});
		this.pause = h("button", { "aria-pressed": "false", onclick: () => this.setPaused(!this.paused) }, "▮▮ pause");
		this.counts = h("span", { class: "counts", role: "status" });
		this.mistake = h("span", { class: "mistake", role: "alert" });
		this.list = new SimList();
		this.list.of = {
			label: "Events of the sandbox, newest first",
			columns: COLUMNS,
			key: (row) => String(row.number),
			tone: (row) => row.tone,
			open: (row) => this.open(row),
			select: (row) => setQuery({ at: row ? String(row.number) : "" }),
			empty: () => this.empty(),
		};
		this.detail = /** @type {import("./sim-detail.js").SimDetail} */ (h("sim-detail"));
		this.detail.close = () => this.close();
		this.first = h("first-steps");
		this.paused = false;
		put(
			this,
			h("div", { class: "tools" }, this.box, this.mistake, this.pause, this.counts),
			h("sim-holds"),
			h("div", { class: "beside" }, this.list, this.detail),
		);
		this.watch("events", () => this.paused || this.show());
		this.watch("place", () => this.read());
		this.watch("restarted", () => this.begin());
		this.keys([
			{ key: "/", does: "filter", group: "List", run: () => this.box?.focus() },
			{ key: "Escape", does: "close the details", group: "List", run: () => this.close() },
			{ key: "p", does: "pause", group: "List", run: () => this.setPaused(!this.paused) },
		]);
		this.read();
	}

	/** Follow the address: filter and selected row. */
	read() {
		const text = place.query.get("q") ?? "";
		if (this.box && this.box.value !== text) this.box.value = text;
		const { test, mistake } = filterOf(text);
		this.test = test;
		say(/** @type {Node} */ (this.mistake), mistake);
		const at = place.query.get("at") ?? "";
		if (at) this.list?.choose(at);
		this.show();
		/** @type {any} */ (this.detail).row = (at && this.list?.chosen) || null;
	}

	/** The detail goes, and the keys are the list's again, where its row stays marked. */
	close() {
		const active = document.activeElement;
		if (active instanceof HTMLInputElement) active.blur();
		else if (place.query.get("at")) setQuery({ at: "" });
		this.list?.focusRow();
	}

	/** Numbers begin again with another life of the sandbox: what stands in the list and in the address is the old one's. */
	begin() {
		if (this.list) this.list.items = [];
		if (place.query.get("at")) setQuery({ at: "" });
		this.show();
	}

	/** The rows of the filter; without one, all but the advances of the clock, which the times of the others show. Only new ones are tried, but for the latest, of which the product may just have become known. */
	found() {
		const { rows, dropped } = log;
		const { test, known } = this;
		if (!test) return rows.filter((row) => row.event.action !== "clock_advanced");
		const settled = Math.max(0, rows.length - UNSETTLED);
		const same = known?.test === test && known.rows === rows && known.dropped === dropped ? known : null;
		const found = same?.found ?? [];
		for (let at = same?.upTo ?? 0; at < settled; at++) if (test(rows[at])) found.push(rows[at]);
		this.known = { test, rows, dropped, upTo: settled, found };
		return [...found, ...rows.slice(settled).filter(test)];
	}

	show() {
		if (!this.list) return;
		const isFresh = log.rows.length > 0 && log.rows.every((row) => row.kind === "action");
		if (!isFresh) this.first?.remove();
		else if (this.first && !this.first.isConnected) this.list.parentElement?.before(this.first);
		const rows = this.found();
		this.list.items = rows.reverse();
		const total = this.test ? log.rows.length : rows.length;
		const all = `${count(total)}${(log.rows[0]?.number ?? 1) > 1 ? " and older" : ""}`;
		const shown = this.test ? `${count(rows.length)} of ${all}` : all;
		say(/** @type {Node} */ (this.counts), shown + this.missing());
		if (place.query.get("at") && !(/** @type {any} */ (this.detail).row))
			/** @type {any} */ (this.detail).row = this.list.chosen;
	}

	/** The message when the address names a row that is not in the list. */
	missing() {
		const at = place.query.get("at");
		if (!at || !log.isWhole || this.list?.chosen) return "";
		const named = `row ${visible(at.slice(0, 20))}`;
		const latest = log.rows[log.rows.length - 1]?.number ?? 0;
		if (log.rows.some((row) => String(row.number) === at)) return `; ${named} does not match the filter`;
		return Number(at) <= latest ? `; ${named} was evicted` : `; there is no ${named}, the latest is ${latest}`;
	}

	/** @param {boolean} paused */
	setPaused(paused) {
		this.paused = paused;
		this.pause?.setAttribute("aria-pressed", String(paused));
		if (this.pause) say(this.pause, paused ? "▶ go on" : "▮▮ pause");
		if (!paused) this.show();
	}

	/** @param {Row} row */
	open(row) {
		if (row.trxid) go(here(["payments", row.trxid], { at: thingId(row.event) }));
	}

	empty() {
		if (this.test)
			return h(
				"p",
				{},
				`Nothing matches. The words are ${Object.keys(WORDS).join(", ")}, refused, and any text; a minus before a word excludes it.`,
			);
		return h("p", {}, "Nothing has happened yet.");
	}
}

customElements.define("sim-live", SimLive);
