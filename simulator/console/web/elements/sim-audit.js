// The obligations of a client and their verdicts: each finding with the requests that show it.

import { get } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { counted } from "../app/format.js";
import { visible } from "../app/safe-text.js";
import { marked, mine, Reading, redraw, share } from "../app/reading.js";
import { here, place, setQuery } from "../app/router.js";

const KINDS = ["request", "callback", "webhook", "action"];
const STATES = /** @type {const} */ ({ violated: "violated", met: "met", not_exercised: "not exercised" });
const EVIDENCE_MAX = 30;

class SimAudit extends Reading {
	start() {
		this.buttons = Object.entries({ "": "all", ...STATES }).map(([state, text]) =>
			h("button", { "data-state": state, onclick: () => setQuery({ state }) }, text),
		);
		this.verdict = h("span", { class: "counts", role: "status" });
		this.found = h("div", { class: "page" });
		/** @type {any} */
		this.answer = null;
		put(
			this,
			h(
				"div",
				{ class: "tools" },
				h("h2", {}, "Audit"),
				h("span", { role: "group", "aria-label": "Show" }, ...this.buttons),
				h("button", { onclick: () => this.now() }, "refresh"),
				this.verdict,
			),
			this.mistake,
			this.found,
		);
		this.watch("place", () => this.draw());
		this.follow(KINDS, 2000);
	}

	async read() {
		this.answer = await get(mine("audit"));
		this.draw();
	}

	draw() {
		const state = place.query.get("state") ?? "";
		for (const button of this.buttons ?? [])
			button.setAttribute("aria-pressed", String(button.dataset.state === state));
		if (!this.answer || !this.found) return;
		const { obligations, ok, left_out } = this.answer;
		const of = (/** @type {string} */ name) => obligations.filter((/** @type {any} */ one) => one.state === name);
		const violated = of("violated");
		put(
			/** @type {Element} */ (this.verdict),
			ok
				? marked(
						of("met").length ? "good" : "past",
						of("met").length ? "nothing is violated" : "nothing was exercised yet",
					)
				: marked("bad", `${counted(violated.length, "obligation")} violated`),
		);
		const names = /** @type {(keyof typeof STATES)[]} */ (Object.keys(STATES));
		const shown = names.filter((name) => !state || name === state);
		redraw(
			this.found,
			h(
				"div",
				{ class: "shares" },
				...names.map((name) => share(STATES[name], of(name).length, obligations.length, "obligations")),
			),
			left_out > 0 &&
				h(
					"p",
					{ class: "past" },
					`${counted(left_out, "request or delivery", "requests and deliveries")} were evicted and are not judged.`,
				),
			...shown.map((name) => this.section(name, of(name))),
		);
	}

	/** @param {keyof typeof STATES} state @param {any[]} all */
	section(state, all) {
		if (!all.length && state !== "violated") return null;
		return h(
			"section",
			{ "aria-label": STATES[state] },
			h("h3", {}, `${STATES[state]} (${all.length})`),
			all.length === 0 && h("p", { class: "past" }, "No request violates an obligation of the service."),
			h("ul", { class: "obligations" }, ...all.map((one) => h("li", {}, obligation(one)))),
		);
	}
}

/** @param {any} one */
function obligation(one) {
	const tones = /** @type {const} */ ({ met: "good", not_exercised: "past" });
	const tone =
		one.state === "violated" ? (one.severity === "error" ? "bad" : "wait") : tones[/** @type {"met"} */ (one.state)];
	const word = one.state === "violated" ? one.severity : STATES[/** @type {"met"} */ (one.state)];
	const title = [
		marked(tone, word),
		h("span", { class: "title" }, one.title),
		h("span", { class: "past section" }, `§ ${one.section}`),
	];
	const isViolated = one.state === "violated";
	return h(
		"details",
		{ "data-key": `${one.state}-${one.id}`, open: isViolated },
		h("summary", {}, ...title),
		isViolated &&
			h("ul", {}, ...one.findings.map((/** @type {string} */ text) => h("li", { class: "outside" }, visible(text)))),
		one.violations > one.findings.length && h("p", { class: "past" }, `${counted(one.violations, "violation")} in all`),
		one.evidence.length > 0 && evidence(one),
		h("p", {}, h("b", {}, isViolated ? "To do: " : "How: "), one.advice),
		h("p", { class: "past" }, h("code", {}, one.id)),
	);
}

/** @param {any} one */
function evidence(one) {
	const shown = one.evidence.slice(0, EVIDENCE_MAX);
	const more = one.evidence.length - shown.length;
	const isRequests = one.log === "requests";
	const links = shown.map((/** @type {number} */ n) =>
		h(
			"a",
			{ href: isRequests ? here(["live"], { q: `n:${n}` }) : here(["live"], { q: "-kind:request refused" }) },
			`#${n}`,
		),
	);
	const parts = links.flatMap((/** @type {Node} */ link) => [link, " "]);
	return h(
		"p",
		{ class: "evidence" },
		isRequests ? "Requests " : "Attempts ",
		...parts,
		more > 0 && `and ${more} more`,
	);
}

customElements.define("sim-audit", SimAudit);
