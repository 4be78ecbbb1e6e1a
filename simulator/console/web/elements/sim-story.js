// A payment's story as a picture, or two beneath each other with the same scale; what is opened stands whole below.

import "./sim-detail.js";
import { Refused } from "../app/api.js";
import { sendCallback } from "../app/actions.js";
import { h, put, say } from "../app/dom.js";
import { Reading } from "../app/reading.js";
import { short } from "../app/safe-text.js";
import { here, go, place, setQuery } from "../app/router.js";
import { scaleOf } from "../app/scale.js";
import { storyOf } from "../app/stories.js";
import { SimHolds } from "./sim-holds.js";
import { boxesOf, SIDES_PX, storyLine } from "./story-line.js";
import { differences, headOf, leftOut } from "./story-head.js";

/** The things of the second story in the address. */
const SECOND = "with-";

class SimStory extends Reading {
	/** @type {Story[]} */
	stories = [];
	trxids = "";
	isMissing = false;
	reading = new AbortController();
	head = h("div", { class: "heads" });
	holds = new SimHolds([]);
	lines = h("div", { class: "lines" });
	detail = h("sim-detail");

	start() {
		this.detail.close = () => this.close();
		put(this, this.mistake, this.refusal, this.holds, this.lines, this.detail, this.head);
		this.watch("place", () => this.follow());
		this.resized(() => this.draw());
		const by = (/** @type {number} */ step) => () => this.move(step);
		this.keys([
			...["j", "ArrowRight", "ArrowDown"].map((key) => ({ key, does: "next thing", group: "Story", run: by(1) })),
			...["k", "ArrowLeft", "ArrowUp"].map((key) => ({ key, does: "thing before", group: "Story", run: by(-1) })),
			{ key: "Escape", does: "close, then back to the list", group: "Story", run: () => this.close() },
		]);
		this.refreshOn((row) => this.trxids.split(" ").includes(row.trxid) || row.kind === "action", 150);
	}

	stop() {
		super.stop();
		this.reading.abort();
	}

	/** The payments of the address. */
	named() {
		return [place.rest[0] ?? "", place.query.get("with") ?? ""].filter(Boolean).join(" ");
	}

	/** Follow the address: which payments, and what is opened. */
	follow() {
		if (!place.rest[0]) return;
		if (this.named() === this.trxids) return this.draw();
		this.reading.abort();
		this.stories = [];
		this.isMissing = false;
		say(this.refusal, "");
		this.now();
	}

	async read() {
		const { signal } = (this.reading = new AbortController());
		this.trxids = this.named();
		const trxids = this.trxids.split(" ");
		const read = await Promise.allSettled(trxids.map((one) => storyOf(one, signal)));
		if (signal.aborted) return;
		this.stories = read.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
		this.isMissing = !this.stories.length;
		this.holds.only(this.stories.map(({ payment }) => payment.refid));
		this.draw();
		const failures = read.flatMap((one, at) => {
			if (one.status === "fulfilled") return [];
			if (!(one.reason instanceof Refused)) throw one.reason;
			return (trxids.length > 1 ? `${trxids[at].slice(0, 40)}: ` : "") + one.reason.message;
		});
		if (failures.length) throw new Error(failures.join("; "));
	}

	draw() {
		const { stories } = this;
		if (!stories.length) {
			put(this.head);
			put(this.lines, this.isMissing && unknown(place.rest[0] ?? ""));
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
		const sections = stories.map(({ payment, things, start }, at) => {
			const label = `what happened to ${payment.refid}, in the order of time`;
			const prefix = at ? SECOND : "";
			return h(
				"section",
				{ class: "story", "aria-label": `story of ${payment.refid}` },
				headOf(payment, () => this.attempt(() => sendCallback(payment), this.refusal)),
				storyLine({ things, start, scale, selected, label, prefix, open: (id) => this.open(id) }),
				leftOut(payment),
			);
		});
		put(this.lines, sections);
		this.detail.row = this.things().find((one) => one.id === selected)?.thing.row ?? null;
		this.querySelectorAll(".line").forEach((line, at) => (line.scrollLeft = scrolled[at] ?? 0));
		this.focusOn(focused);
	}

	/** The things of both stories, by their names in the address. */
	things() {
		return this.stories.flatMap(({ things }, at) =>
			things.map((thing) => ({ id: (at ? SECOND : "") + thing.id, thing })),
		);
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
