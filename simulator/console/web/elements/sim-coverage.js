// The coverage of a client's tests in this sandbox.

import { get } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { count } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { marked, mine, Reading, redraw, share } from "../app/reading.js";
import { here, place, setQuery } from "../app/router.js";
import { table } from "../app/table.js";

const KINDS = ["request", "status", "callback", "webhook", "notification", "action"];
const PARTS = { rules: "Rules", magic: "Magic accounts", endpoints: "Endpoints", outcomes: "Outcomes" };

/** Live's filter for outcomes that are a kind of event. @type {Record<string, string>} */
const FILTER_OF = {
	callbacks: "kind:callback",
	webhooks: "kind:webhook",
	"refused payments": "kind:request refused path:*/topup",
	"voids and disputes": "kind:request path:*/transactions/*",
	bills: "kind:request path:*/bill*",
	payments: "kind:status",
};

class SimCoverage extends Reading {
	start() {
		this.only = h(
			"button",
			{ onclick: () => setQuery({ missing: this.onlyMissing ? "" : "1" }) },
			"only what is missing",
		);
		this.when = h("span", { class: "counts", role: "status" });
		this.found = h("div", { class: "page" });
		/** @type {any} */
		this.answer = null;
		put(
			this,
			h("div", { class: "tools" }, h("h2", {}, "Coverage"), this.only, this.again(), this.when),
			this.mistake,
			this.found,
		);
		this.watch("place", () => this.draw());
		this.keys([{ key: "m", does: "only what is missing", group: "Coverage", run: () => this.only?.click() }]);
		this.follow(KINDS, 2000);
	}

	again() {
		return h("button", { onclick: () => this.now() }, "refresh");
	}

	get onlyMissing() {
		return place.query.get("missing") === "1";
	}

	async read() {
		this.answer = await get(mine("coverage"));
		this.draw();
	}

	draw() {
		this.only?.setAttribute("aria-pressed", String(this.onlyMissing));
		if (!this.answer || !this.found) return;
		const { summary } = this.answer;
		const parts = Object.values(summary);
		const met = parts.reduce((sum, part) => sum + part.met, 0);
		const total = parts.reduce((sum, part) => sum + part.total, 0);
		say(/** @type {Node} */ (this.when), `${count(met)} of ${count(total)} met`);
		redraw(
			this.found,
			h(
				"div",
				{ class: "shares" },
				...Object.entries(PARTS).map(([key, name]) => share(name, summary[key].met, summary[key].total)),
			),
			this.endpoints(),
			this.rules(),
			this.magic(),
			this.outcomes(),
		);
	}

	/** @template T @param {T[]} all @param {(one: T) => boolean} isMet */
	wanted(all, isMet) {
		return this.onlyMissing ? all.filter((one) => !isMet(one)) : all;
	}

	endpoints() {
		const all = this.wanted(this.answer.endpoints, (one) => one.never.length === 0);
		const filter = (/** @type {any} */ one) =>
			`kind:request${one.method === "*" ? "" : ` method:${one.method}`}${one.path === "*" ? "" : ` path:*${one.path.replace(/\{[^}]*\}/g, "*")}`}`;
		return table(
			"Endpoints",
			[
				{
					name: "endpoint",
					cell: (one) => met(one.calls > 0, h("code", {}, `${one.method} ${one.path}`), one.calls ? filter(one) : ""),
				},
				{ name: "calls", number: true, cell: (one) => count(one.calls) },
				{
					name: "met",
					cell: (one) => one.answers.map((/** @type {any} */ answer) => [answerLink(filter(one), answer), " "]).flat(),
				},
				{ name: "never", cell: (one) => h("span", { class: "past" }, one.never.join(" ")) },
			],
			all,
			"every status of every endpoint was met",
		);
	}

	rules() {
		return table(
			"Rules",
			[
				{
					name: "rule",
					cell: (one) =>
						met(one.chosen > 0, short(one.name || one.id), one.chosen ? `rule:"${one.name || one.id}"` : ""),
				},
				{ name: "section", cell: (one) => one.section },
				{ name: "scenario", cell: (one) => short(one.scenario) },
				{ name: "matched", number: true, cell: (one) => count(one.matched) },
				{ name: "chosen", number: true, cell: (one) => count(one.chosen) },
			],
			this.wanted(this.answer.rules, (one) => one.chosen > 0),
			this.onlyMissing ? "every rule was chosen" : "this scenario has no rules",
		);
	}

	magic() {
		return table(
			"Magic accounts",
			[
				{
					name: "account ends in",
					cell: (one) => met(one.met > 0, h("code", {}, `…${one.digits}`), one.met ? "kind:request path:*/topup" : ""),
				},
				{ name: "what happens", cell: (one) => one.outcome },
				{ name: "met", number: true, cell: (one) => count(one.met) },
			],
			this.wanted(this.answer.magic, (one) => one.met > 0),
			this.onlyMissing ? "every magic account was met" : "this scenario has no magic accounts",
		);
	}

	outcomes() {
		return table(
			"Outcomes",
			[
				{ name: "outcome", cell: (one) => met(one.met, one.text, one.met ? filterOfOutcome(one) : "") },
				{ name: "about", cell: (one) => one.group },
				{ name: "met", number: true, cell: (one) => count(one.count) },
				{ name: "to expect it", cell: (one) => h("code", {}, `outcome: ${one.id}`) },
			],
			this.wanted(this.answer.outcomes, (one) => one.met),
			"every outcome was met",
		);
	}
}

/** A covered item links to its evidence. @param {boolean} isMet @param {import("../app/dom.js").Child} what @param {string} filter */
function met(isMet, what, filter) {
	if (!isMet) return [marked("past", "never "), what];
	return [marked("good", ""), filter ? h("a", { href: here(["live"], { q: filter }) }, what) : what];
}

/** @param {string} filter @param {any} answer */
function answerLink(filter, answer) {
	const name = [answer.status || "no answer", answer.error, answer.ending].filter(Boolean).join(" ");
	const q = answer.status ? `${filter} status:${answer.status}` : `${filter} refused`;
	return h("a", { href: here(["live"], { q }), class: "answer" }, `${name} ×${count(answer.count)}`);
}

/** @param {any} one */
function filterOfOutcome(one) {
	const status = /^status-(\d+)$/.exec(one.id);
	if (status) return `kind:request status:${status[1]}`;
	if (one.group === "authentication" || one.group === "limits")
		return `kind:request error:${one.id.replaceAll("-", "_")}`;
	return FILTER_OF[one.group] ?? "kind:request refused";
}

customElements.define("sim-coverage", SimCoverage);
