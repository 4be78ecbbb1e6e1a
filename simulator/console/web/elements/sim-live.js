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
import { filterOf, WORDS, wordsText } from "../app/filter.js";
import { count } from "../app/format.js";
import { moment, searchBox, showQuery } from "../app/pieces.js";
import { go, here, place, setQuery } from "../app/router.js";
import { markOf } from "../app/rows.js";

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "time", width: 12, cell: (row) => moment(row.at, row.wall) },
	{ class: "what", width: 30, cell: (row) => visible(row.what) },
	{ class: "state", width: 14, cell: (row) => row.state && `${markOf(row)} ${visible(row.state)}` },
	{
		class: "refid",
		width: 18,
		cell: (row) =>
			row.trxid ? h("a", { href: here(["payments", row.trxid]) }, visible(row.refid)) : visible(row.refid),
	},
	{ class: "product", width: 10, cell: (row) => visible(row.product) },
	{
		class: "text",
		name: "why",
		cell: (row) => visible([row.rule ? `rule: ${row.rule}` : "", row.text].filter(Boolean).join("   ")),
	},
	{ class: "took number", name: "took", width: 8, cell: (row) => row.took },
];

class SimLive extends SimElement {
	/** @type {import("../app/filter.js").Test | null} */
	test = null;
	isPaused = false;
	box = searchBox("q", "Filter", "refid:order-7 product:ELECTRIC status:401 refused");
	pause = h("button", { "aria-pressed": "false", onclick: () => this.setPaused(!this.isPaused) }, "▮▮ pause");
	counts = h("span", { class: "counts", role: "status" });
	list = new SimList({
		label: "Events of the sandbox, newest first",
		columns: COLUMNS,
		key: (row) => String(row.number),
		tone: (row) => row.tone,
		open: (row) => row.trxid && go(here(["payments", row.trxid], { at: thingId(row.event) })),
		select: (row) => setQuery({ at: String(row.number) }),
		empty: () => this.empty(),
	});
	detail = h("sim-detail");
	first = h("first-steps");

	start() {
		this.detail.close = () => this.close();
		put(
			this,
			h("div", { class: "tools" }, this.box, this.mistake, this.pause, this.counts),
			h("sim-holds"),
			h("div", { class: "beside" }, this.list, this.detail),
		);
		this.watch("events", () => this.isPaused || this.show());
		this.watch("place", () => this.read());
		this.watch("restarted", () => this.begin());
		this.keys([
			{ key: "/", does: "filter", group: "List", run: () => this.box.focus() },
			{ key: "Escape", does: "close the details", group: "List", run: () => this.close() },
			{ key: "p", does: "pause", group: "List", run: () => this.setPaused(!this.isPaused) },
		]);
		this.read();
	}

	/** Follow the address: filter and selected row. */
	read() {
		showQuery(this.box);
		const { test, mistake } = filterOf(this.box.value);
		this.test = test;
		say(this.mistake, mistake);
		const at = place.query.get("at") ?? "";
		if (at) this.list.choose(at);
		this.show();
		this.detail.row = (at && this.list.chosen) || null;
	}

	/** The detail goes, and the keys are the list's again, where its row stays marked. */
	close() {
		const active = document.activeElement;
		if (active instanceof HTMLInputElement) active.blur();
		else setQuery({ at: "" });
		this.list.focusRow();
	}

	/** Numbers begin again with another life of the sandbox: what stands in the list and in the address is the old one's. */
	begin() {
		this.list.items = [];
		setQuery({ at: "" });
		this.show();
	}

	/** The rows of the filter; without one, all but the advances of the clock, which the times of the others show. */
	found() {
		return log.rows.filter(this.test ?? ((row) => row.event.action !== "clock_advanced"));
	}

	show() {
		const isFresh = log.rows.length > 0 && log.rows.every((row) => row.kind === "action");
		if (!isFresh) this.first.remove();
		else if (!this.first.isConnected) this.list.parentElement?.before(this.first);
		const rows = this.found();
		this.list.items = rows.reverse();
		const total = this.test ? log.rows.length : rows.length;
		const all = `${count(total)}${(log.rows[0]?.number ?? 1) > 1 ? " and older" : ""}`;
		say(this.counts, (this.test ? `${count(rows.length)} of ${all}` : all) + this.missing());
		if (place.query.get("at") && !this.detail.row) this.detail.row = this.list.chosen;
	}

	/** The message when the address names a row that is not in the list. */
	missing() {
		const at = place.query.get("at");
		if (!at || !log.isWhole || this.list.chosen) return "";
		const named = `row ${visible(at.slice(0, 20))}`;
		const latest = log.rows.at(-1)?.number ?? 0;
		if (log.rows.some((row) => String(row.number) === at)) return `; ${named} does not match the filter`;
		return Number(at) <= latest ? `; ${named} was evicted` : `; there is no ${named}, the latest is ${latest}`;
	}

	/** @param {boolean} isPaused */
	setPaused(isPaused) {
		this.isPaused = isPaused;
		this.pause.setAttribute("aria-pressed", String(isPaused));
		say(this.pause, isPaused ? "▶ go on" : "▮▮ pause");
		if (!isPaused) this.show();
	}

	empty() {
		if (!this.test) return h("p", {}, "Nothing has happened yet.");
		return h("p", {}, `Nothing matches. ${wordsText(WORDS)}`);
	}
}

customElements.define("sim-live", SimLive);
