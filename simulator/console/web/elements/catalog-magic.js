// The magic accounts at hand: what each does, how often it was met, to copy, or as the signed call that pays with it.

import { chosenReseller } from "./sim-reseller.js";
import { get, path } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { count } from "../app/format.js";
import { accountOf, callLine, payable } from "../app/magic.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { magicDigits } from "../app/links.js";
import { short, visible } from "../app/safe-text.js";
import { place, setQuery } from "../app/router.js";
import { copy } from "../app/action-log.js";
import { store } from "../app/store.js";
import { table } from "../app/table.js";

const OFFERED_MAX = 200;

export class CatalogMagic extends SimElement {
	constructor() {
		super();
		/** @type {any[]} */
		this.rows = [];
		/** @type {any[] | null} */
		this.magic = null;
		this.mistake = "";
		/** Which row the address led to. @type {string} */
		this.marked = "";
	}

	start() {
		this.watch(["place", "sandbox"], () => this.draw());
		whenItMatters(
			this,
			(row) => row.kind === "request" || row.event.action === "scenario_loaded",
			() => this.read(),
		);
	}

	/** @param {any[]} rows of the catalog */
	set products(rows) {
		this.rows = rows;
		this.draw();
	}

	async read() {
		try {
			this.magic = (await get(`${path("sandboxes", place.sandbox)}/coverage`)).magic;
			this.mistake = "";
		} catch (failure) {
			this.mistake = /** @type {Error} */ (failure).message;
		}
		this.draw();
	}

	draw() {
		if (this.mistake) return put(this, h("p", { class: "mistake", role: "alert" }, this.mistake));
		if (!this.magic) return;
		const offered = payable(this.rows).slice(0, OFFERED_MAX);
		const chosen =
			offered.find((one) => one.code === place.query.get("pay")) ??
			offered.find((one) => one.product.denomination) ??
			offered[0];
		if (this.contains(document.activeElement)) this.focused = document.activeElement?.id;
		put(this, this.explanation(), chosen && choice(offered, chosen), this.table(this.magic, chosen?.product));
		const at = place.query.get("at") ?? "";
		if (at !== this.marked) this.querySelector("tr[aria-current]")?.scrollIntoView({ block: "center" });
		this.marked = at;
		if (this.focused) document.getElementById(this.focused)?.focus();
		this.focused = undefined;
	}

	explanation() {
		return h(
			"p",
			{},
			"An account that ends in ",
			h("code", {}, "0000DOO"),
			" is magic: ",
			h("code", {}, "OO"),
			" chooses the outcome, ",
			h("code", {}, "D"),
			" how long it takes, 0 for as usual. ",
			h("code", {}, "reseller-sim scenarios magic"),
			" prints both.",
		);
	}

	/** @param {any[]} magic @param {any} product */
	table(magic, product) {
		const resellers = store.sandbox?.resellers ?? [];
		const reseller = resellers.find((one) => one.code === chosenReseller()) ?? resellers[0];
		const button = (
			/** @type {string} */ id,
			/** @type {string} */ text,
			/** @type {string} */ label,
			/** @type {() => void} */ run,
		) => h("button", { id, "aria-label": label, onclick: run }, text);
		return table(
			"Magic accounts",
			[
				{
					name: "account",
					cell: (one) => h("code", {}, product ? accountOf(product, one.digits) : `…00000${one.digits}`),
				},
				{ name: "what happens", cell: (one) => short(one.outcome) },
				{ name: "met", number: true, cell: (one) => (one.met ? count(one.met) : "never") },
				{
					name: "",
					cell: (one) =>
						product && [
							button(`magic-${one.digits}`, "copy", `copy the account ${one.digits}`, () =>
								copy(accountOf(product, one.digits), `the account ${accountOf(product, one.digits)}`),
							),
							" ",
							button(
								`call-${one.digits}`,
								"copy the call",
								`copy the call that pays with the account ${one.digits}`,
								() => copy(callLine(product, one.digits, reseller), `the signed call for “${visible(one.outcome)}”`),
							),
						],
				},
			],
			magic,
			"this scenario has no magic accounts",
			(one) => one.digits === magicDigits(place.query.get("at") ?? ""),
		);
	}
}

/** @param {any[]} offered @param {any} chosen */
function choice(offered, chosen) {
	const select = /** @type {HTMLSelectElement} */ (
		h(
			"select",
			{ id: "magic-product", onchange: () => setQuery({ pay: select.value }) },
			...offered.map((one) =>
				h("option", { value: one.code, selected: one === chosen }, visible(`${one.code}, ${one.name}`).slice(0, 60)),
			),
		)
	);
	return h("div", { class: "tools" }, h("label", { for: "magic-product", class: "past" }, "to pay for"), select);
}

customElements.define("catalog-magic", CatalogMagic);
