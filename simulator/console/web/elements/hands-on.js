// What else can be changed while the sandbox runs: money, networks, products, keys and settings; and the magic accounts.

import { get, path } from "../app/api.js";
import { confirmed } from "../app/confirm.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { counted, span, sum } from "../app/format.js";
import { short } from "../app/outside.js";
import { place } from "../app/router.js";
import { act, copy } from "../app/said.js";
import { table } from "../app/table.js";
import { credential } from "./credential.js";

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
			this.drawMagic(magic);
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
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
			this.newKey(who),
			this.revoke(resellers),
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

	/** @param {import("../app/form.js").Field} who */
	newKey(who) {
		return form({
			label: "Make an API key",
			submit: "New key",
			fields: [who],
			run: async ({ code }) => {
				const made = await act({
					method: "POST",
					path: this.at("resellers", code, "api-keys"),
					body: {},
					says: (key) => `made key ${key.api_key}`,
				});
				const secret = credential("api secret", made.api_secret, true);
				put(
					/** @type {HTMLElement} */ (this.fresh),
					h(
						"p",
						{},
						"New key ",
						credential("api key", made.api_key, false),
						" with the secret ",
						secret,
						", which is shown only now.",
					),
				);
				await this.read();
			},
		});
	}

	/** @param {any[]} resellers */
	revoke(resellers) {
		const keys = resellers.flatMap((one) =>
			one.api_keys
				.filter((/** @type {any} */ key) => key.state === "active")
				.map(
					(/** @type {any} */ key) =>
						/** @type {[string, string]} */ ([JSON.stringify([one.code, key.key]), `${key.key} of ${one.code}`]),
				),
		);
		if (!keys.length) return h("p", { class: "past" }, "No key is active.");
		return form({
			label: "Revoke an API key",
			submit: "Revoke",
			fields: [{ name: "which", label: "Key", options: keys }],
			run: async ({ which }) => {
				const [code, key] = JSON.parse(which);
				const text =
					"Requests that it signs get 401 from now on. A key that is revoked cannot come back; a new one can be made.";
				if (!(await confirmed({ title: `Revoke ${key}?`, text, name: key, button: "Revoke" }))) return;
				await act({ method: "DELETE", path: this.at("resellers", code, "api-keys", key), says: `revoked key ${key}` });
				await this.read();
			},
		});
	}

	/** @param {{ outcomes: { digits: string, outcome: string }[], durations: { digit: string, seconds: number }[] }} magic */
	drawMagic({ outcomes, durations }) {
		const account = (/** @type {string} */ digits) => `012000000${digits}`.slice(-10).replace(/^./, "0");
		const shown = table(
			"An account is magic when its last seven digits are 0000DOO",
			[
				{ name: "OO", cell: (one) => h("code", {}, one.digits) },
				{ name: "what happens", cell: (one) => short(one.outcome) },
				{
					name: "an account",
					cell: (one) =>
						h(
							"button",
							{
								class: "quiet copy",
								"aria-label": `Copy ${account(one.digits)}`,
								title: "copy",
								onclick: () => copy(account(one.digits), "the account"),
							},
							h("code", {}, account(one.digits)),
						),
				},
			],
			outcomes,
			"This scenario has none.",
		);
		const spans = durations.map((one) => `${one.digit} ${span(one.seconds * 1000)}`).join(", ");
		put(
			/** @type {HTMLElement} */ (this.magic),
			h("summary", {}, `${counted(outcomes.length, "magic account")} at hand`),
			shown,
			spans && h("p", { class: "past" }, `D says how long it takes: 0 as usual, ${spans}.`),
		);
	}
}

customElements.define("sim-hands-on", SimHandsOn);
