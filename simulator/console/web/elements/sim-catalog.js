// The products of a sandbox, for everybody or as one reseller has them, each with its switches; and the magic accounts.

import "./catalog-magic.js";
import "./sim-reseller.js";
import { adjusted, limits, networkState, saleState } from "./catalog-product.js";
import { SimList } from "./sim-list.js";
import { chosenReseller } from "./sim-reseller.js";
import { get, path, query } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { count, CURRENCY } from "../app/format.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { short } from "../app/safe-text.js";
import { go, here, place, setQuery } from "../app/router.js";
import { searchBox } from "../app/search-box.js";

const PAGE = 500;
const ROWS_MAX = 10_000;
const CHANGES = new Set([
	"product_changed",
	"catalog_changed",
	"network_set",
	"scenario_loaded",
	"clock_advanced",
	"clock_set",
]);

const COLUMNS = [
	{ name: "code", class: "code", cell: (/** @type {any} */ one) => short(one.code) },
	{ name: "name", class: "name", cell: (/** @type {any} */ one) => short(one.name) },
	{ name: "sale", class: "sale", cell: saleState },
	{ name: "network", class: "network", cell: networkState },
	{ name: "unit price", class: "price", cell: (/** @type {any} */ one) => one.product.pricing.unit_price },
	{ name: "adjusted", class: "price", cell: adjusted },
	{ name: `limits, ${CURRENCY}`, class: "limits", cell: limits },
	{
		name: "group",
		class: "text",
		cell: (/** @type {any} */ one) => short([one.group, one.category].filter(Boolean).join(", ")),
	},
];

class SimCatalog extends SimElement {
	start() {
		/** @type {any[] | null} */
		this.rows = null;
		/** The query of `rows`; answers to other queries are ignored. @type {string} */
		this.of = "";
		this.reading = 0;
		this.parts = h("nav", { class: "parts", "aria-label": "Catalog" });
		this.box = searchBox({
			label: "Filter",
			placeholder: "code, name, group; off sale, Interruption",
			oninput: () => setQuery({ q: this.box?.value ?? "" }),
		});
		this.counts = h("span", { class: "counts", role: "status" });
		this.mistake = h("span", { class: "mistake", role: "alert" });
		this.list = new SimList();
		this.list.of = {
			label: "Products",
			columns: COLUMNS,
			key: (one) => one.code,
			select: (one) => go(this.place(one ? one.code : ""), true),
			open: () => this.product?.querySelector("button")?.focus(),
			empty: () => h("p", {}, this.rows ? "No product has this in it." : "…"),
		};
		this.product = /** @type {import("./catalog-product.js").CatalogProduct} */ (
			h("catalog-product", { hidden: true })
		);
		this.listen(this.product, "changed", () => this.read());
		this.magic = /** @type {import("./catalog-magic.js").CatalogMagic} */ (h("catalog-magic", { hidden: true }));
		this.products = h("div", { class: "beside" }, this.list, this.product);
		put(
			this,
			h(
				"div",
				{ class: "tools" },
				this.parts,
				h("sim-reseller", { all: "for everybody" }),
				this.box,
				this.mistake,
				this.counts,
			),
			this.products,
			this.magic,
		);
		this.keys([{ key: "/", does: "filter", group: "List", run: () => this.box?.focus() }]);
		this.watch("place", () => this.follow());
		this.follow();
		whenItMatters(
			this,
			(row) => CHANGES.has(row.event.action) || row.event.action === "advance_stopped",
			() => this.read(),
		);
	}

	/** The address of a product, with the filter kept. @param {string} code */
	place(code) {
		const { query: now } = place;
		const kept = Object.fromEntries(["q", "reseller"].map((name) => [name, now.get(name) ?? ""]));
		return here(code ? ["catalog", code] : ["catalog"], kept);
	}

	follow() {
		const isMagic = place.query.get("show") === "magic";
		const reseller = chosenReseller();
		const link = (/** @type {string} */ title, /** @type {boolean} */ ofMagic) =>
			h(
				"a",
				{
					href: here(["catalog"], { reseller, show: ofMagic ? "magic" : "" }),
					"aria-current": ofMagic === isMagic && "page",
				},
				title,
			);
		if (this.parts) put(this.parts, link("Products", false), link("Magic accounts", true));
		for (const one of [this.products, this.box, this.counts]) if (one) one.hidden = isMagic;
		if (this.magic) this.magic.hidden = !isMagic;
		const text = place.query.get("q") ?? "";
		if (this.box && this.box.value !== text) this.box.value = text;
		if (this.reading && this.of !== reseller) this.read();
		else this.show();
	}

	/** All pages, in order. */
	async read() {
		const reseller = chosenReseller();
		const reading = (this.reading = (this.reading ?? 0) + 1);
		this.of = reseller;
		const rows = [];
		try {
			for (let cursor = ""; rows.length < ROWS_MAX;) {
				const page = await get(
					`${path("sandboxes", place.sandbox)}/catalog${query({ reseller, limit: PAGE, cursor })}`,
				);
				if (reading !== this.reading) return;
				rows.push(...page.products);
				if (!page.has_more) break;
				cursor = page.cursor;
			}
			say(/** @type {Node} */ (this.mistake), "");
		} catch (failure) {
			if (reading !== this.reading) return;
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
		this.rows = rows;
		if (this.magic) this.magic.products = rows;
		this.show();
	}

	show() {
		if (!this.list || !this.rows) return;
		const words = (place.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
		const found = this.rows.filter((one) => words.every((word) => textOf(one).includes(word)));
		this.list.items = found;
		this.list.choose(place.rest[0] ?? "");
		say(
			/** @type {Node} */ (this.counts),
			words.length ? `${count(found.length)} of ${count(this.rows.length)}` : count(this.rows.length),
		);
		const shown = this.rows.find((one) => one.code === place.rest[0]) ?? null;
		this.product?.show(shown, this.of ?? "");
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
