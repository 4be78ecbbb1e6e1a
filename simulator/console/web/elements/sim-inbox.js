// The inboxes of a sandbox: what arrived, whether it is genuine, and what they answer.

import "./inbox-message.js";
import { payment, verdict } from "./inbox-message.js";
import { SimList } from "./sim-list.js";
import { followInbox } from "../app/arrivals.js";
import { get, path } from "../app/api.js";
import { confirmed } from "../app/confirm.js";
import { h, put, say } from "../app/dom.js";
import { form } from "../app/form.js";
import { bothTimes, count, time } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { mine, Reading, redraw } from "../app/reading.js";
import { programOf, programText } from "../app/replies.js";
import { go, here, place, setQuery } from "../app/router.js";
import { act, copy } from "../app/action-log.js";

/** @typedef {import("../app/arrivals.js").Brief} Brief */

const USUAL = "callbacks";
const COLUMNS = [
	{ name: "n", class: "n", cell: (/** @type {Brief} */ one) => String(one.n) },
	{
		name: "time",
		class: "time",
		cell: (/** @type {Brief} */ one) => h("time", { title: bothTimes(one.at) }, time(one.at)),
	},
	{ name: "kind", class: "kind", cell: (/** @type {Brief} */ one) => `${one.kind} ${one.method}` },
	{ name: "verified", class: "state", cell: (/** @type {Brief} */ one) => verdict(one.verified, one.kind) },
	{ name: "about", class: "refid", cell: (/** @type {Brief} */ one) => (one.refid ? payment(one) : delivery(one)) },
	{
		name: "answered",
		class: "answered",
		cell: (/** @type {Brief} */ one) => (one.status ? String(one.status) : "closed"),
	},
	// That callbacks are not signed is said once, in the message that is open.
	{
		name: "why",
		class: "text",
		cell: (/** @type {Brief} */ one) => (one.kind === "callback" ? "" : short(one.verified.reason)),
	},
];

/** @param {Brief} one */
const delivery = (one) =>
	one.delivery ? h("a", { href: here(["webhooks"], { at: one.delivery }) }, one.delivery) : "";

class SimInbox extends Reading {
	/** @type {any[]} */
	inboxes = [];
	hasMore = false;
	shown = "";
	leave = () => {};

	start() {
		this.names = h("nav", { class: "parts", "aria-label": "Inboxes" });
		this.counts = h("span", { class: "counts", role: "status" });
		this.url = h("code", { class: "outside" });
		this.next = h("span", { class: "past" });
		// A refusal stays visible when the messages are refreshed.
		this.refusal = h("p", { class: "mistake", role: "alert" });
		this.list = new SimList();
		this.list.of = {
			label: "Messages of the inbox, newest first",
			columns: COLUMNS,
			key: (one) => String(one.n),
			select: (one) => setQuery({ at: String(one?.n ?? "") }),
			empty: () => this.teach(),
		};
		this.whole = /** @type {any} */ (h("inbox-message"));
		const copyUrl = () => copy(this.url?.textContent ?? "", "the inbox's address");
		const clear = h("button", { onclick: () => this.clear() }, "clear…");
		const copying = h("button", { onclick: copyUrl }, "copy address");
		put(
			this,
			h("div", { class: "tools" }, h("h2", {}, "Inbox"), this.names, h("span", { class: "gap" }), this.counts, clear),
			h("div", { class: "tools" }, this.url, copying),
			h(
				"details",
				{ class: "program", "data-key": "program" },
				h("summary", {}, "Replies ", this.next),
				this.replyForm(),
			),
			this.mistake,
			this.refusal,
			h("div", { class: "beside" }, this.list, this.whole),
		);
		this.watch("place", () => this.turn());
		this.watch("restarted", () => this.again());
		this.keys([
			{ key: "u", does: "copy the inbox's address", group: "Inbox", run: copyUrl },
			{ key: "Escape", does: "close the message", group: "Inbox", run: () => setQuery({ at: "" }) },
		]);
		this.ends.push(() => this.leave());
		this.follow(["callback", "webhook", "action"]);
		this.turn();
	}

	/** The inbox that the address names, else the first one. */
	get current() {
		return place.rest[0] ?? this.inboxes[0]?.name ?? USUAL;
	}

	async read() {
		const answer = await get(`${mine("inbox")}?limit=200`);
		[this.inboxes, this.hasMore] = [answer.inboxes, answer.has_more];
		this.turn();
	}

	/** Follow the inbox that is shown now, and show the message of the address. */
	turn() {
		if (!this.list || !this.names) return;
		const key = `${place.sandbox} ${this.current}`;
		if (key !== this.shown) {
			this.shown = key;
			this.again();
		}
		const shown = this.inboxes.some((one) => one.name === this.current)
			? this.inboxes
			: [{ name: this.current, count: 0 }, ...this.inboxes];
		redraw(this.names, ...shown.map((one) => this.tab(one)), this.hasMore && "… and more, by address");
		const found = this.inboxes.find((one) => one.name === this.current);
		if (this.next) say(this.next, found ? programText(found.replies) : "next: 200");
		const at = /^\d{1,12}$/.test(place.query.get("at") ?? "") ? Number(place.query.get("at")) : 0;
		this.list.choose(String(at));
		this.whole.show(this.current, at);
	}

	/** @param {any} one */
	tab(one) {
		const isCurrent = one.name === this.current && "page";
		return h("a", { href: here(["inbox", one.name]), "aria-current": isCurrent }, `${one.name} ${count(one.count)}`);
	}

	/** From the first message on: another inbox, or the same that was cleared. */
	again() {
		this.leave();
		if (this.list) this.list.items = [];
		delete this.whole.dataset.asked;
		this.leave = followInbox(
			this.current,
			({ items, url, leftOut }) => {
				if (this.list) this.list.items = items;
				say(this.mistake, "");
				if (this.url) say(this.url, url);
				const evicted = leftOut ? `, ${count(leftOut)} older ones not kept` : "";
				if (this.counts) say(this.counts, `${count(items.length)} arrived${evicted}`);
				this.soon();
			},
			(failure) => say(this.mistake, failure.message),
		);
	}

	teach() {
		return h(
			"div",
			{},
			h("p", {}, "Nothing arrived yet. An inbox is a receiver inside the sandbox: a callback or webhook URL of "),
			h("p", {}, h("code", {}, `inbox:${this.current}`), " leads here, and so does a POST to its address:"),
			h("pre", {}, `curl -d '{}' ${this.url?.textContent ?? ""}`),
		);
	}

	replyForm() {
		return form({
			label: "Program the replies",
			submit: "set replies",
			fields: [
				{ name: "replies", label: "replies, in order", size: 24, hint: "500, 200:1.5, disconnect" },
				{
					name: "repeat",
					label: "then",
					options: [
						["last", "repeat the last"],
						["all", "repeat all"],
					],
				},
				{ name: "body", label: "with the body", size: 20 },
				{ name: "during", label: "during a time of day", size: 20, hint: "12:00-13:00 503" },
			],
			run: async (values) => {
				const { replies, during, repeat, body } = values;
				const name = this.current;
				const isPlain = !during.trim() && !body && repeat === "last";
				await act({
					method: "PUT",
					path: path("sandboxes", place.sandbox, "inbox", name),
					body: programOf({ replies, during, repeat, body }),
					cli: isPlain ? ["inbox", name, "--reply", replies.replace(/\s/g, "")] : undefined,
					says: `replies of ${name} set`,
				});
				await this.now();
			},
		});
	}

	async clear() {
		const name = this.current;
		const text = "Its messages and the program of its replies are deleted; its numbers restart at 1.";
		if (!(await confirmed({ title: "Clear the inbox", text, name, button: "clear" }))) return;
		try {
			await act({
				method: "DELETE",
				path: path("sandboxes", place.sandbox, "inbox", name),
				cli: ["inbox", name, "--clear"],
				says: `inbox ${name} cleared`,
			});
		} catch (failure) {
			return say(/** @type {Node} */ (this.refusal), /** @type {Error} */ (failure).message);
		}
		say(/** @type {Node} */ (this.refusal), "");
		go(here(["inbox", name]), true);
		this.again();
		await this.now();
	}
}

customElements.define("sim-inbox", SimInbox);
