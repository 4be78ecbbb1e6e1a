// The answers and deliveries that rules hold in the sandbox, each with a button that releases it.

import { get } from "../app/api.js";
import { h, once, put } from "../app/dom.js";
import { shortTime } from "../app/format.js";
import { marked } from "../app/pieces.js";
import { Reading } from "../app/reading.js";
import { short, visible } from "../app/safe-text.js";
import { sandboxPath } from "../app/router.js";
import { act } from "../app/action-log.js";

/** @typedef {{ name: string, kind: string, what: string, refid: string, since: string }} Held */

export class SimHolds extends Reading {
	/** The held items, oldest first. @type {Held[]} */
	all = [];
	list = h("ul", { "aria-label": "held" });

	/** @param {string[] | null} [refids] of the payments that it is about; all without them */
	constructor(refids = null) {
		super();
		this.refids = refids;
	}

	start() {
		put(this, this.list, this.mistake, this.refusal);
		this.refreshOn(({ event }) => event.action === "held" || event.action === "hold_ended");
	}

	/** @param {string[]} refids */
	only(refids) {
		this.refids = refids;
		this.draw();
	}

	async read() {
		this.all = (await get(sandboxPath("holds"))).holds;
		this.draw();
	}

	draw() {
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
	row({ name, kind, what, refid, since }, count) {
		return h(
			"li",
			{},
			marked("wait", `held in ${name}`),
			h("span", {}, kind, " ", visible(what)),
			refid && h("span", {}, short(refid, 40)),
			h("span", { class: "past" }, "since ", h("time", { datetime: since }, shortTime(since))),
			h(
				"button",
				{ onclick: once(() => this.release(name, count)) },
				count === 1 ? "release" : `release the first ${count}`,
			),
		);
	}

	/** @param {string} name @param {number} count */
	async release(name, count) {
		const run = () =>
			act({
				method: "POST",
				path: sandboxPath("holds", name, "release"),
				body: { count },
				cli: ["hold", "release", name, "--count", String(count)],
				says: (done) => `${done.released} released from ${name}, ${done.held} still held`,
			});
		await this.attempt(run, this.refusal);
		await this.now();
	}
}

customElements.define("sim-holds", SimHolds);
