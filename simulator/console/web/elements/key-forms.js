// Makes and revokes API keys while the sandbox runs.

import { confirmed } from "../app/confirm.js";
import { h } from "../app/dom.js";
import { form } from "../app/form.js";
import { act } from "../app/action-log.js";
import { credential } from "./credential.js";

/**
 * @typedef {{ who: import("../app/form.js").Field, resellers: any[], at: (...parts: string[]) => string, made: (shown: HTMLElement | null) => Promise<void> }} Of
 *   `at` is a path below the sandbox; `made` is called when the keys are others, with what to show
 */

/** @param {Of} of */
export const keyForms = (of) => [newKey(of), revoke(of)];

/** @param {Of} of */
function newKey({ who, at, made }) {
	return form({
		label: "Create an API key",
		submit: "New key",
		fields: [who],
		run: async ({ code }) => {
			const key = await act({
				method: "POST",
				path: at("resellers", code, "api-keys"),
				body: {},
				says: (one) => `created key ${one.api_key}`,
			});
			const secret = credential("api secret", key.api_secret, true);
			await made(
				h(
					"p",
					{},
					"New key ",
					credential("api key", key.api_key, false),
					" with the secret ",
					secret,
					", which is shown only now.",
				),
			);
		},
	});
}

/** @param {Of} of */
function revoke({ resellers, at, made }) {
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
			const text = "Requests that it signs get 401 from now on. A revoked key cannot return; create a new key.";
			if (!(await confirmed({ title: `Revoke ${key}?`, text, name: key, button: "Revoke" }))) return;
			await act({ method: "DELETE", path: at("resellers", code, "api-keys", key), says: `revoked key ${key}` });
			await made(null);
		},
	});
}
