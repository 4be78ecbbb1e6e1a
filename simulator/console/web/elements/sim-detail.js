// The detail of the selected row: facts, messages, reasons, actions. Beside the live list, and below a story.

import { actionsOf } from "../app/actions.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { visible } from "../app/safe-text.js";
import { markOf } from "../app/rows.js";
import { moreOf } from "../app/sent.js";
import { whyOf } from "../app/why.js";
import { factsOf, messagesOf } from "./exchange.js";
import { openMenu } from "./menu.js";

/** @typedef {import("../app/rows.js").Row} Row @typedef {import("../app/sent.js").More} More */

/** While a key is held down, rows pass by unread. */
const REST_MS = 60;

export class SimDetail extends SimElement {
	constructor() {
		super();
		/** @type {Row | null} */
		this.shown = null;
		this.reading = new AbortController();
		/** @type {Promise<More> | null} */
		this.known = null;
		/** Closes it, without a keyboard. @type {(() => void) | null} */
		this.close = null;
	}

	start() {
		this.setAttribute("aria-label", "Details");
		this.setAttribute("role", "region");
		const run = (/** @type {string} */ key) => () => this.run(key);
		this.keys([
			{ key: "c", does: "copy as curl", group: "Selected row", run: run("c") },
			{ key: "r", does: "send it once more", group: "Selected row", run: run("r") },
			{ key: "w", does: "why?", group: "Selected row", run: run("w") },
			{ key: ".", does: "all actions", group: "Selected row", run: () => this.menu() },
		]);
		this.draw();
	}

	stop() {
		this.reading.abort();
	}

	/** @param {Row | null} row */
	set row(row) {
		if (JSON.stringify(row?.event) === JSON.stringify(this.shown?.event)) return;
		this.shown = row;
		this.draw();
	}

	get row() {
		return this.shown;
	}

	draw() {
		const row = this.shown;
		this.hidden = !row;
		this.reading.abort();
		this.known = null;
		if (!row || !this.isConnected) return put(this);
		const { signal } = (this.reading = new AbortController());
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.why = h("section", { class: "why", "aria-label": "Why", "aria-live": "polite" });
		this.messages = h("div", { class: "messages" });
		const actions = this.actions().map((one) =>
			h("button", { title: one.key && `key ${one.key}`, onclick: () => this.perform(one) }, one.name),
		);
		put(
			this,
			h(
				"h2",
				{ class: `tone-${row.tone}` },
				h("span", { class: "outside" }, visible(row.what.slice(0, 200))),
				" ",
				row.state && h("span", { class: "state" }, `${markOf(row)} ${row.state}`),
				this.close &&
					h(
						"button",
						{ class: "quiet close", "aria-label": "Close the details", title: "key Escape", onclick: this.close },
						"✕",
					),
			),
			h("div", { class: "actions" }, ...actions),
			this.mistake,
			this.why,
			h("div", { class: "whole" }, factsOf(row), this.messages),
		);
		this.scrollTop = 0;
		setTimeout(() => signal.aborted || this.read(row, signal), REST_MS);
	}

	/** More facts about it, read once. @returns {Promise<More>} */
	more() {
		this.known ??= moreOf(/** @type {Row} */ (this.shown), this.reading.signal);
		return this.known;
	}

	/** @param {Row} row @param {AbortSignal} signal */
	async read(row, signal) {
		try {
			const more = await this.more();
			if (signal.aborted || !this.messages) return;
			put(this.messages, messagesOf(row, more));
			if (more.exchange?.autopsy && !more.exchange.autopsy.is_right) await this.explain();
		} catch (failure) {
			this.blame(failure, signal);
		}
	}

	actions() {
		return this.shown
			? actionsOf(
					this.shown,
					() => this.more(),
					() => this.explain(),
				)
			: [];
	}

	/** @param {string} key */
	run(key) {
		const found = this.actions().find((one) => one.key === key);
		if (found) this.perform(found);
	}

	/** @param {import("../app/actions.js").Action} action */
	async perform(action) {
		const { signal } = this.reading;
		if (this.mistake) say(this.mistake, "");
		try {
			await action.run();
		} catch (failure) {
			this.blame(failure, signal);
		}
	}

	/** Say the reason above the facts. */
	async explain() {
		const { signal } = this.reading;
		const row = /** @type {Row} */ (this.shown);
		const reasons = await whyOf(row, await this.more());
		if (!signal.aborted && this.why) put(this.why, h("h3", {}, "Why"), reasons);
	}

	menu() {
		const actions = this.actions();
		if (actions.length) openMenu("Actions", actions, (one) => this.perform(one));
	}

	/** @param {unknown} failure @param {AbortSignal} signal */
	blame(failure, signal) {
		if (signal.aborted || !this.mistake) return;
		if (!(failure instanceof Error)) throw failure;
		say(this.mistake, failure.message);
	}
}

customElements.define("sim-detail", SimDetail);
