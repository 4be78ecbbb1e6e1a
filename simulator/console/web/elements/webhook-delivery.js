// One delivery of a webhook, whole: the event, each attempt and answer of the receiver, and its replay.

import { get } from "../app/api.js";
import { h, once, put, redraw } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { dateTime } from "../app/format.js";
import { closeButton, facts, marked } from "../app/pieces.js";
import { bodyOf, short } from "../app/safe-text.js";
import { go, here, sandboxPath, setQuery } from "../app/router.js";
import { act } from "../app/action-log.js";
import { number, table } from "../app/table.js";

/** @type {Record<string, Tone>} */
const TONES = { success: "good", failed: "bad", pending: "wait" };

/** @param {string} state */
export const stateOf = (state) => marked(TONES[state] ?? "past", state);

export class WebhookDelivery extends SimElement {
	job = "";
	whole = h("div", {});

	start() {
		put(
			this,
			closeButton(() => setQuery({ at: "" })),
			this.mistake,
			this.refusal,
			this.whole,
		);
	}

	/** Read and draw a delivery; an empty id clears it. @param {string} job */
	async show(job) {
		if (this.job !== job) for (const one of [this.refusal, this.whole]) put(one);
		this.job = job;
		this.hidden = !job;
		if (!job) return;
		await this.attempt(async () => {
			const found = await get(sandboxPath("deliveries", job));
			if (job === this.job) redraw(this.whole, ...this.parts(found));
		});
	}

	/** @param {any} one */
	parts(one) {
		const replay = h("button", { "data-key": "replay", onclick: once(() => this.replay(one.id)) }, "replay");
		return [
			h("h2", {}, `${one.type} ${one.id}`),
			facts([
				["state", stateOf(one.state)],
				["why", one.error && short(one.error, 1000)],
				["to", short(one.url, 500)],
				["reseller", one.reseller && short(one.reseller)],
				["event", h("a", { href: here(["webhooks"], { event: one.event_id }) }, one.event_id)],
				["made", dateTime(one.created)],
				["ended", one.completed && dateTime(one.completed)],
				["replay of", one.original && h("a", { href: here(["webhooks"], { at: one.original }) }, one.original)],
				["attempts", `${one.attempts.length} of ${one.retry_limit + 1}`],
			]),
			one.state === "failed" && h("p", {}, replay),
			table("Attempts", ATTEMPTS, one.attempts, "the first attempt is due"),
			h("h3", {}, "Sent body"),
			bodyOf(JSON.stringify(one.event), { label: "body of the event" }),
		];
	}

	/** @param {string} job */
	replay(job) {
		return this.attempt(async () => {
			const made = await act({
				method: "POST",
				path: sandboxPath("deliveries", job, "replay"),
				says: (one) => `${job} is delivered again as ${one.id}`,
			});
			go(here(["webhooks"], { at: made.id }));
		}, this.refusal);
	}
}

/** @type {Record<string, Cell<any>>} */
const ATTEMPTS = {
	attempt: number((one) => one.number),
	at: (one) => dateTime(one.at),
	ended: ({ ending, status }) => {
		if (!ending) return marked("wait", "in progress");
		return marked(status >= 200 && status < 300 ? "good" : "bad", String(status ?? ending));
	},
	"answer of the receiver": ({ number: n, body, error }) => {
		if (!body) return short(error, 500);
		return h("details", { "data-key": `answer-${n}` }, h("summary", {}, "body"), bodyOf(body, { label: "answer" }));
	},
};

customElements.define("webhook-delivery", WebhookDelivery);
