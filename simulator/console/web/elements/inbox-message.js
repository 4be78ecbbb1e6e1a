// A message that an inbox received, whole: what it is, whether it is genuine, its headers and body.

import { get, query } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { dateTime } from "../app/format.js";
import { closeButton, facts, marked, past } from "../app/pieces.js";
import { bodyOf, headersOf, short } from "../app/safe-text.js";
import { here, sandboxPath, setQuery } from "../app/router.js";

/** Whether the signature was verified; callbacks are unsigned. @param {{ ok: boolean | null }} verified @param {string} kind */
export function verdict({ ok }, kind) {
	if (ok) return marked("good", "verified");
	if (ok === false) return marked("bad", "not verified");
	return marked("past", kind === "callback" ? "not signed" : "unknown");
}

export class InboxMessage extends SimElement {
	/** Which message is shown; empty to read it again. */
	asked = "";
	whole = h("div", {});

	start() {
		put(
			this,
			closeButton(() => setQuery({ at: "" })),
			this.mistake,
			this.whole,
		);
	}

	/** Read and draw a message of an inbox; 0 clears it. @param {string} name @param {number} n */
	async show(name, n) {
		const asked = `${name} ${n}`;
		if (asked === this.asked) return;
		this.asked = asked;
		this.hidden = n === 0;
		put(this.whole);
		if (n === 0) return;
		const failure = await this.attempt(async () => {
			const { items } = await get(sandboxPath("inbox", name) + query({ cursor: n - 1, limit: 1 }));
			if (asked !== this.asked) return;
			const found = items[0]?.n === n;
			put(this.whole, found ? parts(items[0]) : past(`Message ${n} is not kept in this inbox.`));
		});
		if (failure) this.asked = "";
	}
}

/** @param {any} one */
const parts = (one) => [
	h("h2", {}, `${one.kind} ${one.n}: ${one.method}`),
	facts([
		["time", dateTime(one.at)],
		["verified", [verdict(one.verified, one.kind), " ", short(one.verified.reason, 1000)]],
		["payment", one.refid && payment(one)],
		["delivery", one.delivery && delivery(one)],
		["answered", one.status ? String(one.status) : "connection closed"],
	]),
	Object.keys(one.query).length > 0 && [h("h3", {}, "Query"), headersOf(one.query)],
	h("h3", {}, "Headers"),
	headersOf(one.headers),
	h("h3", {}, "Body"),
	bodyOf(one.body, { label: "body of the message" }),
];

/** A link to the payment, or to all that has this refid. @param {{ refid: string, trxid: string | null }} one */
export function payment({ refid, trxid }) {
	const href = trxid ? here(["payments", trxid]) : here(["live"], { q: `refid:${JSON.stringify(refid)}` });
	return h("a", { href }, short(refid));
}

/** @param {{ delivery: string }} one */
export const delivery = ({ delivery: id }) => h("a", { href: here(["webhooks"], { at: id }) }, id);

customElements.define("inbox-message", InboxMessage);
