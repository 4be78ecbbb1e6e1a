// The signing bench: a request or a curl command goes in; the string to sign comes out piece by piece, with the autopsy.
// The pasted text may be a real request, so it is not part of the address.

import { change, get } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { counted } from "../app/format.js";
import { past } from "../app/pieces.js";
import { short, visible } from "../app/safe-text.js";
import { endsOf, keepEnds, requestOf } from "../app/pasted-request.js";
import { sandboxPath } from "../app/router.js";
import { copy } from "../app/action-log.js";
import { table } from "../app/table.js";
import { autopsy } from "../app/reasons.js";

const SAMPLE = `curl 'http://127.0.0.1:8080/v2/balance' -H 'X-Api-Key: …' -H 'X-Timestamp: …' -H 'X-Nonce: …' -H 'X-Signature: v1=…'`;
const PASTED = "A curl command, or METHOD /path, headers, an empty line and the body";

/** @param {any} piece */
const nameOf = ({ name }) => name.replace("_", " ");

/** @param {string} label @param {HTMLElement} control */
const field = (label, control) => h("div", { class: "field" }, h("label", { for: control.id }, label), control);

class SimSign extends SimElement {
	asked = 0;
	pasted = h("textarea", { id: "sign-pasted", rows: 8, spellcheck: "false", placeholder: SAMPLE });
	own = h("textarea", { id: "sign-own", rows: 2, spellcheck: "false", placeholder: "v1:…" });
	key = h("select", { id: "sign-key" });
	secret = h("input", { id: "sign-secret", type: "password", autocomplete: "off", size: 44, placeholder: "Base64" });
	result = h("div", { class: "result", role: "region", "aria-label": "Explanation" });

	start() {
		this.ends.push(keepEnds(this.pasted));
		const send = (/** @type {Event} */ event) => {
			event.preventDefault();
			this.explain();
		};
		const form = h(
			"form",
			{ class: "bench", "aria-label": "Signing bench", onsubmit: send },
			field(PASTED, this.pasted),
			field("The string that your client signed, if you have it", this.own),
			field("Check with the key", this.key),
			field("Its secret, if the sandbox does not have it", this.secret),
			h("div", {}, h("button", { class: "main" }, "Explain")),
		);
		put(this, form, this.mistake, this.result);
		this.watch("restarted", () => this.readKeys());
		this.readKeys();
	}

	/** All keys of the sandbox: of each reseller, revoked keys included. */
	readKeys() {
		return this.attempt(async () => {
			const { resellers } = await get(`${sandboxPath("resellers")}?limit=500`);
			const { value } = this.key;
			const keys = resellers.flatMap((/** @type {any} */ one) =>
				one.api_keys.map((/** @type {any} */ { key, state }) =>
					h("option", { value: key, selected: key === value }, short(`${key} of ${one.code}, ${state}`, 120)),
				),
			);
			put(this.key, h("option", { value: "" }, "that the request names"), ...keys);
		});
	}

	async explain() {
		const asked = ++this.asked;
		const [key, secret, canonical] = [this.key.value, this.secret.value.trim(), this.own.value.replace(/\n$/, "")];
		const failure = await this.attempt(async () => {
			const request = requestOf(endsOf(this.pasted));
			const more = { ...(canonical && { canonical }), ...(key && { key }), ...(secret && { secret }) };
			const answer = await change("POST", sandboxPath("explain"), { ...request, ...more });
			if (asked === this.asked) put(this.result, explanation(answer));
		});
		if (failure && asked === this.asked) put(this.result);
	}
}

/** @param {any} answer of the control API @returns {Child} */
function explanation({ verdict, message, key, request, canonical, autopsy: found, curl, ...answer }) {
	const isValid = verdict === "valid";
	const pieces = canonical?.parts ?? [];
	const copyString = () => copy(canonical.text, "the string to sign");
	return [
		h("h2", { class: `tone-${isValid ? "good" : "bad"}` }, `${isValid ? "●" : "✕"} ${verdict}`),
		h("p", {}, short(message, 1000)),
		past(
			"key ",
			short(key.api_key),
			key.known ? [" of ", short(key.reseller), `, ${key.state}`] : ", which the sandbox does not know",
		),
		past(`the body has ${counted(request.body_bytes, "byte")}`),
		pieces.length > 0 && [toSign(pieces), h("button", { onclick: copyString }, "copy the string")],
		table(
			"The pieces, in their order",
			{
				piece: nameOf,
				value: (one) => h("code", {}, short(one.value, 500)),
				why: (one) => short(one.why, 500),
			},
			pieces,
		),
		table(
			"Signatures",
			{
				which: ([name]) => name,
				"X-Signature": ([, value]) => h("code", {}, short(value ?? "none", 300)),
			},
			[
				["expected", answer.expected_signature],
				["given", answer.given_signature],
			],
		),
		found?.compared && h("p", { class: "compared" }, short(found.compared.sentence, 1000)),
		autopsy(found),
		curl &&
			h(
				"button",
				{ onclick: () => copy(curl, "the command with a new signature") },
				"copy as curl with a new signature",
			),
	];
}

/** The string with its pieces, each named when it is pointed at or focused. @param {any[]} pieces */
function toSign(pieces) {
	const parts = pieces.flatMap((one, at) => [
		at > 0 && ":",
		h("span", { class: "piece", tabindex: "0", title: `${nameOf(one)}: ${one.why}` }, visible(one.value)),
	]);
	return h("pre", { class: "canonical", "aria-label": "string to sign" }, parts);
}

customElements.define("sim-sign", SimSign);
