// The magic accounts: what each does, how often it was met, to copy, or as the signed call that pays with it.

import { chosenReseller } from "./sim-reseller.js";
import { get } from "../app/api.js";
import { h, redraw } from "../app/dom.js";
import { count } from "../app/format.js";
import { accountOf, callLine, payable } from "../app/magic.js";
import { Reading } from "../app/reading.js";
import { magicDigits } from "../app/links.js";
import { short, visible } from "../app/safe-text.js";
import { sandboxPath, place, setQuery } from "../app/router.js";
import { copy } from "../app/action-log.js";
import { store } from "../app/store.js";
import { number, table } from "../app/table.js";

const OFFERED_MAX = 200;

export class CatalogMagic extends Reading {
	/** @type {any[]} */
	rows = [];
	/** @type {any[] | null} */
	magic = null;
	/** Which row the address led to. @type {string} */
	marked = "";
	whole = h("div", {});

	start() {
		this.replaceChildren(this.mistake, this.whole);
		this.watch(["place", "sandbox"], () => this.draw());
		this.refreshOn((row) => row.kind === "request" || row.event.action === "scenario_loaded");
	}

	/** @param {any[]} rows of the catalog */
	set products(rows) {
		this.rows = rows;
		this.draw();
	}

	async read() {
		this.magic = (await get(sandboxPath("coverage"))).magic;
		this.draw();
	}

	draw() {
		if (!this.magic) return;
		const offered = payable(this.rows).slice(0, OFFERED_MAX);
		const chosen =
			offered.find((one) => one.code === place.query.get("pay")) ??
			offered.find((one) => one.product.denomination) ??
			offered[0];
		redraw(this.whole, EXPLANATION(), chosen && choice(offered, chosen), accounts(this.magic, chosen?.product));
		const at = place.query.get("at") ?? "";
		if (at !== this.marked) this.querySelector("tr[aria-current]")?.scrollIntoView({ block: "center" });
		this.marked = at;
	}
}

const EXPLANATION = () =>
	h(
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

/** @param {any[]} magic @param {any} product */
function accounts(magic, product) {
	const resellers = store.sandbox?.resellers ?? [];
	const reseller = resellers.find((one) => one.code === chosenReseller()) ?? resellers[0];
	/** @param {any} one */
	const buttons = ({ digits, outcome }) => {
		const account = accountOf(product, digits);
		const call = () => copy(callLine(product, digits, reseller), `the signed call for “${visible(outcome)}”`);
		const labels = [`copy the account ${digits}`, `copy the call that pays with the account ${digits}`];
		return [
			h(
				"button",
				{ id: `magic-${digits}`, "aria-label": labels[0], onclick: () => copy(account, `the account ${account}`) },
				"copy",
			),
			" ",
			h("button", { id: `call-${digits}`, "aria-label": labels[1], onclick: call }, "copy the call"),
		];
	};
	return table(
		"Magic accounts",
		{
			account: (one) => h("code", {}, product ? accountOf(product, one.digits) : `…00000${one.digits}`),
			"what happens": (one) => short(one.outcome),
			met: number((one) => (one.met ? count(one.met) : "never")),
			"": (one) => product && buttons(one),
		},
		magic,
		"this scenario has no magic accounts",
		(one) => one.digits === magicDigits(place.query.get("at") ?? ""),
	);
}

/** @param {any[]} offered @param {any} chosen */
function choice(offered, chosen) {
	const options = offered.map((one) =>
		h("option", { value: one.code, selected: one === chosen }, visible(`${one.code}, ${one.name}`).slice(0, 60)),
	);
	/** @type {HTMLSelectElement} */
	const select = h("select", { id: "magic-product", onchange: () => setQuery({ pay: select.value }) }, ...options);
	return h("div", { class: "tools" }, h("label", { for: "magic-product", class: "past" }, "to pay for"), select);
}

customElements.define("catalog-magic", CatalogMagic);
