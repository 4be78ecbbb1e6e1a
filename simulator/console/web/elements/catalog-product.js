// One product beside the list: put it on or off sale, break or heal its network, change its selling price. Each says its line.

import { path, query } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { CURRENCY, money } from "../app/format.js";
import { bodyOf, short } from "../app/safe-text.js";
import { here, place } from "../app/router.js";
import { act } from "../app/action-log.js";

const ADJUSTMENTS = /** @type {[string, string][]} */ ([
	["", "none: the face value"],
	["fixed", `fixed: ${CURRENCY} added`],
	["percentage", "percentage: a factor such as 1.03"],
]);

export class CatalogProduct extends SimElement {
	constructor() {
		super();
		/** @type {any} */
		this.shown = null;
		this.reseller = "";
		this.priced = "";
	}

	start() {
		this.setAttribute("role", "region");
		this.setAttribute("aria-label", "Product");
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.top = h("div", {});
		this.price = h("div", {});
		this.whole = h("div", {});
		put(this, this.top, this.mistake, this.price, this.whole);
		this.draw();
	}

	/** @param {any} row of the catalog, null for none @param {string} reseller whose overlay it is, empty for everybody */
	show(row, reseller) {
		if (row === this.shown && reseller === this.reseller) return;
		const isAnother = row?.code !== this.shown?.code || reseller !== this.reseller;
		this.shown = row;
		this.reseller = reseller;
		this.draw(isAnother);
	}

	/** @param {boolean} [isAnother] the form keeps what was written while the same product is shown */
	draw(isAnother = true) {
		const { shown, top, price, whole, mistake } = this;
		this.hidden = !shown;
		if (!shown || !top || !price || !whole || !mistake) return;
		if (isAnother) put(mistake);
		const focused = top.contains(document.activeElement) ? document.activeElement?.id : "";
		put(top, ...this.about(shown));
		if (focused) document.getElementById(focused)?.focus();
		// A refresh that comes while the form is being sent must not take it away, with what was wrong in it.
		const now = JSON.stringify(shown.product.pricing.price_adjustment);
		if (isAnother || (now !== this.priced && !price.contains(document.activeElement))) {
			this.priced = now;
			put(price, this.priceForm(shown));
		}
		put(whole, bodyOf(JSON.stringify(shown.product), { label: "the product as GET /v2/catalog has it" }));
	}

	/** @param {any} one */
	about(one) {
		const whose = this.reseller ? ` for ${this.reseller}` : "";
		const button = (/** @type {string} */ id, /** @type {string} */ text, /** @type {() => void} */ run) =>
			h("button", { id, onclick: run }, text);
		const isHealthy = one.network === "Healthy";
		return [
			h("h2", {}, short(one.code), " ", h("span", { class: "past" }, short(one.name))),
			h(
				"div",
				{ class: "switches" },
				saleState(one),
				button("switch-sale", `${one.is_active ? "take off sale" : "put on sale"}${whose}`, () =>
					this.sell(!one.is_active),
				),
				networkState(one),
				button("switch-network", isHealthy ? "interrupt its network" : "heal its network", () =>
					this.network(isHealthy ? "Interruption" : "Healthy"),
				),
				one.overlay && h("span", { class: "past" }, `${this.reseller} has its own`),
				one.overlay &&
					button("overlay-off", "as for everybody", () =>
						this.change({ is_active: null, price_adjustment: null }, "as for everybody"),
					),
			),
			h("p", {}, h("a", { href: here(["live"], { q: `product:${one.code}` }) }, "what happened to its payments")),
		];
	}

	/** @param {any} one */
	priceForm(one) {
		const now = one.product.pricing.price_adjustment;
		const made = form({
			label: "Price adjustment",
			submit: "adjust",
			fields: [
				{
					name: "type",
					label: `price adjustment${this.reseller ? ` of ${this.reseller}` : ""}`,
					options: ADJUSTMENTS,
					value: now?.type ?? "",
				},
				{ name: "value", label: "value", size: 8, value: now ? String(now.value) : "", path: "price_adjustment.value" },
			],
			run: async ({ type, value }) => {
				const number = value.trim() ? Number(value) : Number.NaN;
				const adjustment = type ? { type, value: Number.isFinite(number) ? number : value } : null;
				await this.patch(
					{ price_adjustment: adjustment },
					type ? `price adjustment ${type} ${value}` : "no price adjustment",
				);
			},
		});
		return made;
	}

	/** @param {boolean} isActive */
	sell(isActive) {
		this.change({ is_active: isActive }, isActive ? "on sale" : "off sale");
	}

	/** @param {string} status */
	network(status) {
		const { code } = this.shown;
		this.tried(() =>
			act({
				method: "PUT",
				path: path("sandboxes", place.sandbox, "network", code),
				body: { status },
				cli: ["network", code, status === "Healthy" ? "on" : "off"],
				says: `the network of ${code} is ${status} now`,
			}),
		);
	}

	/** @param {any} body @param {string} says */
	change(body, says) {
		this.tried(() => this.patch(body, says));
	}

	/** @param {any} body @param {string} says */
	async patch(body, says) {
		const { code } = this.shown;
		await act({
			method: "PATCH",
			path: path("sandboxes", place.sandbox, "catalog", "products", code) + query({ reseller: this.reseller }),
			body,
			cli: ["product", code, changes(body), ...(this.reseller ? ["--reseller", this.reseller] : [])],
			says: `${code}${this.reseller ? ` of ${this.reseller}` : ""}: ${says}`,
		});
		this.dispatchEvent(new Event("changed"));
	}

	/** @param {() => Promise<any>} what */
	async tried(what) {
		if (!this.mistake) return;
		put(this.mistake);
		try {
			await what();
			this.dispatchEvent(new Event("changed"));
		} catch (failure) {
			put(this.mistake, /** @type {Error} */ (failure).message);
		}
	}
}

/** @param {any} one */
export function saleState(one) {
	const [tone, text] = one.is_hidden
		? ["past", "· hidden"]
		: one.is_active
			? ["good", "● on sale"]
			: ["past", "· off sale"];
	return h("span", { class: `state tone-${tone}` }, text);
}

/** @param {any} one */
export function networkState(one) {
	return one.network === "Healthy"
		? h("span", { class: "state tone-good" }, "● Healthy")
		: h("span", { class: "state tone-bad" }, `✕ ${one.network}`);
}

/** `10.00 to 200.00`, or what of it there is. @param {any} one */
export function limits(one) {
	const [min, max] = [one.min, one.max];
	if (min === null && max === null) return "";
	return max === null ? `from ${money(min)}` : min === null ? `to ${money(max)}` : `${money(min)} to ${money(max)}`;
}

/** The selling price beside the face value. @param {any} one */
export function adjusted(one) {
	const now = one.product.pricing.price_adjustment;
	if (!now) return "";
	return now.type === "fixed" ? `${now.value < 0 ? "−" : "+"}${money(Math.abs(now.value))}` : `× ${now.value}`;
}

/** As the command line takes them. @param {any} body */
const changes = (body) =>
	Object.keys(body).join() === "is_active" ? (body.is_active ? "on" : "off") : JSON.stringify(body);

customElements.define("catalog-product", CatalogProduct);
