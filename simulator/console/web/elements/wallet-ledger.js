// The entries of the wallets, newest first, page by page as far as one scrolls.

import { SimList } from "./sim-list.js";
import { chosenReseller } from "./sim-reseller.js";
import { get, path, query } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, CURRENCY, dateTime, money } from "../app/format.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { short, visible } from "../app/safe-text.js";
import { here, place, setQuery } from "../app/router.js";
import { searchBox } from "../app/search-box.js";

const PAGE = 200;
const TYPES = ["DEPOSIT", "TRANSACTION", "REFUND", "COMMISSION"];

/** @param {number} amount */
const signed = (amount) => `${amount < 0 ? "−" : "+"}${money(Math.abs(amount))}`;

const COLUMNS = [
	{
		name: "at",
		class: "at",
		cell: (/** @type {any} */ one) => h("time", { title: bothTimes(one.at) }, dateTime(one.at).slice(0, 19)),
	},
	{ name: "type", class: "type", cell: (/** @type {any} */ one) => one.type.toLowerCase() },
	{ name: `amount, ${CURRENCY}`, class: "amount", cell: (/** @type {any} */ one) => signed(one.amount) },
	{ name: `balance, ${CURRENCY}`, class: "amount", cell: (/** @type {any} */ one) => money(one.balance) },
	{
		name: "refid",
		class: "refid",
		cell: (/** @type {any} */ one) =>
			one.trxid ? h("a", { href: here(["payments", one.trxid]) }, short(one.refid || one.trxid)) : "",
	},
	{ name: "reseller", class: "reseller", cell: (/** @type {any} */ one) => short(one.reseller) },
	{ name: "remarks", class: "text", cell: (/** @type {any} */ one) => visible(one.remarks) },
];

/** @param {any} one */
const keyOf = (one) => `${one.reseller}-${one.id}`;

class WalletLedger extends SimElement {
	start() {
		/** The query of the list; answers to other queries are ignored. @type {string} */
		this.of = "";
		this.cursor = "";
		this.isReading = false;
		this.type = /** @type {HTMLSelectElement} */ (
			h(
				"select",
				{ "aria-label": "Type of entry", onchange: () => setQuery({ type: this.type?.value ?? "" }) },
				h("option", { value: "" }, "all types"),
				...TYPES.map((type) => h("option", { value: type }, type.toLowerCase())),
			)
		);
		this.refid = searchBox({
			label: "Entries of the refid",
			placeholder: "refid",
			onchange: () => setQuery({ refid: this.refid?.value.trim() ?? "" }),
		});
		this.counts = h("span", { class: "counts", role: "status" });
		this.mistake = h("span", { class: "mistake", role: "alert" });
		this.list = new SimList();
		this.list.of = {
			label: "Entries of the wallets, newest first",
			columns: COLUMNS,
			key: keyOf,
			end: () => this.more(),
			empty: () =>
				h("p", {}, "No entries. A payment takes from the wallet, a deposit, a refund or a commission adds to it."),
		};
		put(this, h("div", { class: "tools" }, this.refid, this.type, this.mistake, this.counts), this.list);
		this.keys([{ key: "/", does: "entries of a refid", group: "List", run: () => this.refid?.focus() }]);
		this.watch("place", () => this.follow());
		this.follow();
		whenItMatters(
			this,
			(row) => row.kind === "entry",
			() => this.newest(),
		);
	}

	/** The filter of the address. */
	filter() {
		return { reseller: chosenReseller(), type: place.query.get("type"), refid: place.query.get("refid") };
	}

	follow() {
		const of = JSON.stringify(this.filter());
		if (of === this.of || !this.type || !this.refid) return;
		const isFirst = this.of === "";
		this.of = of;
		this.type.value = place.query.get("type") ?? "";
		this.refid.value = place.query.get("refid") ?? "";
		if (this.list) this.list.items = [];
		this.cursor = "";
		if (!isFirst) this.newest();
	}

	/** @param {string} cursor @returns {Promise<any>} a page, null when it is not wanted any more */
	async read(cursor) {
		const { of } = this;
		say(/** @type {Node} */ (this.mistake), "");
		try {
			const page = await get(
				`${path("sandboxes", place.sandbox)}/ledger${query({ ...this.filter(), limit: PAGE, cursor })}`,
			);
			return of === this.of ? page : null;
		} catch (failure) {
			if (of === this.of) say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
			return null;
		}
	}

	/** Insert new entries before the existing entries; read everything again after more than a page. */
	async newest() {
		const page = await this.read("");
		if (!page || !this.list) return;
		const known = new Set(this.list.items.map(keyOf));
		const at = page.entries.findIndex((/** @type {any} */ one) => known.has(keyOf(one)));
		if (at < 0) this.cursor = page.has_more ? page.cursor : "";
		this.list.items = at < 0 ? page.entries : [...page.entries.slice(0, at), ...this.list.items];
		this.tell();
	}

	async more() {
		if (this.isReading || !this.cursor || !this.list) return;
		this.isReading = true;
		const page = await this.read(this.cursor);
		this.isReading = false;
		if (!page) return;
		this.cursor = page.has_more ? page.cursor : "";
		this.list.items = [...this.list.items, ...page.entries];
		this.tell();
	}

	tell() {
		const shown = this.list?.items.length ?? 0;
		say(/** @type {Node} */ (this.counts), this.cursor ? `the latest ${shown}` : String(shown));
	}
}

customElements.define("wallet-ledger", WalletLedger);
