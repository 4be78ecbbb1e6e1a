// Other changes of a running sandbox: money, networks, products, keys and settings; and the magic accounts.

import "./catalog-magic.js";
import { credential } from "./credential.js";
import { get } from "../app/api.js";
import { deposit, changeProduct, setNetwork } from "../app/changes.js";
import { confirmed } from "./dialogs.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { past } from "../app/pieces.js";
import { sandboxPath } from "../app/router.js";
import { act } from "../app/action-log.js";

const CHOICES_MAX = 500;

class SimHandsOn extends SimElement {
	forms = h("div", { class: "hands" });
	fresh = h("div", { class: "fresh", role: "status" });
	magic = h("catalog-magic");

	start() {
		const magic = h("details", { class: "magic" }, h("summary", {}, "magic accounts at hand"), this.magic);
		put(this, h("h2", {}, "At once"), this.mistake, this.forms, this.fresh, magic);
		this.watch("restarted", () => this.read());
		this.read();
	}

	read() {
		return this.attempt(async () => {
			const [resellers, catalog] = await Promise.all(
				["resellers", "catalog"].map((part) => get(`${sandboxPath(part)}?limit=${CHOICES_MAX}`)),
			);
			this.magic.products = catalog.products;
			this.draw(resellers, catalog);
		});
	}

	/** Choices where they are not too many, and the first one. @param {any} resellers @param {any} catalog the answers of the control API */
	draw({ resellers, has_more }, { products, has_more: hasMoreProducts }) {
		const codes = resellers.map((/** @type {any} */ one) => one.code);
		const names = products.map((/** @type {any} */ one) => one.code);
		const options = has_more ? undefined : codes;
		const who = { name: "code", label: "Reseller", options, value: codes[0], size: 12 };
		const offered = hasMoreProducts ? undefined : names;
		const product = { name: "product", label: "Product", options: offered, value: names[0], size: 12 };
		put(
			this.forms,
			form({
				label: "Make a deposit",
				submit: "Deposit",
				fields: [
					who,
					{ name: "amount", label: "Amount (MYR)", value: "100.00", size: 10 },
					{ name: "description", label: "Description", size: 16 },
				],
				run: ({ code, ...values }) => deposit(code, values),
			}),
			form({
				label: "Switch a network",
				submit: "Switch",
				fields: [product, { name: "status", label: "Network", options: ["Interruption", "Healthy"] }],
				run: ({ product: code, status }) => setNetwork(code, status),
			}),
			form({
				label: "Deactivate a product",
				submit: "Set",
				fields: [product, { name: "state", label: "Product is", options: ["inactive", "active"] }],
				run: ({ product: code, state }) => changeProduct(code, { is_active: state === "active" }, state),
			}),
			this.settings(who, resellers[0]?.settings),
			form({ label: "Create an API key", submit: "New key", fields: [who], run: ({ code }) => this.newKey(code) }),
			this.revoke(resellers),
		);
	}

	/** @param {Field} who @param {any} now of the first one */
	settings(who, now) {
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
					value: now?.require_api_key_for_topup ? "yes" : "",
				},
				{
					name: "addresses",
					label: "Allowed addresses",
					hint: "with commas between; empty allows all",
					value: now?.ip_allowlist.join(", "),
					path: "ip_allowlist",
					size: 24,
				},
			],
			run: async ({ code, only, addresses }) => {
				const allowed = addresses.split(",").map((one) => one.trim());
				await act({
					method: "PATCH",
					path: sandboxPath("resellers", code, "settings"),
					body: { require_api_key_for_topup: Boolean(only), ip_allowlist: allowed.filter(Boolean) },
					says: `changed the settings of ${code}`,
				});
			},
		});
	}

	/** @param {string} code of a reseller */
	async newKey(code) {
		const key = await act({
			method: "POST",
			path: sandboxPath("resellers", code, "api-keys"),
			body: {},
			says: (one) => `created key ${one.api_key}`,
		});
		const [name, secret] = [credential("api key", key.api_key, false), credential("api secret", key.api_secret, true)];
		put(this.fresh, h("p", {}, "New key ", name, " with the secret ", secret, ", which is shown only now."));
		await this.read();
	}

	/** @param {any[]} resellers */
	revoke(resellers) {
		const keys = resellers.flatMap(({ code, api_keys }) =>
			api_keys
				.filter((/** @type {any} */ one) => one.state === "active")
				.map((/** @type {any} */ { key }) => [JSON.stringify([code, key]), `${key} of ${code}`]),
		);
		if (!keys.length) return past("No key is active.");
		return form({
			label: "Revoke an API key",
			submit: "Revoke",
			fields: [{ name: "which", label: "Key", options: keys }],
			run: async ({ which }) => {
				const [code, key] = JSON.parse(which);
				const text = "Requests that it signs get 401 from now on. A revoked key cannot return; create a new key.";
				if (!(await confirmed({ title: `Revoke ${key}?`, text, name: key, button: "Revoke" }))) return;
				const where = sandboxPath("resellers", code, "api-keys", key);
				await act({ method: "DELETE", path: where, says: `revoked key ${key}` });
				await this.read();
			},
		});
	}
}

customElements.define("sim-hands-on", SimHandsOn);
