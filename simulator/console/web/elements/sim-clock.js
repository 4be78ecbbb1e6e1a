// The clock of the sandbox: its time, the next due item, and buttons and keys that advance it.

import "./clock-panel.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, counted, dateTime, span } from "../app/format.js";
import { advance, modeOf, partsOf, readDue, stopAdvance } from "../app/clock-actions.js";
import { short } from "../app/safe-text.js";
import { here, place, setQuery } from "../app/router.js";
import { sandboxNow, store } from "../app/store.js";
import { UNTIL_IDLE, bySeconds, toMoment } from "../app/until.js";

const TICK_MS = 250;
const LISTED = 50;

class SimClock extends SimElement {
	start() {
		/** @type {{ due: any[], pending: number } | null} */
		this.due = null;
		/** @type {string} */
		this.dueOf = "";
		this.isReading = false;
		this.isStopping = false;
		this.bar = h("progress", { "aria-label": "the advance that runs" });
		this.happened = h("span", { class: "past" });
		this.stopButton = h("button", { onclick: () => this.stopAdvance() }, "stop");
		this.mode = h("button", { class: "quiet", "aria-haspopup": "true", onclick: () => this.toggle() });
		this.day = h("span", { class: "wide-only" });
		this.time = h("span", {});
		this.now = h("time", {}, this.day, this.time, h("span", { class: "zone" }, " +08:00"));
		this.next = h("span", { class: "next wide-only" });
		this.left = h("span", { class: "past wide-only" });
		this.progress = h("span", { class: "progress", hidden: true });
		this.mistake = h("span", { class: "mistake", role: "alert" });
		this.panel = /** @type {import("./clock-panel.js").ClockPanel} */ (h("clock-panel", { hidden: true }));
		this.panel.advance = (until) => this.advance(until);
		this.buttons = this.moves().map(({ text, title, run }) => h("button", { title, onclick: run }, text));
		put(this, this.mode, this.now, ...this.buttons, this.progress, this.mistake, this.next, this.left, this.panel);
		this.watch(["clock", "sandbox"], () => this.draw());
		this.watch("place", () => this.open(place.query.get("clock") === "due"));
		this.keys([
			...this.moves().map(({ key, does, run }) => ({ key, does, group: "Clock", run })),
			{ key: "t", does: "due items, and the clock's mode", group: "Clock", run: () => this.toggle() },
		]);
		this.listen(document, "visibilitychange", () => this.beat());
		this.listen(document, "pointerdown", (event) => {
			if (!this.panel?.hidden && event.target instanceof Node && !this.contains(event.target)) this.toggle();
		});
		this.ends.push(() => clearInterval(this.ticking));
		this.open(place.query.get("clock") === "due");
		this.draw();
	}

	/** @returns {{ text: string, key: string, does: string, title: string, run: () => void }[]} */
	moves() {
		const move = (
			/** @type {string} */ text,
			/** @type {string} */ key,
			/** @type {string} */ does,
			/** @type {() => void} */ run,
		) => ({ text, key, does, title: `${does} (${key})`, run });
		return [
			move("next", "n", "advance to the next due item", () => this.toNext()),
			move("+1m", "a", "advance a minute", () => this.advance({ ...bySeconds(60), cli: ["1m"] })),
			move("+1h", "A", "advance an hour", () => this.advance({ ...bySeconds(3600), cli: ["1h"] })),
			move("idle", "N", "advance until nothing is due", () => this.advance(UNTIL_IDLE)),
		];
	}

	toggle() {
		setQuery({ clock: this.panel?.hidden ? "due" : "" });
	}

	/** @param {boolean} isOpen */
	open(isOpen) {
		const { panel } = this;
		if (!panel || panel.hidden !== isOpen) return;
		panel.hidden = !isOpen;
		this.mode?.setAttribute("aria-expanded", String(isOpen));
		if (!isOpen && panel.contains(document.activeElement)) this.mode?.focus();
		this.dueOf = "";
		if (isOpen) panel.begin();
		this.draw();
	}

	draw() {
		const { clock } = store;
		this.hidden = !clock;
		this.beat();
		if (!clock) {
			this.due = null;
			return;
		}
		say(/** @type {Node} */ (this.mode), `${modeOf(clock)} ▾`);
		this.mode?.setAttribute("aria-label", `Clock: ${modeOf(clock).slice(2).trim()}; due items, and its mode`);
		this.drawProgress(clock.advancing);
		this.panel?.show();
		this.readDue();
		this.tick();
	}

	/** A running clock advances on the page without requests; a hidden page does nothing. */
	beat() {
		clearInterval(this.ticking);
		if (!document.hidden && store.clock && store.clock.mode !== "manual")
			this.ticking = setInterval(() => this.tick(), TICK_MS);
	}

	/** The due items have changed when the next item or their number has: then read them. */
	async readDue() {
		const { clock } = store;
		const of = `${place.sandbox} ${clock.next_due} ${clock.pending}`;
		if (!place.sandbox || of === this.dueOf || this.isReading || clock.advancing) return;
		this.isReading = true;
		this.dueOf = of;
		try {
			this.due = await readDue(this.panel?.hidden ? 1 : LISTED);
			this.drawNext();
			this.panel?.list(this.due);
		} catch {
			this.due = null;
		} finally {
			this.isReading = false;
		}
		if (store.clock) this.draw();
	}

	drawNext() {
		const first = this.due?.due[0];
		if (!this.next) return;
		if (!first) return put(this.next);
		const parts = partsOf(first);
		const text = short(first.about, 60);
		put(this.next, h("span", { class: "past" }, "next: "), parts.length ? h("a", { href: here(parts) }, text) : text);
	}

	tick() {
		const now = sandboxNow();
		if (!now || !this.now || !this.left) return;
		const [day, time] = dateTime(now).split(" ");
		say(/** @type {Node} */ (this.day), `${day} `);
		say(/** @type {Node} */ (this.time), time);
		this.now.title = bothTimes(now.toISOString(), new Date().toISOString());
		const { next_due, pending } = store.clock;
		const left_ms = next_due ? Date.parse(next_due) - now.getTime() : 0;
		const others = pending > 1 ? `, ${counted(pending - 1, "other")} after it` : "";
		say(this.left, next_due ? `${left_ms > 0 ? `in ${span(left_ms)}` : "now"}${others}` : "nothing is due");
		if (!this.panel?.hidden) this.panel?.tick(now);
	}

	/** @param {any} advancing */
	drawProgress(advancing) {
		const { progress, bar, happened, stopButton } = this;
		if (!progress || !bar || !happened || !stopButton) return;
		for (const one of [...(this.buttons ?? []), this.next, this.left]) if (one) one.hidden = Boolean(advancing);
		progress.hidden = !advancing;
		if (!advancing) return put(progress);
		const [from, to, now] = [advancing.from, advancing.to, advancing.now].map((at) => Date.parse(at));
		if (to > from) bar.setAttribute("value", String((now - from) / (to - from)));
		else bar.removeAttribute("value");
		const where = advancing.to ? `to ${dateTime(advancing.to)}` : "until nothing is due";
		say(happened, `advancing ${where}, ${counted(advancing.fired, "event")}`);
		const isStopping = this.isStopping || advancing.stopping;
		if (isStopping) say(happened, "stopping: it waits for receivers that have not answered yet");
		stopButton.toggleAttribute("disabled", isStopping);
		if (!progress.firstChild) put(progress, stopButton, bar, happened);
	}

	toNext() {
		const { next_due } = store.clock ?? {};
		const now = sandboxNow();
		if (!next_due || !now) return this.refuse("nothing is due, so there is nothing to advance to");
		this.advance(Date.parse(next_due) > now.getTime() ? toMoment(next_due) : { ...bySeconds(0), cli: ["0s"] });
	}

	async stopAdvance() {
		this.isStopping = true;
		this.draw();
		await this.tried(stopAdvance);
		this.isStopping = false;
		this.draw();
	}

	/** @param {import("../app/until.js").Until} until */
	advance(until) {
		this.tried(() => advance(until));
	}

	/** @param {() => Promise<void>} what */
	async tried(what) {
		this.refuse("");
		try {
			await what();
		} catch (failure) {
			this.refuse(/** @type {Error} */ (failure).message);
		}
	}

	/** @param {string} why */
	refuse(why) {
		say(/** @type {Node} */ (this.mistake), why);
	}
}

customElements.define("sim-clock", SimClock);
