// The panel below the clock: a target time, the mode, and the next due items, each with a button to advance to it.

import { h, put, say } from "../app/dom.js";
import { form } from "../app/form.js";
import { count, dateTime, shortTime, span } from "../app/format.js";
import { advance, partsOf, setMode } from "../app/clock-actions.js";
import { short } from "../app/safe-text.js";
import { here, setQuery } from "../app/router.js";
import { sandboxNow, store } from "../app/store.js";
import { table } from "../app/table.js";
import { toMoment, untilOf } from "../app/until.js";

const MODES = /** @type {[string, string][]} */ ([
	["manual", "manual: it moves when you move it"],
	["real", "real: like the wall clock"],
	["xN", "xN: N times faster"],
]);

export class ClockPanel extends HTMLElement {
	constructor() {
		super();
		/** @type {(until: import("../app/until.js").Until) => void} */
		this.advance = () => {};
		/** @type {{ node: HTMLElement, at: number }[]} */
		this.spans = [];
		this.mode = "";
	}

	connectedCallback() {
		this.setAttribute("role", "dialog");
		this.setAttribute("aria-label", "The clock and due items");
		this.now = h("p", { class: "narrow-only" }); // the bar has no room for the day there
		this.forms = h("div", { class: "clock-forms" });
		this.due = h("div", {});
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
		this.goTo = form({
			label: "Advance the clock",
			submit: "advance",
			main: true,
			fields: [
				{
					name: "until",
					label: "by a duration, or to a time",
					hint: "90s, 2h, idle, 23:59 or 2027-01-10 23:59",
					path: "to",
					size: 24,
				},
			],
			run: async ({ until }) => {
				await advance(untilOf(until, sandboxNow() ?? new Date()));
			},
		});
		this.modes = form({
			label: "Mode of the clock",
			submit: "set",
			fields: [
				{ name: "mode", label: "mode", options: MODES, value: this.mode },
				{
					name: "rate",
					label: "times as fast",
					size: 8,
					value: this.mode === "xN" ? String(store.clock.rate) : "60",
				},
			],
			run: ({ mode, rate }) => setMode(mode, rate),
		});
		const select = /** @type {HTMLSelectElement} */ (this.modes.elements.namedItem("mode"));
		const rate = /** @type {HTMLInputElement} */ (this.modes.elements.namedItem("rate"));
		const offer = () => {
			if (rate.parentElement) rate.parentElement.hidden = select.value !== "xN";
		};
		select.addEventListener("change", offer);
		offer();
		if (!this.forms || !this.due) return;
		put(this.forms, this.goTo, this.modes);
		put(this.due, h("p", { class: "past" }, "…"));
		/** @type {HTMLElement | null} */ (this.goTo.querySelector("input"))?.focus();
	}

	/** The clock was read: another may have changed its mode. */
	show() {
		if (store.clock.mode === this.mode) return;
		this.mode = store.clock.mode;
		const select = /** @type {HTMLSelectElement | null} */ (this.modes?.elements.namedItem("mode") ?? null);
		if (!select || select.value === this.mode) return;
		select.value = this.mode;
		select.dispatchEvent(new Event("change"));
	}

	/** @param {{ due: any[], pending: number }} listed */
	list({ due, pending }) {
		if (this.hidden || !this.due) return;
		this.spans = [];
		const caption = due.length < pending ? `The next ${due.length} of ${count(pending)} due items` : "Due items";
		const columns = [
			{ name: "at", cell: (/** @type {any} */ one) => moment(one.at) },
			{ name: "in", number: true, cell: (/** @type {any} */ one) => this.span(one) },
			{ name: "kind", cell: (/** @type {any} */ one) => one.kind },
			{ name: "what", cell: what },
			{ name: "", cell: (/** @type {any} */ one) => this.toHere(one) },
		];
		const focused = [...this.due.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
		put(
			this.due,
			table(caption, columns, due, "nothing is due: payments, callbacks and scheduled changes appear here"),
		);
		if (focused >= 0) (this.due.querySelectorAll("button")[0] ?? this.goTo?.querySelector("input"))?.focus();
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
		const until = isLater ? toMoment(one.at) : { body: { seconds: 0 }, cli: ["0s"] };
		return h("button", { "aria-label": `advance to ${one.about}`, onclick: () => this.advance(until) }, "to here");
	}

	/** @param {Date} now */
	tick(now) {
		if (this.now) say(this.now, `It is ${dateTime(now)}`);
		for (const { node, at } of this.spans) say(node, at > now.getTime() ? span(at - now.getTime()) : "now");
	}
}

/** The time, with the day if it differs. @param {string} at */
function moment(at) {
	const now = sandboxNow();
	const isToday = now && dateTime(now).slice(0, 10) === dateTime(at).slice(0, 10);
	return h("time", { title: dateTime(at) }, isToday ? shortTime(at) : dateTime(at).slice(0, 19));
}

/** @param {any} one */
function what(one) {
	const parts = partsOf(one);
	const text = short(one.about, 120);
	return parts.length ? h("a", { href: here(parts) }, text) : text;
}

customElements.define("clock-panel", ClockPanel);
