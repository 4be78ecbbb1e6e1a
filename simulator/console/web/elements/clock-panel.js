// The panel below the clock: a target time, the mode, and the next due items, each with a button to advance to it.

import { h, put, say } from "../app/dom.js";
import { form } from "../app/form.js";
import { count, dateTime, shortTime, span } from "../app/format.js";
import { advance, setMode, what } from "../app/clock-actions.js";
import { past } from "../app/pieces.js";
import { setQuery } from "../app/router.js";
import { sandboxNow, store } from "../app/store.js";
import { number, table } from "../app/table.js";
import { NOW, toMoment, untilOf } from "../app/advance-targets.js";

/** @type {[string, string][]} */
const MODES = [
	["manual", "manual: it moves when you move it"],
	["real", "real: like the wall clock"],
	["xN", "xN: N times faster"],
];

export class ClockPanel extends HTMLElement {
	/** @type {(until: Until) => void} */
	advance = () => {};
	/** @type {{ node: HTMLElement, at: number }[]} */
	spans = [];
	mode = "";
	now = h("p", { class: "narrow-only" }); // the bar has no room for the day there
	forms = h("div", { class: "clock-forms" });
	due = h("div", {});

	connectedCallback() {
		this.setAttribute("role", "dialog");
		this.setAttribute("aria-label", "The clock and due items");
		put(this, this.now, this.forms, this.due);
		this.addEventListener("keydown", (event) => {
			if (event.key !== "Escape") return;
			event.stopPropagation();
			setQuery({ clock: "" });
		});
	}

	/** Anew, as it is opened. */
	begin() {
		this.mode = store.clock?.mode ?? "manual";
		const hint = "90s, 2h, idle, 23:59 or 2027-01-10 23:59";
		const value = this.mode === "xN" ? String(store.clock.rate) : "60";
		const goTo = form({
			label: "Advance the clock",
			submit: "advance",
			main: true,
			fields: [{ name: "until", label: "by a duration, or to a time", hint, path: "to", size: 24 }],
			run: ({ until }) => advance(untilOf(until, sandboxNow() ?? new Date())),
		});
		const modes = form({
			label: "Mode of the clock",
			submit: "set",
			fields: [
				{ name: "mode", label: "mode", options: MODES, value: this.mode },
				{ name: "rate", label: "times as fast", size: 8, value },
			],
			run: ({ mode, rate }) => setMode(mode, rate),
		});
		const rate = modes.querySelectorAll("div")[1];
		this.select = /** @type {HTMLSelectElement} */ (modes.elements.namedItem("mode"));
		this.select.addEventListener("change", () => (rate.hidden = this.select?.value !== "xN"));
		rate.hidden = this.mode !== "xN";
		put(this.forms, goTo, modes);
		put(this.due, past("…"));
		this.querySelector("input")?.focus();
	}

	/** The clock was read: another may have changed its mode. */
	show() {
		if (store.clock.mode === this.mode) return;
		this.mode = store.clock.mode;
		if (!this.select || this.select.value === this.mode) return;
		this.select.value = this.mode;
		this.select.dispatchEvent(new Event("change"));
	}

	/** @param {{ due: any[], pending: number }} listed */
	list({ due, pending }) {
		if (this.hidden) return;
		this.spans = [];
		const caption = due.length < pending ? `The next ${due.length} of ${count(pending)} due items` : "Due items";
		const columns = {
			at: (/** @type {any} */ one) => moment(one.at),
			in: number((one) => this.span(one)),
			kind: (/** @type {any} */ one) => one.kind,
			what: (/** @type {any} */ one) => what(one, 120),
			"": (/** @type {any} */ one) => this.toHere(one),
		};
		const hadFocus = this.due.contains(document.activeElement);
		put(
			this.due,
			table(caption, columns, due, "nothing is due: payments, callbacks and scheduled changes appear here"),
		);
		if (hadFocus) (this.due.querySelector("button") ?? this.querySelector("input"))?.focus();
		const now = sandboxNow();
		if (now) this.tick(now);
	}

	/** @param {any} one */
	span(one) {
		const node = h("span", {});
		this.spans.push({ node, at: Date.parse(one.at) });
		return node;
	}

	/** @param {any} one */
	toHere(one) {
		const isLater = Date.parse(one.at) > (sandboxNow()?.getTime() ?? 0);
		const run = () => this.advance(isLater ? toMoment(one.at) : NOW);
		return h("button", { "aria-label": `advance to ${one.about}`, onclick: run }, "to here");
	}

	/** @param {Date} now */
	tick(now) {
		say(this.now, `It is ${dateTime(now)}`);
		for (const { node, at } of this.spans) say(node, at > now.getTime() ? span(at - now.getTime()) : "now");
	}
}

/** The time, with the day if it differs. @param {string} at */
function moment(at) {
	const now = sandboxNow();
	const isToday = now && dateTime(now).slice(0, 10) === dateTime(at).slice(0, 10);
	return h("time", { title: dateTime(at) }, isToday ? shortTime(at) : dateTime(at).slice(0, 19));
}

customElements.define("clock-panel", ClockPanel);
