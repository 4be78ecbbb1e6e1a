// The clock of the sandbox: its time, the next due item, and buttons and keys that advance it.

import "./clock-panel.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, count, counted, dateTime, span } from "../app/format.js";
import { advance, modeOf, readDue, stopAdvance, what } from "../app/clock-actions.js";
import { place, setQuery } from "../app/router.js";
import { sandboxNow, store } from "../app/store.js";
import { NOW, UNTIL_IDLE, bySeconds, toMoment } from "../app/advance-targets.js";

const TICK_MS = 250;
const LISTED = 50;

class SimClock extends SimElement {
	/** @type {{ due: any[], pending: number } | null} */
	due = null;
	/** What the due items were read for. */
	dueOf = "";
	isReading = false;
	isStopping = false;
	/** @type {ReturnType<typeof setInterval> | undefined} */
	ticking;
	bar = h("progress", { "aria-label": "the advance that runs" });
	happened = h("span", { class: "past" });
	stopButton = h("button", { onclick: () => this.stopAdvance() }, "stop");
	mode = h("button", { class: "quiet", "aria-haspopup": "true", onclick: () => this.toggle() });
	day = h("span", { class: "wide-only" });
	time = h("span", {});
	shown = h("time", {}, this.day, this.time, h("span", { class: "zone" }, " +08:00"));
	next = h("span", { class: "next wide-only" });
	left = h("span", { class: "past wide-only" });
	progress = h("span", { class: "progress", hidden: true });
	panel = h("clock-panel", { hidden: true });
	/** @type {[text: string, key: string, does: string, run: () => void][]} */
	moves = [
		["next", "n", "advance to the next due item", () => this.toNext()],
		["+1m", "a", "advance a minute", () => this.advance({ ...bySeconds(60), cli: ["1m"] })],
		["+1h", "A", "advance an hour", () => this.advance({ ...bySeconds(3600), cli: ["1h"] })],
		["idle", "N", "advance until nothing is due", () => this.advance(UNTIL_IDLE)],
	];
	buttons = this.moves.map(([text, key, does, run]) => h("button", { title: `${does} (${key})`, onclick: run }, text));

	start() {
		this.panel.advance = (until) => this.advance(until);
		put(this, this.mode, this.shown, ...this.buttons, this.progress, this.mistake, this.next, this.left, this.panel);
		this.watch(["clock", "sandbox"], () => this.draw());
		this.watch("place", () => this.open(place.query.get("clock") === "due"));
		this.keys([
			...this.moves.map(([, key, does, run]) => ({ key, does, group: "Clock", run })),
			{ key: "t", does: "due items, and the clock's mode", group: "Clock", run: () => this.toggle() },
		]);
		this.listen(document, "visibilitychange", () => this.beat());
		this.listen(document, "pointerdown", (event) => {
			if (!this.panel.hidden && event.target instanceof Node && !this.contains(event.target)) this.toggle();
		});
		this.ends.push(() => clearInterval(this.ticking));
		this.open(place.query.get("clock") === "due");
		this.draw();
	}

	toggle() {
		setQuery({ clock: this.panel.hidden ? "due" : "" });
	}

	/** @param {boolean} isOpen */
	open(isOpen) {
		const { panel } = this;
		if (panel.hidden !== isOpen) return;
		panel.hidden = !isOpen;
		this.mode.setAttribute("aria-expanded", String(isOpen));
		if (!isOpen && panel.contains(document.activeElement)) this.mode.focus();
		this.dueOf = "";
		if (isOpen) panel.begin();
		this.draw();
	}

	draw() {
		const { clock } = store;
		this.hidden = !clock;
		this.beat();
		if (!clock) return;
		say(this.mode, `${modeOf(clock)} ▾`);
		this.mode.setAttribute("aria-label", `Clock: ${modeOf(clock).slice(2).trim()}; due items, and its mode`);
		this.drawProgress(clock.advancing);
		this.panel.show();
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
			const due = await readDue(this.panel.hidden ? 1 : LISTED);
			const [first] = due.due;
			put(this.next, first && [h("span", { class: "past" }, "next: "), what(first, 60)]);
			this.panel.list(due);
		} catch {
			put(this.next);
		} finally {
			this.isReading = false;
		}
		if (store.clock) this.draw();
	}

	tick() {
		const now = sandboxNow();
		if (!now) return;
		const [day, time] = dateTime(now).split(" ");
		say(this.day, `${day} `);
		say(this.time, time);
		this.shown.title = bothTimes(now.toISOString(), new Date().toISOString());
		const { next_due, pending } = store.clock;
		const left_ms = next_due ? Date.parse(next_due) - now.getTime() : 0;
		const others = pending > 1 ? `, ${count(pending - 1)} more` : "";
		say(this.left, next_due ? `${left_ms > 0 ? `in ${span(left_ms)}` : "now"}${others}` : "nothing is due");
		if (!this.panel.hidden) this.panel.tick(now);
	}

	/** @param {any} advancing */
	drawProgress(advancing) {
		const { progress, bar, happened, stopButton } = this;
		for (const one of [...this.buttons, this.next, this.left]) one.hidden = Boolean(advancing);
		progress.hidden = !advancing;
		if (!advancing) return put(progress);
		const [from, to, now] = [advancing.from, advancing.to, advancing.now].map((at) => Date.parse(at));
		if (to > from) bar.setAttribute("value", String((now - from) / (to - from)));
		else bar.removeAttribute("value");
		const isStopping = this.isStopping || advancing.stopping;
		const where = advancing.to ? `to ${dateTime(advancing.to)}` : "until nothing is due";
		const text = `advancing ${where}, ${counted(advancing.fired, "event")}`;
		say(happened, isStopping ? "stopping: it waits for receivers that have not answered yet" : text);
		stopButton.toggleAttribute("disabled", isStopping);
		if (!progress.firstChild) put(progress, stopButton, bar, happened);
	}

	toNext() {
		const { next_due } = store.clock ?? {};
		const now = sandboxNow();
		if (!next_due || !now) return say(this.mistake, "nothing is due, so there is nothing to advance to");
		this.advance(Date.parse(next_due) > now.getTime() ? toMoment(next_due) : NOW);
	}

	async stopAdvance() {
		this.isStopping = true;
		this.draw();
		await this.attempt(stopAdvance);
		this.isStopping = false;
		this.draw();
	}

	/** @param {Until} until */
	advance(until) {
		this.attempt(() => advance(until));
	}
}

customElements.define("sim-clock", SimClock);
