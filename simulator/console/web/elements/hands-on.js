// Other changes of a running sandbox: money, networks, products, keys and settings; and the magic accounts.

import { keyForms } from "./key-forms.js";
import { magicAccounts } from "./magic-accounts.js";
import { get, path } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { sum } from "../app/format.js";
import { place } from "../app/router.js";
import { act } from "../app/action-log.js";

const CHOICES_MAX = 500;

class SimHandsOn extends SimElement {
	start() {
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.forms = h("div", { class: "hands" });
		this.fresh = h("div", { class: "fresh", role: "status" });
		this.magic = h("details", { class: "magic" });
		put(this, h("h2", {}, "At once"), this.mistake, this.forms, this.fresh, this.magic);
		this.watch("restarted", () => this.read());
		this.read();
	}

	/** @param {...string} parts */
	at(...parts) {
		return path("sandboxes", place.sandbox, ...parts);
	}

	async read() {
		try {
			const [resellers, products, magic] = await Promise.all(
				["resellers", "catalog", "magic"].map((part) =>
					get(`${this.at(part)}${part === "magic" ? "" : `?limit=${CHOICES_MAX}`}`),
				),
			);
			const codes = products.products.map((/** @type {any} */ one) => one.code);
			this.draw(resellers.resellers, products.has_more ? undefined : codes, resellers.has_more);
			put(/** @type {HTMLElement} */ (this.magic), ...magicAccounts(magic));
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
	}

	/** The keys are others now. @param {HTMLElement | null} shown a new one, which is shown only now */
	async made(shown) {
		if (shown) put(/** @type {HTMLElement} */ (this.fresh), shown);
		await this.read();
	}

	/** @param {any[]} resellers @param {string[] | undefined} products none when they are too many to choose from @param {boolean} isMore */
	draw(resellers, products, isMore) {
		const codes = resellers.map((one) => one.code);
		const who = { name: "code", label: "Reseller", options: isMore ? undefined : codes, value: codes[0], size: 12 };
		const product = { name: "product", label: "Product", options: products, value: products?.[0], size: 12 };
		put(
			/** @type {HTMLElement} */ (this.forms),
			this.deposit(who),
			this.network(product),
			this.product(product),
			this.settings(who, resellers),
			...keyForms({ who, resellers, at: (...parts) => this.at(...parts), made: (shown) => this.made(shown) }),
		);
	}

	/** @param {import("../app/form.js").Field} who */
	deposit(who) {
		return form({
			label: "Make a deposit",
			submit: "Deposit",
			fields: [
				who,
				{ name: "amount", label: "Amount (MYR)", value: "100.00", size: 10 },
				{ name: "description", label: "Description", size: 16 },
			],
			run: async ({ code, amount, description }) => {
				await act({
					method: "POST",
					path: this.at("resellers", code, "deposits"),
					body: description ? { amount, description } : { amount },
					cli: ["deposit", amount, "--reseller", code, ...(description ? ["--description", description] : [])],
					says: (entry) => `deposited ${sum(entry.amount)}, balance ${sum(entry.balance)}`,
				});
			},
		});
	}

	/** @param {import("../app/form.js").Field} product */
	network(product) {
		return form({
			label: "Switch a network",
			submit: "Switch",
			fields: [product, { name: "status", label: "Network", options: ["Interruption", "Healthy"] }],
			run: async ({ product: code, status }) => {
				await act({
					method: "PUT",
					path: this.at("network", code),
					body: { status },
					cli: ["network", code, status === "Healthy" ? "on" : "off"],
					says: `the network of ${code} is ${status}`,
				});
			},
		});
	}

	/** @param {import("../app/form.js").Field} product */
	product(product) {
		return form({
			label: "Deactivate a product",
			submit: "Set",
			fields: [
				product,
				{
					name: "active",
					label: "Product is",
					options: [
						["", "inactive"],
						["yes", "active"],
					],
				},
			],
			run: async ({ product: code, active }) => {
				await act({
					method: "PATCH",
					path: this.at("catalog", "products", code),
					body: { is_active: Boolean(active) },
					cli: ["product", code, active ? "on" : "off"],
					says: `${code} is ${active ? "active" : "inactive"}`,
				});
			},
		});
	}

	/** @param {import("../app/form.js").Field} who @param {any[]} resellers */
	settings(who, resellers) {
		const first = resellers[0]?.settings;
		return form({
			label: "Change settings",
			submit: "Change",
			fields: [
				who,
				{
					name: "only",
					label: "Payments by",
					options: [
						["", "key or token"],
						["yes", "key alone"],
					],
					value: first?.require_api_key_for_topup ? "yes" : "",
				},
				{
					name: "addresses",
					label: "Allowed addresses",
					hint: "with commas between; empty allows all",
					value: first?.ip_allowlist.join(", "),
					path: "ip_allowlist",
					size: 24,
				},
			],
			run: async ({ code, only, addresses }) => {
				const body = {
					require_api_key_for_topup: Boolean(only),
					ip_allowlist: addresses
						.split(",")
						.map((one) => one.trim())
						.filter(Boolean),
				};
				await act({
					method: "PATCH",
					path: this.at("resellers", code, "settings"),
					body,
					says: `changed the settings of ${code}`,
				});
			},
		});
	}
}

customElements.define("sim-hands-on", SimHandsOn);
