// The obligations of a client and their verdicts: each finding with the requests that show it.

import { get } from "../app/api.js";
import { h, put, redraw } from "../app/dom.js";
import { counted } from "../app/format.js";
import { marked, past, share } from "../app/pieces.js";
import { visible } from "../app/safe-text.js";
import { ofKinds, Reading } from "../app/reading.js";
import { here, sandboxPath, place, setQuery } from "../app/router.js";
import { sandboxNow } from "../app/store.js";

/** @type {Record<string, string>} */
const STATES = { violated: "violated", met: "met", not_exercised: "not exercised" };
const EVIDENCE_MAX = 30;
const TICK_MS = 5000;
const MINUTE_MS = 60_000;

class SimAudit extends Reading {
	buttons = Object.entries({ "": "all", ...STATES }).map(([state, text]) =>
		h("button", { "data-state": state, onclick: () => setQuery({ state }) }, text),
	);
	verdict = h("span", { class: "counts", role: "status" });
	found = h("div", { class: "page" });
	/** @type {any} */
	answer = null;
	/** When it was judged, by the sandbox's clock. */
	judged_ms = 0;

	start() {
		const states = h("span", { role: "group", "aria-label": "Show" }, ...this.buttons);
		const tools = h("div", { class: "tools" }, h("h2", {}, "Audit"), states, this.verdict);
		put(this, tools, this.mistake, this.found);
		this.watch("place", () => this.draw());
		this.refreshOn(ofKinds("request", "callback", "webhook", "action"), 2000);
		// Time alone violates some obligations, without any event: they are judged once a minute of the sandbox.
		const ticks = setInterval(() => Number(sandboxNow()) - this.judged_ms >= MINUTE_MS && this.soon(), TICK_MS);
		this.ends.push(() => clearInterval(ticks));
	}

	async read() {
		this.judged_ms = Number(sandboxNow());
		this.answer = await get(sandboxPath("audit"));
		this.draw();
	}

	draw() {
		const state = place.query.get("state") ?? "";
		for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.state === state));
		if (!this.answer) return;
		const { obligations, ok, left_out } = this.answer;
		const of = (/** @type {string} */ name) => obligations.filter((/** @type {any} */ one) => one.state === name);
		const names = Object.keys(STATES);
		const good = of("met").length ? marked("good", "nothing is violated") : marked("past", "nothing was exercised yet");
		put(this.verdict, ok ? good : marked("bad", `${counted(of("violated").length, "obligation")} violated`));
		const shares = names.map((name) => share(STATES[name], of(name).length, obligations.length, "obligations"));
		const evicted = counted(left_out, "request or delivery", "requests and deliveries");
		redraw(
			this.found,
			h("div", { class: "shares" }, ...shares),
			left_out > 0 && past(`${evicted} were evicted and are not judged.`),
			...names.filter((name) => !state || name === state).map((name) => section(name, of(name))),
		);
	}
}

/** @param {string} state @param {any[]} all */
function section(state, all) {
	if (!all.length && state !== "violated") return null;
	return h(
		"section",
		{ "aria-label": STATES[state] },
		h("h3", {}, `${STATES[state]} (${all.length})`),
		all.length === 0 && past("No request violates an obligation of the service."),
		h("ul", { class: "obligations" }, ...all.map((one) => h("li", {}, obligation(one)))),
	);
}

/** @param {any} one */
function obligation(one) {
	const { state, severity, findings, violations } = one;
	const isViolated = state === "violated";
	const tone = isViolated ? (severity === "error" ? "bad" : "wait") : state === "met" ? "good" : "past";
	return h(
		"details",
		{ "data-key": `${state}-${one.id}`, open: isViolated },
		h(
			"summary",
			{},
			marked(tone, isViolated ? severity : STATES[state]),
			h("span", { class: "title" }, one.title),
			h("span", { class: "past section" }, `§ ${one.section}`),
		),
		isViolated &&
			h("ul", {}, ...findings.map((/** @type {string} */ text) => h("li", { class: "outside" }, visible(text)))),
		violations > findings.length && past(`${counted(violations, "violation")} in all`),
		one.evidence.length > 0 && evidence(one),
		h("p", {}, h("b", {}, isViolated ? "To do: " : "How: "), one.advice),
		past(h("code", {}, one.id)),
	);
}

/** @param {any} one */
function evidence({ evidence: all, log }) {
	const isRequests = log === "requests";
	const links = all.slice(0, EVIDENCE_MAX).map((/** @type {number} */ n) => {
		const q = isRequests ? `n:${n}` : "-kind:request refused";
		return [h("a", { href: here(["live"], { q }) }, `#${n}`), " "];
	});
	const more = all.length > EVIDENCE_MAX && `and ${all.length - EVIDENCE_MAX} more`;
	return h("p", { class: "evidence" }, isRequests ? "Requests " : "Attempts ", links, more);
}

customElements.define("sim-audit", SimAudit);
