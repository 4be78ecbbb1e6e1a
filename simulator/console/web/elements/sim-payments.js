// The payments of the sandbox; Enter opens a story, `x` compares two payments.

import "./sim-story.js";
import { Refused } from "../app/api.js";
import { cliLine } from "../app/commands.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { filterOf } from "../app/filter.js";
import { bothTimes, count, money, time, CURRENCY } from "../app/format.js";
import { ruleAddress } from "../app/links.js";
import { short } from "../app/safe-text.js";
import { PAYMENT_WORDS, Payments, paymentTexts } from "../app/payments.js";
import { go, here, place, setQuery } from "../app/router.js";
import { rowOf } from "../app/rows.js";
import { searchBox } from "../app/search-box.js";
import { store } from "../app/store.js";
import { SimList } from "./sim-list.js";
import { stateOf } from "./story-head.js";

const AGAIN_MS = 150;
const REFID = /(?:^|\s)refid:("[^"*]+"|[^\s"*]+)/;

class SimPayments extends SimElement {
	constructor() {
		super();
		this.payments = new Payments();
		this.reading = new AbortController();
		this.read = "";
		this.sought = "";
		/** @type {any} */
		this.later = 0;
		/** @type {boolean | null} */
		this.isStory = null;
	}

	start() {
		this.box = searchBox({
			label: "Filter",
			placeholder: "refid:order-7 status:Processing product:ELECTRIC reseller:RS001 rule:*slow*",
			oninput: () => setQuery({ q: this.box?.value ?? "" }),
		});
		this.counts = h("span", { class: "counts", role: "status" });
		this.mistake = h("span", { class: "mistake", role: "alert" });
		this.marked = h("span", { class: "marked", role: "status" });
		this.list = new SimList();
		this.list.of = {
			label: "Payments, newest first",
			columns: this.columns(),
			key: (one) => one.trxid,
			tone: (one) => rowOf({ kind: "status", status: one.status, cause: "creation" }).tone,
			open: (one) => go(here(["payments", one.trxid])),
			select: (one) => setQuery({ at: one?.trxid ?? "" }),
			empty: () => this.empty(),
		};
		this.tools = h("div", { class: "tools" }, this.box, this.mistake, this.marked, this.counts);
		this.watch(["place", "sandbox"], () => this.follow());
		this.watch("events", () => this.happened());
		this.watch("restarted", () => this.readAll(place.sandbox));
		this.keys([
			{ key: "/", does: "filter", group: "List", run: () => this.box?.focus() },
			{ key: "x", does: "mark two payments to compare them", group: "List", run: () => this.mark() },
		]);
		this.follow();
	}

	stop() {
		this.reading.abort();
		clearTimeout(this.later);
	}

	columns() {
		/** @type {import("./sim-list.js").Of<any>["columns"]} */
		const columns = [
			{
				name: "refid",
				class: "refid",
				cell: (one) => h("a", { href: here(["payments", one.trxid]) }, short(one.refid, 60)),
			},
			{ name: "reseller", class: "reseller", cell: (one) => short(one.reseller, 30) },
			{ name: "product", class: "product", cell: (one) => short(one.product, 30) },
			{ name: "account", class: "account", cell: (one) => short(one.account, 40) },
			{ name: `amount ${CURRENCY}`, class: "sum", cell: (one) => money(one.amount) },
			{ name: "status", class: "state", cell: (one) => stateOf(one.status) },
			{ name: `cost ${CURRENCY}`, class: "sum", cell: (one) => money(one.cost) },
			{
				name: "rule",
				class: "rule",
				cell: (one) => one.rule && h("a", { href: ruleAddress(one.rule) }, short(one.rule, 60)),
			},
			{
				name: "created",
				class: "time",
				cell: (one) => h("time", { title: bothTimes(one.created) }, time(one.created)),
			},
			{
				name: "updated",
				class: "time",
				cell: (one) => h("time", { title: bothTimes(one.updated) }, time(one.updated)),
			},
		];
		return columns;
	}

	/** Follow the address: a story, or the list with its filter, its selected row and the marked one. */
	follow() {
		const isStory = Boolean(place.rest[0]);
		if (isStory !== this.isStory) put(this, isStory ? h("sim-story") : [this.tools, this.list]);
		this.isStory = isStory;
		this.classList.toggle("is-list", !isStory);
		const sandbox = store.sandbox?.id ?? "";
		if (sandbox !== this.read) this.readAll(sandbox);
		if (isStory || !this.box || !this.list || !this.mistake || !this.marked) return;
		const text = place.query.get("q") ?? "";
		if (this.box.value !== text) this.box.value = text;
		this.list.classList.toggle("has-resellers", (store.sandbox?.resellers.length ?? 0) > 1);
		const { test, mistake } = filterOf(text, PAYMENT_WORDS, paymentTexts);
		this.test = test;
		say(this.mistake, mistake);
		this.list.choose(place.query.get("at") ?? "");
		const mark = place.query.get("mark");
		const marked = mark && (this.payments.known.get(mark)?.refid ?? mark);
		put(this.marked, marked && ["marked ", short(marked, 40), "; ", h("kbd", {}, "x"), " on another shows both"]);
		this.show();
		this.findOlder(text);
	}

	/** @param {string} sandbox */
	async readAll(sandbox) {
		this.read = sandbox;
		this.sought = "";
		this.reading.abort();
		const { signal } = (this.reading = new AbortController());
		if (sandbox) await this.reads(() => this.payments.readAll(signal, () => this.show()));
	}

	/** A refid finds payments that are older than those in the list. @param {string} text */
	async findOlder(text) {
		const refid = REFID.exec(text)?.[1].replaceAll('"', "");
		if (!refid || refid === this.sought) return;
		this.sought = refid;
		await this.reads(() => this.payments.readRefid(refid, this.reading.signal));
		this.show();
	}

	/** @param {() => Promise<void> | undefined} what */
	async reads(what) {
		const { signal } = this.reading;
		try {
			await what();
		} catch (failure) {
			if (signal.aborted) return;
			if (!(failure instanceof Refused) || !this.mistake) throw failure;
			say(this.mistake, failure.message);
		}
	}

	happened() {
		if (!this.payments.happened() || this.later) return this.show();
		this.later = setTimeout(async () => {
			this.later = 0;
			await this.reads(() => this.payments.page({ limit: 200 }, this.reading.signal));
			this.show();
		}, AGAIN_MS);
	}

	show() {
		if (!this.list || !this.counts || this.isStory) return;
		const { all, hasMore } = this.payments;
		const shown = this.test ? all.filter(this.test) : all;
		this.list.items = shown;
		const total = `${count(all.length)}${hasMore ? " newest" : ""}`;
		say(this.counts, this.test ? `${count(shown.length)} of ${total}` : total);
	}

	/** The first one is marked; with the second both are shown. */
	mark() {
		const one = this.isStory ? null : this.list?.chosen;
		if (!one) return;
		const first = place.query.get("mark");
		if (first && first !== one.trxid) go(here(["payments", first], { with: one.trxid }));
		else setQuery({ mark: first ? "" : one.trxid });
	}

	empty() {
		if (this.test)
			return h(
				"p",
				{},
				`No payment matches. The words are ${Object.keys(PAYMENT_WORDS).join(", ")}, refused, and any text; a minus before a word excludes it.`,
			);
		const body = { refid: "order-1", product: "FP", account: "0123456789", amount: 5 };
		const line = cliLine(["call", "POST", "/v2/topup", "-d", JSON.stringify(body)]);
		return h("div", {}, h("p", {}, "No payment yet. This call creates a payment:"), h("pre", {}, line));
	}
}

customElements.define("sim-payments", SimPayments);
