// The coverage of a client's tests in this sandbox.

import { get } from "../app/api.js";
import { h, put, redraw, say } from "../app/dom.js";
import { count } from "../app/format.js";
import { marked, share } from "../app/pieces.js";
import { short } from "../app/safe-text.js";
import { ofKinds, Reading } from "../app/reading.js";
import { here, sandboxPath, place, setQuery } from "../app/router.js";
import { number, table } from "../app/table.js";

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
	only = h("button", { onclick: () => setQuery({ missing: this.onlyMissing ? "" : "1" }) }, "only what is missing");
	total = h("span", { class: "counts", role: "status" });
	found = h("div", { class: "page" });
	/** @type {any} */
	answer = null;

	start() {
		const tools = h("div", { class: "tools" }, h("h2", {}, "Coverage"), this.only, this.total);
		put(this, tools, this.mistake, this.found);
		this.watch("place", () => this.draw());
		this.keys([{ key: "m", does: "only what is missing", group: "Coverage", run: () => this.only.click() }]);
		this.refreshOn(ofKinds("request", "status", "callback", "webhook", "notification", "action"), 2000);
	}

	get onlyMissing() {
		return place.query.get("missing") === "1";
	}

	async read() {
		this.answer = await get(sandboxPath("coverage"));
		this.draw();
	}

	draw() {
		this.only.setAttribute("aria-pressed", String(this.onlyMissing));
		if (!this.answer) return;
		const { summary } = this.answer;
		const sum = (/** @type {"met" | "total"} */ what) =>
			Object.values(summary).reduce((total, part) => total + part[what], 0);
		say(this.total, `${count(sum("met"))} of ${count(sum("total"))} met`);
		const shares = Object.entries(PARTS).map(([key, name]) => share(name, summary[key].met, summary[key].total));
		redraw(
			this.found,
			h("div", { class: "shares" }, ...shares),
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
		/** @param {any} one */
		const filter = ({ method, path }) => {
			const words = ["kind:request", method !== "*" && `method:${method}`];
			return [...words, path !== "*" && `path:*${path.replace(/\{[^}]*\}/g, "*")}`].filter(Boolean).join(" ");
		};
		return table(
			"Endpoints",
			{
				endpoint: (one) => met(one.calls > 0, h("code", {}, `${one.method} ${one.path}`), filter(one)),
				calls: number((one) => count(one.calls)),
				met: (one) => one.answers.map((/** @type {any} */ answer) => [answerLink(filter(one), answer), " "]),
				never: (one) => h("span", { class: "past" }, one.never.join(" ")),
			},
			this.wanted(this.answer.endpoints, (one) => one.never.length === 0),
			"every status of every endpoint was met",
		);
	}

	rules() {
		return table(
			"Rules",
			{
				rule: (one) => met(one.chosen > 0, short(one.name || one.id), `rule:"${one.name || one.id}"`),
				section: (one) => one.section,
				scenario: (one) => short(one.scenario),
				matched: number((one) => count(one.matched)),
				chosen: number((one) => count(one.chosen)),
			},
			this.wanted(this.answer.rules, (one) => one.chosen > 0),
			this.onlyMissing ? "every rule was chosen" : "this scenario has no rules",
		);
	}

	magic() {
		return table(
			"Magic accounts",
			{
				"account ends in": (one) => met(one.met > 0, h("code", {}, `…${one.digits}`), "kind:request path:*/topup"),
				"what happens": (one) => one.outcome,
				met: number((one) => count(one.met)),
			},
			this.wanted(this.answer.magic, (one) => one.met > 0),
			this.onlyMissing ? "every magic account was met" : "this scenario has no magic accounts",
		);
	}

	outcomes() {
		return table(
			"Outcomes",
			{
				outcome: (one) => met(one.met, one.text, filterOfOutcome(one)),
				about: (one) => one.group,
				met: number((one) => count(one.count)),
				"to expect it": (one) => h("code", {}, `outcome: ${one.id}`),
			},
			this.wanted(this.answer.outcomes, (one) => one.met),
			"every outcome was met",
		);
	}
}

/** A covered item links to its evidence. @param {boolean} isMet @param {Child} what @param {string} q */
function met(isMet, what, q) {
	if (!isMet) return [marked("past", "never "), what];
	return [marked("good", ""), h("a", { href: here(["live"], { q }) }, what)];
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
