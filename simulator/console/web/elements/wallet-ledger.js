// The entries of the wallets, newest first, page by page as far as one scrolls.

import { SimList } from "./sim-list.js";
import { chosenReseller } from "./sim-reseller.js";
import { get, query } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { bothTimes, change, CURRENCY, dateTime, money } from "../app/format.js";
import { queryChoice, searchBox, showQuery } from "../app/pieces.js";
import { ofKinds, Reading } from "../app/reading.js";
import { short, visible } from "../app/safe-text.js";
import { go, here, sandboxPath, place } from "../app/router.js";

const PAGE = 200;
const TYPES = ["DEPOSIT", "TRANSACTION", "REFUND", "COMMISSION"];

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "at", width: 20, cell: ({ at }) => h("time", { title: bothTimes(at) }, dateTime(at).slice(0, 19)) },
	{ class: "type", width: 12, cell: (one) => one.type.toLowerCase() },
	{ class: "amount number", name: `amount, ${CURRENCY}`, width: 14, cell: (one) => change(one.amount) },
	{ class: "balance number", name: `balance, ${CURRENCY}`, width: 14, cell: (one) => money(one.balance) },
	{
		class: "refid",
		width: 20,
		cell: (one) => one.trxid && h("a", { href: here(["payments", one.trxid]) }, short(one.refid || one.trxid)),
	},
	{ class: "reseller", width: 10, cell: (one) => short(one.reseller) },
	{ class: "text", name: "remarks", cell: (one) => visible(one.remarks) },
];

/** @param {any} one */
const keyOf = (one) => `${one.reseller}-${one.id}`;

class WalletLedger extends Reading {
	/** The query of the list; answers to other queries are ignored. */
	of = "";
	cursor = "";
	isMore = false;
	type = queryChoice(
		"type",
		"Type of entry",
		"all types",
		TYPES.map((type) => [type, type.toLowerCase()]),
	);
	refid = searchBox("refid", "Entries of the refid", "refid", "onchange");
	counts = h("span", { class: "counts", role: "status" });
	list = new SimList({
		label: "Entries of the wallets, newest first",
		columns: COLUMNS,
		key: keyOf,
		open: (one) => one.trxid && go(here(["payments", one.trxid])),
		end: () => this.more(),
		empty: () =>
			h("p", {}, "No entries. A payment takes from the wallet, a deposit, a refund or a commission adds to it."),
	});

	start() {
		put(this, h("div", { class: "tools" }, this.refid, this.type, this.mistake, this.counts), this.list);
		this.keys([{ key: "/", does: "entries of a refid", group: "List", run: () => this.refid.focus() }]);
		this.watch("place", () => this.follow());
		this.refreshOn(ofKinds("entry"));
		this.follow();
	}

	/** The query of the address. */
	filter() {
		return query({
			reseller: chosenReseller(),
			type: place.query.get("type"),
			refid: place.query.get("refid"),
			limit: PAGE,
		});
	}

	follow() {
		showQuery(this.type, this.refid);
		if (this.filter() !== this.of) this.now();
	}

	/** Insert new entries before the existing entries; read everything again for another query, and after more than a page. */
	async read() {
		const of = this.filter();
		if (of !== this.of) this.list.items = [];
		this.of = of;
		const page = await get(sandboxPath("ledger") + of);
		const known = new Set(this.list.items.map(keyOf));
		const at = page.entries.findIndex((/** @type {any} */ one) => known.has(keyOf(one)));
		if (at < 0) this.cursor = page.has_more ? page.cursor : "";
		this.show(at < 0 ? page.entries : [...page.entries.slice(0, at), ...this.list.items]);
	}

	async more() {
		if (this.isMore || !this.cursor) return;
		this.isMore = true;
		const { of } = this;
		await this.attempt(async () => {
			const page = await get(`${sandboxPath("ledger")}${of}&cursor=${encodeURIComponent(this.cursor)}`);
			if (of !== this.of) return;
			this.cursor = page.has_more ? page.cursor : "";
			this.show([...this.list.items, ...page.entries]);
		});
		this.isMore = false;
	}

	/** @param {any[]} items */
	show(items) {
		this.list.items = items;
		say(this.counts, this.cursor ? `the latest ${items.length}` : String(items.length));
	}
}

customElements.define("wallet-ledger", WalletLedger);
