// The inboxes of a sandbox: what arrived, whether it is genuine, and what they answer.

import "./inbox-message.js";
import { delivery, payment, verdict } from "./inbox-message.js";
import { SimList } from "./sim-list.js";
import { get, query } from "../app/api.js";
import { confirmed } from "./dialogs.js";
import { h, put, redraw, say } from "../app/dom.js";
import { form } from "../app/form.js";
import { count } from "../app/format.js";
import { moment } from "../app/pieces.js";
import { short } from "../app/safe-text.js";
import { ofKinds, Reading } from "../app/reading.js";
import { programOf, programText } from "../app/replies.js";
import { go, here, sandboxPath, place, setQuery } from "../app/router.js";
import { act, copy } from "../app/action-log.js";

const USUAL = "callbacks";
const PAGE = 200;
const KEPT_MAX = 5000;
/** Posts from outside make no event. A request that waited for them would hold one of six connections of all tabs. */
const POLL_MS = 1000;

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "n number", name: "n", width: 6, cell: (one) => String(one.n) },
	{ class: "time", width: 13, cell: (one) => moment(one.at) },
	{ class: "kind", width: 17, cell: (one) => `${one.kind} ${one.method}` },
	{ class: "state", name: "verified", width: 17, cell: (one) => verdict(one.verified, one.kind) },
	{
		class: "refid",
		name: "about",
		width: 20,
		cell: (one) => (one.refid ? payment(one) : one.delivery && delivery(one)),
	},
	{ class: "answered number", name: "answered", width: 9, cell: (one) => (one.status ? String(one.status) : "closed") },
	// That callbacks are not signed is said once, in the message that is open.
	{ class: "text", name: "why", cell: (one) => (one.kind === "callback" ? "" : short(one.verified.reason)) },
];

class SimInbox extends Reading {
	/** @type {any[]} */
	inboxes = [];
	hasMore = false;
	/** The inbox that is shown, and its messages, newest first. */
	shown = "";
	/** @type {any[]} */
	messages = [];
	names = h("nav", { class: "parts", "aria-label": "Inboxes" });
	counts = h("span", { class: "counts", role: "status" });
	url = h("code", { class: "outside" });
	next = h("span", { class: "past" });
	list = new SimList({
		label: "Messages of the inbox, newest first",
		columns: COLUMNS,
		key: (one) => String(one.n),
		select: (one) => setQuery({ at: String(one.n) }),
		empty: () => this.teach(),
	});
	whole = h("inbox-message");

	start() {
		const copyUrl = () => copy(this.url.textContent ?? "", "the inbox's address");
		const clear = h("button", { onclick: () => this.clear() }, "clear…");
		const program = [h("summary", {}, "Replies ", this.next), this.replyForm()];
		put(
			this,
			h("div", { class: "tools" }, h("h2", {}, "Inbox"), this.names, h("span", { class: "gap" }), this.counts, clear),
			h("div", { class: "tools" }, this.url, h("button", { onclick: copyUrl }, "copy address")),
			h("details", { class: "program", "data-key": "program" }, ...program),
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
		this.turn();
		this.refreshOn(ofKinds("callback", "webhook", "action"));
	}

	/** The inbox that the address names, else the first one. */
	get current() {
		return place.rest[0] ?? this.inboxes[0]?.name ?? USUAL;
	}

	async read() {
		const answer = await get(`${sandboxPath("inbox")}?limit=200`);
		[this.inboxes, this.hasMore] = [answer.inboxes, answer.has_more];
		this.turn();
		const { shown } = this;
		for (let hasMore = true; hasMore;) {
			const cursor = this.messages[0]?.n ?? 0;
			const page = await get(sandboxPath("inbox", shown) + query({ cursor, limit: PAGE }));
			if (shown !== this.shown) return;
			// The numbers restart when a client clears the inbox.
			const isCleared = page.count + page.left_out < cursor;
			hasMore = page.has_more || isCleared;
			// Headers and bodies are read when a message is opened.
			const fresh = page.items.map((/** @type {any} */ one) => ({ ...one, headers: [], body: "" })).reverse();
			this.messages = isCleared ? [] : [...fresh, ...this.messages].slice(0, KEPT_MAX);
			const evicted = page.left_out ? `, ${count(page.left_out)} older ones not kept` : "";
			say(this.url, page.url);
			say(this.counts, `${count(this.messages.length)} arrived${evicted}`);
			this.list.items = this.messages;
		}
		if (this.isConnected && !this.isStale) this.soon(POLL_MS);
	}

	/** Follow the inbox that is shown now, and show the message of the address. */
	turn() {
		if (this.current !== this.shown) this.again();
		const found = this.inboxes.find((one) => one.name === this.current);
		const shown = found ? this.inboxes : [{ name: this.current, count: 0 }, ...this.inboxes];
		redraw(this.names, ...shown.map((one) => this.tab(one)), this.hasMore && "… and more, by address");
		say(this.next, found ? programText(found.replies) : "next: 200");
		const at = /^\d{1,12}$/.test(place.query.get("at") ?? "") ? Number(place.query.get("at")) : 0;
		this.list.choose(String(at));
		this.whole.show(this.current, at);
	}

	/** From the first message on: another inbox, or the same that was cleared. */
	again() {
		this.shown = this.current;
		this.list.items = this.messages = [];
		this.whole.asked = "";
		this.now();
	}

	/** @param {any} one */
	tab(one) {
		const isCurrent = one.name === this.current && "page";
		return h("a", { href: here(["inbox", one.name]), "aria-current": isCurrent }, `${one.name} ${count(one.count)}`);
	}

	teach() {
		return h(
			"div",
			{},
			h("p", {}, "Nothing arrived yet. An inbox is a receiver inside the sandbox."),
			h("p", {}, "Callbacks and webhooks with the URL ", h("code", {}, `inbox:${this.current}`), " arrive here."),
			h("p", {}, "So does a POST to its address:"),
			h("pre", {}, `curl -d '{}' ${this.url.textContent}`),
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
			],
			run: async (values) => {
				const { replies, repeat, body } = values;
				const name = this.current;
				const isPlain = !body && repeat === "last";
				await act({
					method: "PUT",
					path: sandboxPath("inbox", name),
					body: programOf(values),
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
		const cli = ["inbox", name, "--clear"];
		const run = () => act({ method: "DELETE", path: sandboxPath("inbox", name), cli, says: `inbox ${name} cleared` });
		if (await this.attempt(run, this.refusal)) return;
		go(here(["inbox", name]), true);
		this.again();
	}
}

customElements.define("sim-inbox", SimInbox);
