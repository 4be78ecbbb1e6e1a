// Settings and API keys of the resellers, changed at once.

import { credential } from "./credential.js";
import { get } from "../app/api.js";
import { confirmed } from "./dialogs.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { past } from "../app/pieces.js";
import { sandboxPath } from "../app/router.js";
import { act } from "../app/action-log.js";

const CHOICES_MAX = 500;

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
				settingsForm(who, resellers),
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

/** @param {Field} who @param {any[]} resellers */
function settingsForm(who, resellers) {
	/** @type {[string, string][]} */
	const credentials = [
		["", "key or token"],
		["yes", "key alone"],
	];
	const hint = "with commas between; empty allows all";
	const settingsOf = (/** @type {string} */ code) => resellers.find((one) => one.code === code)?.settings ?? {};
	const shown = form({
		label: "Change settings",
		submit: "Change",
		fields: [
			who,
			{ name: "only", label: "Payments by", options: credentials },
			{ name: "addresses", label: "Allowed addresses", hint, path: "ip_allowlist", size: 24 },
		],
		run: async ({ code, only, addresses }) => {
			const allowed = addresses.split(",").map((one) => one.trim());
			const settings = await act({
				method: "PATCH",
				path: sandboxPath("resellers", code, "settings"),
				body: { require_api_key_for_topup: Boolean(only), ip_allowlist: allowed.filter(Boolean) },
				says: `changed the settings of ${code}`,
			});
			Object.assign(settingsOf(code), settings);
		},
	});
	const [code, only, addresses] = /** @type {HTMLInputElement[]} */ ([...shown.elements]);
	const showSettings = () => {
		const { require_api_key_for_topup: isKeyAlone, ip_allowlist: allowed = [] } = settingsOf(code.value);
		only.value = isKeyAlone ? "yes" : "";
		addresses.value = allowed.join(", ");
	};
	code.addEventListener("change", showSettings);
	showSettings();
	return shown;
}

customElements.define("sim-reseller-settings", SimResellerSettings);
