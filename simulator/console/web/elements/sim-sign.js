// The signing bench: a request or a curl command goes in; the string to sign comes out piece by piece, with the autopsy.
// The pasted text may be a real request, so it is not part of the address.

import { change, get, path } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { counted } from "../app/format.js";
import { short, visible } from "../app/safe-text.js";
import { endsOf, keepEnds, requestOf } from "../app/pasted-request.js";
import { mine } from "../app/reading.js";
import { place } from "../app/router.js";
import { copy } from "../app/action-log.js";
import { table } from "../app/table.js";
import { autopsy } from "../app/why.js";

const SAMPLE = `curl 'http://127.0.0.1:8080/v2/balance' -H 'X-Api-Key: …' -H 'X-Timestamp: …' -H 'X-Nonce: …' -H 'X-Signature: v1=…'`;
const NAMES = /** @type {Record<string, string>} */ ({ body_hash: "body hash" });

const AS_NAMED = () => h("option", { value: "" }, "that the request names");

/** @param {string} id @param {string} label @param {HTMLElement} control */
const field = (id, label, control) => h("div", { class: "field" }, h("label", { for: id }, label), control);

class SimSign extends SimElement {
	start() {
		const text = (/** @type {string} */ id, /** @type {string} */ label, /** @type {number} */ rows, hint = "") => {
			const area = h("textarea", { id, rows, spellcheck: "false", placeholder: hint });
			return {
				area: /** @type {HTMLTextAreaElement} */ (area),
				field: h("div", { class: "field" }, h("label", { for: id }, label), area),
			};
		};
		const pasted = text(
			"sign-pasted",
			"A curl command, or METHOD /path, headers, an empty line and the body",
			8,
			SAMPLE,
		);
		const own = text("sign-own", "The string that your client signed, if you have it", 2, "v1:…");
		this.pasted = pasted.area;
		this.own = own.area;
		this.ends.push(keepEnds(this.pasted));
		this.key = /** @type {HTMLSelectElement} */ (h("select", { id: "sign-key" }, AS_NAMED()));
		this.secret = /** @type {HTMLInputElement} */ (
			h("input", { id: "sign-secret", type: "password", autocomplete: "off", size: 44, placeholder: "Base64" })
		);
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.result = h("div", { class: "result", role: "region", "aria-label": "Explanation" });
		const send = (/** @type {Event} */ event) => {
			event.preventDefault();
			this.explain();
		};
		put(
			this,
			h(
				"form",
				{ class: "bench", "aria-label": "Signing bench", onsubmit: send },
				pasted.field,
				own.field,
				field("sign-key", "Check with the key", this.key),
				field("sign-secret", "Its secret, if the sandbox does not have it", this.secret),
				h("div", {}, h("button", { class: "main" }, "Explain")),
			),
			this.mistake,
			this.result,
		);
		this.asked = 0;
		this.watch("restarted", () => this.readKeys());
		this.readKeys();
	}

	/** All keys of the sandbox: of each reseller, revoked keys included. */
	async readKeys() {
		try {
			const { resellers } = await get(`${mine("resellers")}?limit=500`);
			const { value } = /** @type {HTMLSelectElement} */ (this.key);
			const keys = resellers.flatMap((/** @type {any} */ one) =>
				one.api_keys.map((/** @type {any} */ key) =>
					h(
						"option",
						{ value: key.key, selected: key.key === value },
						short(`${key.key} of ${one.code}, ${key.state}`, 120),
					),
				),
			);
			put(/** @type {HTMLElement} */ (this.key), AS_NAMED(), ...keys);
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
	}

	async explain() {
		const asked = (this.asked = (this.asked ?? 0) + 1);
		const request = endsOf(/** @type {HTMLTextAreaElement} */ (this.pasted));
		const [key, secret] = [this.key?.value, this.secret?.value.trim()];
		const own = this.own?.value.replace(/\n$/, "") ?? "";
		put(/** @type {HTMLElement} */ (this.mistake));
		try {
			const answer = await change("POST", `${path("sandboxes", place.sandbox)}/explain`, {
				...requestOf(request),
				...(own && { canonical: own }),
				...(key && { key }),
				...(secret && { secret }),
			});
			if (asked === this.asked) this.show(answer);
		} catch (failure) {
			if (asked !== this.asked) return;
			put(/** @type {HTMLElement} */ (this.mistake), visible(/** @type {Error} */ (failure).message));
			put(/** @type {HTMLElement} */ (this.result));
		}
	}

	/** @param {any} answer of the control API */
	show(answer) {
		const isValid = answer.verdict === "valid";
		const pieces = answer.canonical?.parts ?? [];
		put(
			/** @type {HTMLElement} */ (this.result),
			h("h2", { class: `tone-${isValid ? "good" : "bad"}` }, `${isValid ? "●" : "✕"} ${answer.verdict}`),
			h("p", {}, short(answer.message, 1000)),
			h(
				"p",
				{ class: "past" },
				"key ",
				short(answer.key.api_key),
				answer.key.known
					? [" of ", short(answer.key.reseller), `, ${answer.key.state}`]
					: ", which the sandbox does not know",
			),
			h("p", { class: "past" }, `the body has ${counted(answer.request.body_bytes, "byte")}`),
			pieces.length > 0 && this.string(pieces),
			pieces.length > 0 &&
				h("button", { onclick: () => copy(answer.canonical.text, "the string to sign") }, "copy the string"),
			table(
				"The pieces, in their order",
				[
					{ name: "piece", cell: (/** @type {any} */ one) => NAMES[one.name] ?? one.name },
					{ name: "value", cell: (one) => h("code", {}, short(one.value, 500)) },
					{ name: "why", cell: (one) => short(one.why, 500) },
				],
				pieces,
			),
			table(
				"Signatures",
				[
					{ name: "which", cell: (/** @type {string[]} */ one) => one[0] },
					{ name: "X-Signature", cell: (one) => h("code", {}, short(one[1] ?? "none", 300)) },
				],
				[
					["expected", answer.expected_signature],
					["given", answer.given_signature],
				],
			),
			answer.autopsy?.compared && h("p", { class: "compared" }, short(answer.autopsy.compared.sentence, 1000)),
			autopsy(answer.autopsy),
			answer.curl &&
				h(
					"button",
					{ onclick: () => copy(answer.curl, "the command with a new signature") },
					"copy as curl with a new signature",
				),
		);
	}

	/** The string with its pieces, each named when it is pointed at or focused. @param {any[]} pieces */
	string(pieces) {
		const parts = pieces.flatMap((one, at) => [
			at > 0 && ":",
			h(
				"span",
				{ class: "piece", tabindex: "0", title: `${NAMES[one.name] ?? one.name}: ${one.why}` },
				visible(one.value),
			),
		]);
		return h("pre", { class: "canonical", "aria-label": "string to sign" }, parts);
	}
}

customElements.define("sim-sign", SimSign);
