// The detail of the selected row: facts, messages, reasons, actions. Beside the live list, and below a story.

import { actionsOf } from "../app/actions.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { closeButton } from "../app/pieces.js";
import { visible } from "../app/safe-text.js";
import { markOf } from "../app/rows.js";
import { moreOf } from "../app/row-details.js";
import { whyOf } from "../app/reasons.js";
import { openMenu } from "./dialogs.js";
import { factsOf, messagesOf } from "./exchange.js";

/** While a key is held down, rows pass by unread. */
const REST_MS = 60;

export class SimDetail extends SimElement {
	/** @type {Row | null} */
	shown = null;
	reading = new AbortController();
	/** @type {Promise<More> | null} */
	known = null;
	/** Closes it, without a keyboard. */
	close = () => {};
	why = h("section", { class: "why", "aria-label": "Why", "aria-live": "polite" });
	messages = h("div", { class: "messages" });

	start() {
		this.setAttribute("aria-label", "Details");
		this.setAttribute("role", "region");
		const group = "Selected row";
		this.keys([
			{ key: "c", does: "copy as curl", group, run: () => this.run("c") },
			{ key: "r", does: "send it once more", group, run: () => this.run("r") },
			{ key: "w", does: "why?", group, run: () => this.run("w") },
			{ key: ".", does: "all actions", group, run: () => this.menu() },
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
		for (const one of [this.mistake, this.refusal, this.why, this.messages]) put(one);
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
				closeButton(this.close),
			),
			h("div", { class: "actions" }, ...actions),
			this.mistake,
			this.refusal,
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
	read(row, signal) {
		return this.attempt(async () => {
			const more = await this.more();
			if (signal.aborted) return;
			put(this.messages, messagesOf(row, more));
			if (more.exchange?.autopsy && !more.exchange.autopsy.is_right) await this.explain();
		});
	}

	actions() {
		if (!this.shown) return [];
		return actionsOf(
			this.shown,
			() => this.more(),
			() => this.explain(),
		);
	}

	/** @param {string} key */
	run(key) {
		const found = this.actions().find((one) => one.key === key);
		if (found) this.perform(found);
	}

	/** @param {Action} action */
	perform(action) {
		return this.attempt(action.run, this.refusal);
	}

	/** Say the reason above the facts. */
	async explain() {
		const { signal } = this.reading;
		const row = /** @type {Row} */ (this.shown);
		const reasons = await whyOf(row, await this.more());
		if (!signal.aborted) put(this.why, h("h3", {}, "Why"), reasons);
	}

	menu() {
		const actions = this.actions();
		if (actions.length) openMenu("Actions", actions, (one) => this.perform(one));
	}
}

customElements.define("sim-detail", SimDetail);
