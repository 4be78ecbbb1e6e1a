// One product beside the list: put it on or off sale, break or heal its network, change its selling price. Each says its line.

import { act } from "../app/action-log.js";
import { query } from "../app/api.js";
import { h, put, redraw } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { CURRENCY, change, money } from "../app/format.js";
import { closeButton, marked } from "../app/pieces.js";
import { bodyOf, short } from "../app/safe-text.js";
import { here, sandboxPath } from "../app/router.js";

/** @type {[string, string][]} */
const ADJUSTMENTS = [
	["", "none: the face value"],
	["fixed", `fixed: ${CURRENCY} added`],
	["percentage", "percentage: a factor such as 1.03"],
];

export class CatalogProduct extends SimElement {
	/** @type {any} */
	shown = null;
	reseller = "";
	priced = "";
	/** Closes it; the view sets it. */
	close = () => {};
	top = h("div", {});
	price = h("div", {});
	whole = h("div", {});

	start() {
		this.setAttribute("role", "region");
		this.setAttribute("aria-label", "Product");
		put(
			this,
			closeButton(() => this.close()),
			this.top,
			this.mistake,
			this.price,
			this.whole,
		);
	}

	/** @param {any} row of the catalog, null for none @param {string} reseller whose overlay it is, empty for everybody */
	show(row, reseller) {
		if (row === this.shown && reseller === this.reseller) return;
		const isAnother = row?.code !== this.shown?.code || reseller !== this.reseller;
		this.shown = row;
		this.reseller = reseller;
		this.hidden = !row;
		if (!row) return;
		if (isAnother) put(this.mistake);
		redraw(this.top, ...this.about(row));
		// A refresh that comes while the form is being sent must not take it away, with what was wrong in it.
		const now = JSON.stringify(row.product.pricing.price_adjustment);
		if (isAnother || (now !== this.priced && !this.price.contains(document.activeElement))) {
			this.priced = now;
			put(this.price, this.priceForm(row));
		}
		put(this.whole, bodyOf(JSON.stringify(row.product), { label: "the product as GET /v2/catalog has it" }));
	}

	/** @param {any} one */
	about(one) {
		const { reseller } = this;
		const whose = reseller && ` for ${reseller}`;
		const isHealthy = one.network === "Healthy";
		const sell = () =>
			changeProduct(one.code, { is_active: !one.is_active }, one.is_active ? "off sale" : "on sale", reseller);
		const heal = () => setNetwork(one.code, isHealthy ? "Interruption" : "Healthy");
		const drop = () =>
			changeProduct(one.code, { is_active: null, price_adjustment: null }, "as for everybody", reseller);
		const button = (/** @type {string} */ id, /** @type {string} */ text, /** @type {() => Promise<any>} */ run) =>
			h("button", { id, onclick: () => this.change(run) }, text);
		return [
			h("h2", {}, short(one.code), " ", h("span", { class: "past" }, short(one.name))),
			h(
				"div",
				{ class: "switches" },
				saleState(one),
				button("switch-sale", `${one.is_active ? "take off sale" : "put on sale"}${whose}`, sell),
				networkState(one),
				button("switch-network", isHealthy ? "interrupt its network" : "heal its network", heal),
				one.overlay && h("span", { class: "past" }, `${reseller} has its own`),
				one.overlay && button("overlay-off", "as for everybody", drop),
			),
			h("p", {}, h("a", { href: here(["live"], { q: `product:${one.code}` }) }, "what happened to its payments")),
		];
	}

	/** @param {any} one */
	priceForm(one) {
		const now = one.product.pricing.price_adjustment;
		const label = `price adjustment${this.reseller && ` of ${this.reseller}`}`;
		return form({
			label: "Price adjustment",
			submit: "adjust",
			fields: [
				{ name: "type", label, options: ADJUSTMENTS, value: now?.type ?? "" },
				{ name: "value", label: "value", size: 8, value: now ? String(now.value) : "", path: "price_adjustment.value" },
			],
			run: async ({ type, value }) => {
				const number = value.trim() ? Number(value) : Number.NaN;
				const adjustment = type ? { type, value: Number.isFinite(number) ? number : value } : null;
				const says = type ? `sold with the price adjustment ${type} ${value}` : "sold without price adjustment";
				await changeProduct(one.code, { price_adjustment: adjustment }, says, this.reseller);
				this.dispatchEvent(new Event("changed"));
			},
		});
	}

	/** @param {() => Promise<any>} run */
	async change(run) {
		if (!(await this.attempt(run))) this.dispatchEvent(new Event("changed"));
	}
}

/** @param {string} code of a product @param {string} status */
const setNetwork = (code, status) =>
	act({
		method: "PUT",
		path: sandboxPath("network", code),
		body: { status },
		cli: ["network", code, status === "Healthy" ? "on" : "off"],
		says: `the network of ${code} is ${status}`,
	});

/** @param {string} code @param {any} body @param {string} says @param {string} reseller whose overlay it is, empty for everybody */
function changeProduct(code, body, says, reseller) {
	const isSwitch = Object.keys(body).join() === "is_active" && body.is_active !== null;
	const change = isSwitch ? (body.is_active ? "on" : "off") : JSON.stringify(body);
	return act({
		method: "PATCH",
		path: sandboxPath("catalog", "products", code) + query({ reseller }),
		body,
		cli: ["product", code, change, ...(reseller ? ["--reseller", reseller] : [])],
		says: `${code}${reseller && ` of ${reseller}`} is ${says}`,
	});
}

/** @param {any} one */
export function saleState({ is_hidden, is_active }) {
	if (is_hidden) return marked("past", "hidden");
	return is_active ? marked("good", "on sale") : marked("past", "off sale");
}

/** @param {any} one */
export const networkState = (one) => marked(one.network === "Healthy" ? "good" : "bad", one.network);

/** `10.00 to 200.00`, or what of it there is. @param {any} one */
export function limits({ min, max }) {
	if (min === null && max === null) return "";
	return max === null ? `from ${money(min)}` : min === null ? `to ${money(max)}` : `${money(min)} to ${money(max)}`;
}

/** The selling price beside the face value. @param {any} one */
export function adjusted(one) {
	const now = one.product.pricing.price_adjustment;
	return now ? (now.type === "fixed" ? change(now.value) : `× ${now.value}`) : "";
}

customElements.define("catalog-product", CatalogProduct);
