// Settings and API keys of the resellers, changed at once.

import { credential } from "./credential.js";
import { get, pages } from "../app/api.js";
import { confirmed } from "./dialogs.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { past } from "../app/pieces.js";
import { Reading } from "../app/reading.js";
import { sandboxPath } from "../app/router.js";
import { act } from "../app/action-log.js";

const CHOICES_MAX = 500;
const PAGE = 1000;

class SimResellerSettings extends SimElement {
	forms = h("div", { class: "hands" });
	fresh = h("div", { class: "fresh", role: "status" });

	start() {
		put(this, h("h2", {}, "Settings and keys"), this.mistake, this.forms, this.fresh);
		this.watch("restarted", () => this.read());
		this.read();
	}

	read() {
		return this.attempt(async () => {
			const { resellers, has_more } = await get(`${sandboxPath("resellers")}?limit=${CHOICES_MAX}`);
			const codes = resellers.map((/** @type {any} */ one) => one.code);
			const who = { name: "code", label: "Reseller", options: has_more ? undefined : codes, value: codes[0], size: 12 };
			put(
				this.forms,
				new ChosenSettings(who),
				form({ label: "Create an API key", submit: "New key", fields: [who], run: ({ code }) => this.newKey(code) }),
				this.revoke(resellers),
			);
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

/** The settings of the reseller that is chosen in it, as they are now, until something is changed in the form. */
class ChosenSettings extends Reading {
	isTouched = false;
	/** The reseller whose settings are shown. */
	shown = "";

	/** @param {Field} who */
	constructor(who) {
		super();
		/** @type {[string, string][]} */
		const credentials = [
			["", "key or token"],
			["yes", "key alone"],
		];
		const hint = "with commas between; empty allows all";
		this.form = form({
			label: "Change settings",
			submit: "Change",
			fields: [
				who,
				{ name: "only", label: "Payments by", options: credentials },
				{ name: "addresses", label: "Allowed addresses", hint, path: "ip_allowlist", size: 24 },
			],
			run: (values) => this.change(values),
		});
		this.controls = /** @type {HTMLInputElement[]} */ ([...this.form.elements]);
	}

	start() {
		put(this, this.form, this.mistake);
		this.listen(this.form, "input", () => (this.isTouched = true));
		this.listen(this.controls[0], "change", () => this.again());
		this.refreshOn((row) => row.event.action === "settings_changed");
	}

	/** Read them whatever was changed. */
	again() {
		this.shown = "";
		return this.now();
	}

	async read() {
		const [code, only, addresses] = this.controls;
		const chosen = code.value;
		const found = await resellerOf(chosen);
		if ((this.isTouched && this.shown) || chosen !== code.value) return;
		if (!found) throw new Error(`this sandbox has no reseller '${chosen}'`);
		this.shown = chosen;
		this.isTouched = false;
		only.value = found.settings.require_api_key_for_topup ? "yes" : "";
		addresses.value = found.settings.ip_allowlist.join(", ");
	}

	/** @param {Record<string, string>} values */
	async change({ code, only, addresses }) {
		if (code !== this.shown) throw new Error(`the settings of ${code} are not shown yet`);
		const allowed = addresses.split(",").map((one) => one.trim());
		await act({
			method: "PATCH",
			path: sandboxPath("resellers", code, "settings"),
			body: { require_api_key_for_topup: Boolean(only), ip_allowlist: allowed.filter(Boolean) },
			says: `changed the settings of ${code}`,
		});
		await this.again();
	}
}

/** A reseller as it is now. @param {string} code @returns {Promise<any>} */
async function resellerOf(code) {
	for await (const { resellers } of pages(sandboxPath("resellers"), { limit: PAGE })) {
		const found = resellers.find((/** @type {any} */ one) => one.code === code);
		if (found) return found;
	}
}

customElements.define("chosen-settings", ChosenSettings);
customElements.define("sim-reseller-settings", SimResellerSettings);
