// One delivery of a webhook, whole: the event, each attempt and answer of the receiver, and its replay.

import { get, path, Refused } from "../app/api.js";
import { h, once, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { dateTime } from "../app/format.js";
import { bodyOf, short } from "../app/safe-text.js";
import { marked, redraw } from "../app/reading.js";
import { go, here, place } from "../app/router.js";
import { act } from "../app/action-log.js";
import { table } from "../app/table.js";

/** @type {Record<string, "good" | "bad" | "wait">} */
const TONES = { success: "good", failed: "bad", pending: "wait" };

/** @param {string} state */
export const stateOf = (state) => marked(TONES[state] ?? "past", state);

class WebhookDelivery extends SimElement {
	/** Read and draw a delivery; an empty id clears it. @param {string} job */
	async show(job) {
		if (this.dataset.job !== job) put(this);
		this.dataset.job = job;
		this.hidden = !job;
		if (!job) return;
		try {
			const found = await get(path("sandboxes", place.sandbox, "deliveries", job));
			if (job === this.dataset.job) redraw(this, ...this.whole(found));
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			if (job === this.dataset.job) put(this, h("p", { class: "mistake", role: "alert" }, failure.message));
		}
	}

	/** @param {any} one */
	whole(one) {
		const mistake = h("p", { class: "mistake", role: "alert" });
		/** @type {[string, import("../app/dom.js").Child][]} */
		const facts = [
			["state", stateOf(one.state)],
			["why", one.error && short(one.error, 1000)],
			["to", short(one.url, 500)],
			["reseller", one.reseller && short(one.reseller)],
			["event", h("a", { href: here(["webhooks"], { event: one.event_id }) }, one.event_id)],
			["made", dateTime(one.created)],
			["ended", one.completed && dateTime(one.completed)],
			["replay of", one.original && h("a", { href: here(["webhooks"], { at: one.original }) }, one.original)],
			["attempts", `${one.attempts.length} of ${one.retry_limit + 1}`],
		];
		const replay = h("button", { "data-key": "replay", onclick: once(() => this.replay(one.id, mistake)) }, "replay");
		return [
			h("h2", {}, `${one.type} ${one.id}`),
			h(
				"dl",
				{ class: "pairs" },
				...facts.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
			),
			...(one.state === "failed" ? [h("p", {}, replay)] : []),
			mistake,
			table("Attempts", ATTEMPTS, one.attempts, "the first attempt is due"),
			h("h3", {}, "Sent body"),
			bodyOf(JSON.stringify(one.event), { label: "body of the event" }),
		];
	}

	/** @param {string} job @param {HTMLElement} mistake */
	async replay(job, mistake) {
		try {
			const made = await act({
				method: "POST",
				path: path("sandboxes", place.sandbox, "deliveries", job, "replay"),
				says: (one) => `${job} is delivered again as ${one.id}`,
			});
			go(here(["webhooks"], { at: made.id }));
		} catch (failure) {
			say(mistake, /** @type {Error} */ (failure).message);
		}
	}
}

const ATTEMPTS = [
	{ name: "attempt", number: true, cell: (/** @type {any} */ one) => String(one.number) },
	{ name: "at", cell: (/** @type {any} */ one) => dateTime(one.at) },
	{ name: "ended", cell: (/** @type {any} */ one) => ending(one) },
	{
		name: "answer of the receiver",
		cell: (/** @type {any} */ one) =>
			one.body
				? h(
						"details",
						{ "data-key": `answer-${one.number}` },
						h("summary", {}, "body"),
						bodyOf(one.body, { label: "answer" }),
					)
				: short(one.error, 500),
	},
];

/** @param {any} one */
function ending(one) {
	if (!one.ending) return marked("wait", "in progress");
	const isGood = one.status >= 200 && one.status < 300;
	return marked(isGood ? "good" : "bad", String(one.status ?? one.ending));
}

customElements.define("webhook-delivery", WebhookDelivery);
