// The answers and deliveries that rules hold in the sandbox, each with a button that releases it.

import { get, path, Refused } from "../app/api.js";
import { h, once, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { shortTime } from "../app/format.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { short, visible } from "../app/safe-text.js";
import { place } from "../app/router.js";
import { act } from "../app/action-log.js";

/** @typedef {{ name: string, kind: string, what: string, refid: string, since: string }} Held */

const EVENTS = new Set(["held", "hold_ended"]);
const holds = () => path("sandboxes", place.sandbox, "holds");

export class SimHolds extends SimElement {
	/** Only what is about these payments; null for everything. @type {string[] | null} */
	refids = null;
	/** The held items, oldest first. @type {Held[]} */
	all = [];

	start() {
		this.list = h("ul", { "aria-label": "held" });
		this.mistake = h("p", { class: "mistake", role: "alert" });
		put(this, this.list, this.mistake);
		const matters = (/** @type {import("../app/rows.js").Row} */ row) => EVENTS.has(row.event.action);
		whenItMatters(this, matters, () => this.read());
	}

	/** @param {string[]} refids */
	only(refids) {
		this.refids = refids;
		this.draw();
	}

	async read() {
		try {
			this.all = (await get(holds())).holds;
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
		}
		this.draw();
	}

	draw() {
		if (!this.list) return;
		/** @type {Map<string, number>} */
		const before = new Map();
		const rows = this.all.map((held) => {
			const count = (before.get(held.name) ?? 0) + 1;
			before.set(held.name, count);
			return this.refids?.includes(held.refid) === false ? null : this.row(held, count);
		});
		const hadFocus = this.list.contains(document.activeElement);
		put(this.list, ...rows);
		if (hadFocus) this.list.querySelector("button")?.focus();
	}

	/** @param {Held} held @param {number} count how many are released with it: earlier items are released, too */
	row(held, count) {
		const { name, kind, what, refid, since } = held;
		const label = count === 1 ? "release" : `release the first ${count}`;
		return h(
			"li",
			{},
			h("span", { class: "marked tone-wait" }, `○ held in ${name}`),
			h("span", {}, kind, " ", visible(what)),
			refid && h("span", {}, short(refid, 40)),
			h("span", { class: "past" }, "since ", h("time", { datetime: since }, shortTime(since))),
			h("button", { onclick: once(() => this.release(name, count)) }, label),
		);
	}

	/** @param {string} name @param {number} count */
	async release(name, count) {
		const mistake = /** @type {HTMLElement} */ (this.mistake);
		try {
			await act({
				method: "POST",
				path: `${holds()}/${path(name)}/release`,
				body: { count },
				cli: ["hold", "release", name, "--count", String(count)],
				says: (done) => `${done.released} released from ${name}, ${done.held} still held`,
			});
			say(mistake, "");
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			say(mistake, failure.message);
		}
		await this.read();
	}
}

customElements.define("sim-holds", SimHolds);
