// The base of views of a single answer: refreshed after events that can change it, once for many
// events and one reading at a time.

import { Refused } from "./api.js";
import { h, put, say } from "./dom.js";
import { SimElement } from "./element.js";
import { log } from "./events.js";
import { place } from "./router.js";

/** The pause after an unanswered request. */
const AGAIN_MS = 2000;

export class Reading extends SimElement {
	constructor() {
		super();
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.every_ms = 300;
		this.seen = 0;
		this.timer = 0;
		this.isReading = false;
		this.isStale = false;
	}

	/** Read now, and after each event of these kinds. @param {string[]} kinds @param {number} [every_ms] */
	follow(kinds, every_ms = 300) {
		this.every_ms = every_ms;
		this.seen = log.rows.at(-1)?.number ?? 0;
		this.watch("events", () => {
			if (this.hasNew(kinds)) this.soon();
		});
		this.watch("restarted", () => this.soon());
		this.now();
	}

	/** @param {string[]} kinds */
	hasNew(kinds) {
		const last = log.rows.at(-1)?.number ?? 0;
		const before = last < this.seen ? 0 : this.seen;
		this.seen = last;
		for (let at = log.rows.length - 1; at >= 0 && log.rows[at].number > before; at--)
			if (kinds.includes(log.rows[at].kind)) return true;
		return false;
	}

	/** @param {number} [after_ms] */
	soon(after_ms = this.every_ms) {
		this.timer ||= setTimeout(() => {
			this.timer = 0;
			this.now();
		}, after_ms);
	}

	/** Read, and say in place what was refused. */
	async now() {
		if (this.isReading) {
			this.isStale = true;
			return;
		}
		this.isReading = true;
		try {
			await this.read();
			say(this.mistake, "");
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			say(this.mistake, failure.message);
			if (failure.status === 0 && this.isConnected) this.soon(AGAIN_MS);
		} finally {
			this.isReading = false;
			if (this.isStale && this.isConnected) this.soon();
			this.isStale = false;
		}
	}

	/** Query the control API, and draw. Each view overrides it. */
	async read() {}

	stop() {
		clearTimeout(this.timer);
	}
}

/** Below the sandbox that is shown. @param {string} rest */
export const mine = (rest) => `sandboxes/${encodeURIComponent(place.sandbox)}/${rest}`;

/** Redraw without moving the focus or closing opened parts, which `data-key` or `href` identify. @param {Element} into @param {...import("./dom.js").Child} children */
export function redraw(into, ...children) {
	const opened = new Map([...into.querySelectorAll("details")].map((one) => [keyOf(one), one.open]));
	const held = into.contains(document.activeElement) ? keyOf(/** @type {Element} */ (document.activeElement)) : "";
	const { scrollTop } = into;
	put(into, ...children);
	for (const one of into.querySelectorAll("details")) one.open = opened.get(keyOf(one)) ?? one.open;
	into.scrollTop = scrollTop;
	if (!held) return;
	for (const one of into.querySelectorAll("a, button, summary, input, select, textarea"))
		if (keyOf(one) === held && one instanceof HTMLElement) return one.focus();
}

/** @param {Element} one */
const keyOf = (one) =>
	one.getAttribute("data-key") ?? one.getAttribute("href") ?? one.closest("details")?.getAttribute("data-key") ?? "";

/** How much of something, as a bar and in words. @param {string} name @param {number} part @param {number} all @param {string} [word] */
export function share(name, part, all, word = "met") {
	const text = `${part} of ${all} ${word}`;
	const full = h("span", {});
	full.style.setProperty("width", `${all ? (100 * part) / all : 0}%`);
	return h(
		"p",
		{ class: "share" },
		h("b", {}, name),
		h("span", { class: "share-bar", "aria-hidden": "true" }, full),
		text,
	);
}

/** A state with its mark. @param {"good" | "bad" | "wait" | "past"} tone @param {string} text */
export const marked = (tone, text) =>
	h("span", { class: `marked tone-${tone}` }, `${{ good: "●", bad: "✕", wait: "○", past: "·" }[tone]} ${text}`);
