// A message that an inbox received, whole: what it is, whether it is genuine, its headers and body.

import { messageOf } from "../app/arrivals.js";
import { Refused } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { dateTime } from "../app/format.js";
import { bodyOf, headersOf, short } from "../app/safe-text.js";
import { marked } from "../app/reading.js";
import { here } from "../app/router.js";

/** Whether the signature was verified; callbacks are unsigned. @param {{ ok: boolean | null }} verified @param {string} kind */
export function verdict({ ok }, kind) {
	if (ok) return marked("good", "verified");
	if (ok === false) return marked("bad", "not verified");
	return marked("past", kind === "callback" ? "not signed" : "unknown");
}

class InboxMessage extends SimElement {
	/** Read and draw a message of an inbox; 0 clears it. @param {string} name @param {number} n */
	async show(name, n) {
		const asked = `${name} ${n}`;
		if (asked === this.dataset.asked) return;
		this.dataset.asked = asked;
		this.hidden = n === 0;
		if (n === 0) return put(this);
		try {
			const found = await messageOf(name, n);
			if (asked !== this.dataset.asked) return;
			if (found) put(this, ...whole(found));
			else put(this, h("p", { class: "past" }, `Message ${n} is not kept in this inbox.`));
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			delete this.dataset.asked;
			put(this, h("p", { class: "mistake", role: "alert" }, failure.message));
		}
	}
}

/** @param {any} one */
function whole(one) {
	/** @type {[string, import("../app/dom.js").Child][]} */
	const facts = [
		["time", dateTime(one.at)],
		["verified", [verdict(one.verified, one.kind), " ", short(one.verified.reason, 1000)]],
		["payment", one.refid && payment(one)],
		["delivery", one.delivery && h("a", { href: here(["webhooks"], { at: one.delivery }) }, one.delivery)],
		["answered", one.status ? String(one.status) : "connection closed"],
	];
	const query = Object.entries(one.query);
	return [
		h("h2", {}, `${one.kind} ${one.n}: ${one.method}`),
		h(
			"dl",
			{ class: "pairs" },
			...facts.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
		),
		...(query.length ? [h("h3", {}, "Query"), headersOf(one.query)] : []),
		h("h3", {}, "Headers"),
		headersOf(one.headers),
		h("h3", {}, "Body"),
		bodyOf(one.body, { label: "body of the message" }),
	];
}

/** A link to the payment, or to all that has this refid. @param {{ refid: string, trxid: string | null }} one */
export const payment = ({ refid, trxid }) =>
	h(
		"a",
		{ href: trxid ? here(["payments", trxid]) : here(["live"], { q: `refid:${JSON.stringify(refid)}` }) },
		short(refid),
	);

customElements.define("inbox-message", InboxMessage);
