// The products of a sandbox, for everybody or as one reseller has them, each with its switches; and the magic accounts.

import "./catalog-magic.js";
import { adjusted, limits, networkState, saleState } from "./catalog-product.js";
import { SimList } from "./sim-list.js";
import { chosenReseller } from "./sim-reseller.js";
import { pages } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { count, CURRENCY } from "../app/format.js";
import { drawParts, searchBox, showQuery } from "../app/pieces.js";
import { Reading } from "../app/reading.js";
import { short } from "../app/safe-text.js";
import { go, here, sandboxPath, place } from "../app/router.js";

const PAGE = 500;
const ROWS_MAX = 10_000;
const CHANGES = [
	...["product_changed", "catalog_changed", "network_set", "scenario_loaded"],
	...["clock_advanced", "clock_set", "advance_stopped"],
];

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "code", width: 14, cell: (one) => short(one.code) },
	{ class: "name", flex: "1 1 12ch", cell: (one) => short(one.name) },
	{ class: "sale", width: 15, cell: saleState },
	{ class: "network", width: 15, cell: networkState },
	{ class: "price number", name: "unit price", width: 10, cell: (one) => one.product.pricing.unit_price },
	{ class: "price number", name: "adjusted", width: 10, cell: adjusted },
	{ class: "limits", name: `limits, ${CURRENCY}`, width: 16, cell: limits },
	{ class: "text", name: "group", cell: (one) => short([one.group, one.category].filter(Boolean).join(", ")) },
];

class SimCatalog extends Reading {
	/** @type {any[] | null} */
	rows = null;
	/** The reseller whose products `rows` are. */
	of = "";
	parts = h("nav", { class: "parts", "aria-label": "Catalog" });
	box = searchBox("q", "Filter", "code, name, group; off sale, Interruption");
	counts = h("span", { class: "counts", role: "status" });
	list = new SimList({
		label: "Products",
		columns: COLUMNS,
		key: (one) => one.code,
		select: (one) => go(this.place(one.code), true),
		open: () => /** @type {HTMLElement | null} */ (this.product.querySelector(".switches button"))?.focus(),
		empty: () => h("p", {}, this.rows ? "No product has this in it." : "…"),
	});
	product = h("catalog-product", { hidden: true });
	products = h("div", { class: "beside" }, this.list, this.product);
	magic = h("catalog-magic", { hidden: true });

	start() {
		this.product.close = () => this.close();
		this.listen(this.product, "changed", () => this.now());
		const reseller = h("sim-reseller", { all: "for everybody" });
		put(
			this,
			h("div", { class: "tools" }, this.parts, reseller, this.box, this.mistake, this.counts),
			this.products,
			this.magic,
		);
		this.keys([
			{ key: "/", does: "filter", group: "List", run: () => this.box.focus() },
			{ key: "Escape", does: "close the product", group: "List", run: () => this.close() },
		]);
		this.watch("place", () => this.follow());
		this.refreshOn((row) => CHANGES.includes(row.event.action));
		this.follow();
	}

	/** The address of a product, with the filter kept. @param {string} code */
	place(code) {
		const { query: now } = place;
		return here(["catalog", code], { q: now.get("q") ?? "", reseller: now.get("reseller") ?? "" });
	}

	close() {
		const active = document.activeElement;
		if (active instanceof HTMLElement && active.matches("input, select")) return active.blur();
		if (place.rest[0]) go(this.place(""), true);
		this.list.focusRow();
	}

	follow() {
		const isMagic = place.query.get("show") === "magic";
		const reseller = chosenReseller();
		drawParts(this.parts, [
			["Products", here(["catalog"], { reseller }), !isMagic],
			["Magic accounts", here(["catalog"], { reseller, show: "magic" }), isMagic],
		]);
		for (const one of [this.products, this.box, this.counts]) one.hidden = isMagic;
		this.magic.hidden = !isMagic;
		showQuery(this.box);
		if (this.of !== reseller) this.now();
		else this.show();
	}

	/** All pages, in order. */
	async read() {
		this.of = chosenReseller();
		const rows = [];
		for await (const page of pages(sandboxPath("catalog"), { reseller: this.of, limit: PAGE })) {
			rows.push(...page.products);
			if (rows.length >= ROWS_MAX) break;
		}
		this.rows = this.magic.products = rows;
		this.show();
	}

	show() {
		if (!this.rows) return;
		const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
		const found = this.rows.filter((one) => words.every((word) => textOf(one).includes(word)));
		const chosen = place.rest[0] ?? "";
		this.list.items = found;
		this.list.choose(chosen);
		const all = count(this.rows.length);
		say(this.counts, words.length ? `${count(found.length)} of ${all}` : all);
		this.product.show(this.rows.find((one) => one.code === chosen) ?? null, this.of);
	}
}

/** @param {any} one */
function textOf(one) {
	const sale = one.is_hidden ? "hidden" : one.is_active ? "on sale" : "off sale";
	return [one.code, one.name, one.group, one.category, one.network, sale, one.overlay ? "overlay" : ""]
		.join(" ")
		.toLowerCase();
}

customElements.define("sim-catalog", SimCatalog);
