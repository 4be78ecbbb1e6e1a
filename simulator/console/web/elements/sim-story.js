// A payment's story as a picture, or two beneath each other with the same scale; what is opened stands whole below.

import "./sim-detail.js";
import { Refused } from "../app/api.js";
import { sendCallback } from "../app/actions.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { log } from "../app/events.js";
import { form } from "../app/form.js";
import { short, visible } from "../app/safe-text.js";
import { here, go, place, setQuery } from "../app/router.js";
import { scaleOf } from "../app/scale.js";
import { storyOf, trxidOf } from "../app/stories.js";
import { SimHolds } from "./sim-holds.js";
import { boxesOf, SIDES_PX, storyLine } from "./story-line.js";
import { differences, headOf, leftOut } from "./story-head.js";

/** @typedef {import("../app/stories.js").Story} Story */

const AGAIN_MS = 150;
/** The things of the second story in the address. */
const SECOND = "with-";

export class SimStory extends SimElement {
	constructor() {
		super();
		/** @type {Story[]} */
		this.stories = [];
		this.trxids = "";
		this.reading = new AbortController();
		this.seen = 0;
		/** @type {any} */
		this.later = 0;
		this.isWaiting = false;
	}

	start() {
		this.head = h("div", { class: "heads" });
		this.mistake = h("p", { class: "mistake", role: "alert" });
		// A refusal stays visible when the story is refreshed.
		this.refusal = h("p", { class: "mistake", role: "alert" });
		this.holds = new SimHolds();
		this.holds.only([]);
		this.lines = h("div", { class: "lines" });
		this.detail = /** @type {import("./sim-detail.js").SimDetail} */ (h("sim-detail"));
		this.detail.close = () => this.close();
		this.hint = h(
			"p",
			{ class: "past hint" },
			h("kbd", {}, "j"),
			" ",
			h("kbd", {}, "k"),
			" open the next, ",
			h("kbd", {}, "Esc"),
			" closes",
		);
		this.beside = form({
			label: "Compare with another payment",
			submit: "compare",
			fields: [{ name: "other", label: "Another payment", hint: "its refid or trxid", size: 24 }],
			run: async ({ other }) => setQuery({ with: await trxidOf(other.trim()), at: "" }),
		});
		put(this, this.mistake, this.refusal, this.holds, this.lines, this.hint, this.detail, this.head, this.beside);
		this.watch("place", () => this.follow());
		this.watch(["events", "clock"], () => this.happened());
		this.watch("restarted", () => this.soon());
		const sizes = new ResizeObserver(() => this.draw());
		sizes.observe(this);
		this.ends.push(() => sizes.disconnect());
		const group = "Story";
		const by = (/** @type {number} */ step) => () => this.move(step);
		this.keys([
			{ key: "j", does: "next thing", group, run: by(1) },
			{ key: "k", does: "thing before", group, run: by(-1) },
			{ key: "ArrowRight", does: "next thing", group, run: by(1) },
			{ key: "ArrowLeft", does: "thing before", group, run: by(-1) },
			{ key: "ArrowDown", does: "next thing", group, run: by(1) },
			{ key: "ArrowUp", does: "thing before", group, run: by(-1) },
			{ key: "Escape", does: "close, then back to the list", group, run: () => this.close() },
		]);
		this.follow();
	}

	stop() {
		this.reading.abort();
		clearTimeout(this.later);
	}

	/** Follow the address: which payments, and what is opened. */
	follow() {
		const trxids = [place.rest[0] ?? "", place.query.get("with") ?? ""].filter(Boolean).join(" ");
		if (!place.rest[0]) return;
		if (trxids === this.trxids) return this.draw();
		this.trxids = trxids;
		this.stories = [];
		if (this.refusal) say(this.refusal, "");
		this.seen = log.dropped + log.rows.length;
		this.read();
	}

	async read() {
		this.reading.abort();
		const { signal } = (this.reading = new AbortController());
		const trxids = this.trxids.split(" ");
		const read = await Promise.allSettled(trxids.map((one) => storyOf(one, signal)));
		if (signal.aborted) return;
		const failures = read.map((one) => (one.status === "rejected" ? one.reason : null));
		const broken = failures.find((one) => one && !(one instanceof Refused));
		if (broken) throw broken;
		this.stories = read.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
		const why = failures.map(
			(one, at) => one && `${trxids.length > 1 ? `${visible(trxids[at].slice(0, 40))}: ` : ""}${one.message}`,
		);
		if (this.mistake) say(this.mistake, why.filter(Boolean).join("; "));
		this.holds?.only(this.stories.map(({ payment }) => payment.refid));
		this.draw();
	}

	/** Read again when something happened to what is shown. */
	happened() {
		const fresh = log.rows.slice(Math.max(0, this.seen - log.dropped));
		this.seen = log.dropped + log.rows.length;
		const trxids = this.trxids.split(" ");
		if (fresh.some((row) => trxids.includes(row.trxid) || (row.kind === "action" && this.stories.length))) this.soon();
	}

	soon() {
		if (this.isWaiting) return;
		this.isWaiting = true;
		this.later = setTimeout(() => {
			this.isWaiting = false;
			this.read();
		}, AGAIN_MS);
	}

	draw() {
		if (!this.lines || !this.head || !this.detail || !this.beside || !this.hint) return;
		const { stories } = this;
		this.hint.hidden = this.beside.hidden = !stories.length;
		if (!stories.length) {
			put(this.head);
			put(this.lines, this.mistake?.textContent && unknown(place.rest[0] ?? ""));
			this.detail.row = null;
			return;
		}
		const focused = this.focused();
		const scrolled = [...this.querySelectorAll(".line")].map((line) => line.scrollLeft);
		const selected = place.query.get("at") ?? "";
		const room = Math.max(240, this.clientWidth - SIDES_PX - 8);
		const scale = scaleOf(
			stories.flatMap((one, at) => boxesOf(one.things, one.start).map((box) => ({ ...box, lane: `${at}${box.lane}` }))),
			room,
		);
		put(
			this.head,
			stories.length > 1 && differences(stories),
			place.query.has("with") && h("button", { onclick: () => setQuery({ with: "", at: "" }) }, "only the first"),
		);
		put(
			this.lines,
			stories.map(({ payment, things, start }, at) =>
				h(
					"section",
					{ class: "story", "aria-label": `story of ${payment.refid}` },
					headOf(payment, () => this.callback(payment)),
					storyLine({
						things,
						start,
						scale,
						selected,
						label: `what happened to ${payment.refid}, in the order of time`,
						prefix: at ? SECOND : "",
						open: (id) => this.open(id),
					}),
					leftOut(payment),
				),
			),
		);
		const found = this.things().find((one) => one.id === selected);
		this.detail.row = found?.thing.row ?? null;
		this.querySelectorAll(".line").forEach((line, at) => (line.scrollLeft = scrolled[at] ?? 0));
		this.focusOn(focused);
	}

	/** The things of both stories, by their names in the address. */
	things() {
		return this.stories.flatMap(({ things }, at) =>
			things.map((thing) => ({ id: (at ? SECOND : "") + thing.id, thing })),
		);
	}

	/** @param {any} payment */
	async callback(payment) {
		try {
			await sendCallback(payment);
			if (this.refusal) say(this.refusal, "");
		} catch (failure) {
			if (!(failure instanceof Refused) || !this.refusal) throw failure;
			say(this.refusal, failure.message);
		}
	}

	/** @param {string} id */
	open(id) {
		setQuery({ at: id === place.query.get("at") ? "" : id });
	}

	close() {
		const active = document.activeElement;
		if (active instanceof HTMLInputElement) return active.blur();
		if (place.query.get("at")) setQuery({ at: "" });
		else go(here(["payments"], { at: place.rest[0] ?? "" }));
	}

	focused() {
		const active = document.activeElement;
		return active instanceof HTMLElement && this.contains(active) ? (active.dataset.id ?? "") : "";
	}

	/** @param {string} id */
	focusOn(id) {
		const button = id && this.querySelector(`[data-id="${CSS.escape(id)}"]`);
		if (button instanceof HTMLElement) button.focus();
	}

	/** @param {number} by */
	move(by) {
		const ids = this.things().map((one) => one.id);
		const now = ids.indexOf(this.focused() || (place.query.get("at") ?? ""));
		const to = now < 0 ? (by > 0 ? 0 : ids.length - 1) : now + by;
		const id = ids[Math.min(Math.max(to, 0), ids.length - 1)];
		this.focusOn(id);
		if (id) setQuery({ at: id });
	}
}

/** The notice instead of a missing story. @param {string} trxid */
const unknown = (trxid) =>
	h("header", {}, h("h2", {}, "Payment ", short(trxid, 40)), h("a", { href: here(["payments"]) }, "all payments"));

customElements.define("sim-story", SimStory);
