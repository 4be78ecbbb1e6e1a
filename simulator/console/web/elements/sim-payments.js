// The payments of the sandbox; Enter opens a story, a button or `x` compares two payments.

import "./sim-story.js";
import { cliLine } from "../app/commands.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { filterOf, wordsText } from "../app/filter.js";
import { count, money, CURRENCY } from "../app/format.js";
import { ruleAddress } from "../app/links.js";
import { moment, searchBox, showQuery, statusOf } from "../app/pieces.js";
import { short, visible } from "../app/safe-text.js";
import { PAYMENT_WORDS, Payments, paymentTexts } from "../app/payments.js";
import { go, here, place, setQuery } from "../app/router.js";
import { toneOf } from "../app/rows.js";
import { store } from "../app/store.js";
import { SimList } from "./sim-list.js";

const AGAIN_MS = 150;
const REFID = /(?:^|\s)refid:("[^"*]+"|[^\s"*]+)/;

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "refid", width: 18, cell: (one) => h("a", { href: here(["payments", one.trxid]) }, short(one.refid, 60)) },
	{ class: "reseller", width: 10, cell: (one) => short(one.reseller, 30) },
	{ class: "product", width: 10, cell: (one) => short(one.product, 30) },
	{ class: "account", width: 16, cell: (one) => short(one.account, 40) },
	{ class: "amount number", name: `amount ${CURRENCY}`, width: 11, cell: (one) => money(one.amount) },
	{ class: "state", name: "status", width: 14, cell: (one) => statusOf(one.status) },
	{ class: "cost number", name: `cost ${CURRENCY}`, width: 11, cell: (one) => money(one.cost) },
	{ class: "rule", cell: (one) => one.rule && h("a", { href: ruleAddress(one.rule) }, short(one.rule, 60)) },
	{ class: "created", width: 12, cell: (one) => moment(one.created) },
	{ class: "updated", width: 12, cell: (one) => moment(one.updated) },
];

class SimPayments extends SimElement {
	payments = new Payments();
	reading = new AbortController();
	/** The sandbox whose payments are read. */
	read = "";
	sought = "";
	later = 0;
	/** @type {import("../app/filter.js").Test | null} */
	test = null;
	/** @type {boolean | null} */
	isStory = null;
	box = searchBox("q", "Filter", "refid:order-7 status:Processing product:ELECTRIC reseller:RS001 rule:*slow*");
	counts = h("span", { class: "counts", role: "status" });
	compare = h("button", { title: "key x", onclick: () => this.mark() });
	wrong = h("p", { class: "mistake", role: "alert" });
	list = new SimList({
		label: "Payments, newest first",
		columns: COLUMNS,
		key: (one) => one.trxid,
		tone: (one) => toneOf(one.status),
		open: (one) => go(here(["payments", one.trxid])),
		select: (one) => setQuery({ at: one.trxid }),
		empty: () => this.empty(),
	});
	tools = h(
		"div",
		{ class: "tools" },
		this.box,
		this.wrong,
		this.mistake,
		h("span", { role: "status" }, this.compare),
		this.counts,
	);

	start() {
		this.watch(["place", "sandbox"], () => this.follow());
		this.watch("events", () => this.happened());
		this.watch("restarted", () => this.readAll(place.sandbox));
		this.keys([
			{ key: "/", does: "filter", group: "List", run: () => this.box.focus() },
			{ key: "x", does: "mark two payments to compare them", group: "List", run: () => this.mark() },
		]);
		this.follow();
	}

	stop() {
		this.reading.abort();
		clearTimeout(this.later);
	}

	/** Follow the address: a story, or the list with its filter, its selected row and the marked one. */
	follow() {
		const isStory = Boolean(place.rest[0]);
		if (isStory !== this.isStory) put(this, isStory ? h("sim-story") : [this.tools, this.list]);
		this.isStory = isStory;
		this.classList.toggle("is-list", !isStory);
		const sandbox = store.sandbox?.id ?? "";
		if (sandbox !== this.read) this.readAll(sandbox);
		if (isStory) return;
		showQuery(this.box);
		this.list.classList.toggle("has-resellers", (store.sandbox?.resellers.length ?? 0) > 1);
		const { test, mistake } = filterOf(this.box.value, PAYMENT_WORDS, paymentTexts);
		this.test = test;
		say(this.wrong, mistake);
		this.list.choose(place.query.get("at") ?? "");
		this.show();
		this.findOlder(this.box.value);
	}

	/** @param {string} sandbox */
	async readAll(sandbox) {
		this.read = sandbox;
		this.sought = "";
		this.reading.abort();
		const { signal } = (this.reading = new AbortController());
		if (sandbox) await this.attempt(() => this.payments.readAll(signal, () => this.show()));
	}

	/** A refid finds payments that are older than those in the list. @param {string} text */
	async findOlder(text) {
		const refid = REFID.exec(text)?.[1].replaceAll('"', "");
		if (!refid || refid === this.sought) return;
		this.sought = refid;
		await this.attempt(() => this.payments.readRefid(refid, this.reading.signal));
		this.show();
	}

	happened() {
		if (!this.payments.happened() || this.later) return this.show();
		this.later = setTimeout(async () => {
			this.later = 0;
			await this.attempt(() => this.payments.page({ limit: 200 }, this.reading.signal));
			this.show();
		}, AGAIN_MS);
	}

	show() {
		if (this.isStory) return;
		const { all, hasMore } = this.payments;
		const shown = this.test ? all.filter(this.test) : all;
		this.list.items = shown;
		const total = `${count(all.length)}${hasMore ? " newest" : ""}`;
		this.offer();
		say(this.counts, this.test ? `${count(shown.length)} of ${total}` : total);
	}

	/** What the button does with the selected one. It always stands there, so that a tap on a row moves nothing. */
	offer() {
		const one = this.list.chosen;
		const mark = place.query.get("mark") ?? "";
		const name = visible((this.payments.known.get(mark)?.refid ?? mark).slice(0, 20));
		const isOther = one && one.trxid !== mark;
		say(this.compare, !mark ? "compare…" : isOther ? `compare with ${name}` : `compare ${name} with … ✕`);
		this.compare.disabled = !one;
	}

	/** The first one is marked; with the second both are shown. */
	mark() {
		const one = this.isStory ? null : this.list.chosen;
		if (!one) return;
		const first = place.query.get("mark");
		if (first && first !== one.trxid) go(here(["payments", first], { with: one.trxid }));
		else setQuery({ mark: first ? "" : one.trxid });
	}

	empty() {
		if (this.test) return h("p", {}, `No payment matches. ${wordsText(PAYMENT_WORDS)}`);
		const body = { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 };
		const line = cliLine(["call", "POST", "/v2/topup", "-d", JSON.stringify(body)]);
		return h("div", {}, h("p", {}, "No payment yet. This call creates a payment:"), h("pre", {}, line));
	}
}

customElements.define("sim-payments", SimPayments);
