// The signing bench: a request or a curl command goes in; the string to sign comes out piece by piece, with the autopsy.
// What is pasted may be a real request, so it stands in no address.

import { change, path } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { short, visible } from "../app/outside.js";
import { place } from "../app/router.js";
import { copy } from "../app/said.js";
import { table } from "../app/table.js";
import { autopsy } from "../app/why.js";

const SAMPLE = `curl 'http://127.0.0.1:8080/v2/balance' -H 'X-Api-Key: …' -H 'X-Timestamp: …' -H 'X-Nonce: …' -H 'X-Signature: v1=…'`;
const NAMES = /** @type {Record<string, string>} */ ({ body_hash: "body hash" });

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
				h("div", {}, h("button", { class: "main" }, "Explain")),
			),
			this.mistake,
			this.result,
		);
		this.asked = 0;
	}

	async explain() {
		const asked = (this.asked = (this.asked ?? 0) + 1);
		const request = this.pasted?.value.trim() ?? "";
		const own = this.own?.value.replace(/\n$/, "") ?? "";
		put(/** @type {HTMLElement} */ (this.mistake));
		try {
			const answer = await change("POST", `${path("sandboxes", place.sandbox)}/explain`, {
				...requestOf(request),
				...(own ? { canonical: own } : {}),
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
			pieces.length > 0 && this.string(pieces),
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
				h("button", { onclick: () => copy(answer.curl, "the command, signed anew") }, "copy as curl, signed anew"),
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

/**
 * What was pasted as the control API takes it: a curl command, or a request as HTTP writes it.
 * @param {string} text @returns {Record<string, any>}
 */
function requestOf(text) {
	if (/^(\$\s*)?curl\b/.test(text)) return { curl: text.replace(/^\$\s*/, "") };
	const [head, ...body] = text.split(/\r?\n\r?\n/);
	const [first, ...lines] = head.split(/\r?\n/);
	const [method, target] = first.split(/\s+/);
	if (!target) throw new Error("paste a curl command, or begin with a method and a path such as GET /v2/balance");
	const headers = lines.map((line) => {
		const colon = line.indexOf(":");
		if (colon < 1) throw new Error(`the line '${line.slice(0, 60)}' is no header: write Name: value`);
		return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
	});
	return { method, path: target, headers, ...(body.length ? { body: body.join("\n\n") } : {}) };
}

customElements.define("sim-sign", SimSign);
