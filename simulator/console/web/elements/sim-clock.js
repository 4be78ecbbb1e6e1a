// The clock of the sandbox: where it stands, what is due next, and buttons and keys that move it.

import { put, h, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, counted, dateTime, span } from "../app/format.js";
import { path } from "../app/api.js";
import { place } from "../app/router.js";
import { act } from "../app/said.js";
import { readClock, sandboxNow, store } from "../app/store.js";

const TICK_MS = 250;

class SimClock extends SimElement {
	start() {
		this.now = h("time", {});
		this.next = h("span", { class: "past" });
		this.mode = h("span", {});
		this.mistake = h("span", { class: "mistake", role: "alert" });
		const move = (
			/** @type {string} */ text,
			/** @type {any} */ body,
			/** @type {string[]} */ cli,
			/** @type {string} */ title,
		) => h("button", { title, onclick: () => this.advance(body, cli) }, text);
		put(
			this,
			this.mode,
			this.now,
			this.next,
			move("+1m", { seconds: 60 }, ["1m"], "advance a minute (a)"),
			move("+1h", { seconds: 3600 }, ["1h"], "advance an hour"),
			move("idle", { until: "idle" }, ["idle"], "advance until nothing is due"),
			this.mistake,
		);
		this.watch(["clock", "sandbox"], () => this.draw());
		this.keys([
			{ key: "a", does: "advance a minute", group: "Clock", run: () => this.advance({ seconds: 60 }, ["1m"]) },
		]);
		const ticking = setInterval(() => this.tick(), TICK_MS);
		this.ends.push(() => clearInterval(ticking));
		this.draw();
	}

	draw() {
		const { clock } = store;
		this.hidden = !clock;
		if (!clock) return;
		say(
			/** @type {Node} */ (this.mode),
			clock.mode === "manual" ? "▮▮ manual" : clock.rate === 1 ? "▶ real" : `▶ x${clock.rate}`,
		);
		this.tick();
	}

	tick() {
		const now = sandboxNow();
		if (!now || !this.now || !this.next) return;
		say(this.now, dateTime(now));
		this.now.title = bothTimes(now.toISOString(), new Date().toISOString());
		const { next_due, pending } = store.clock;
		const left = next_due ? Date.parse(next_due) - now.getTime() : 0;
		say(
			this.next,
			next_due ? `next ${left > 0 ? `in ${span(left)}` : "now"}, ${counted(pending, "thing")} due` : "nothing is due",
		);
	}

	/** @param {any} body @param {string[]} words of the verb `advance` */
	async advance(body, words) {
		say(/** @type {Node} */ (this.mistake), "");
		const where = `${path("sandboxes", place.sandbox)}/clock/advance`;
		try {
			await act({
				method: "POST",
				path: where,
				body,
				cli: ["advance", ...words],
				says: (done) => `advanced to ${dateTime(done.now)}, ${counted(done.fired.length, "thing")} happened`,
			});
			await readClock();
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
	}
}

customElements.define("sim-clock", SimClock);
