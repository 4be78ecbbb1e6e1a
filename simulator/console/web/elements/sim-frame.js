// The frame of the page: bar, tabs, the view that the address names, and the line that says what was done.

import "./sim-bar.js";
import "./sim-keys.js";
import "./sim-said.js";
import { Refused, get, token } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { visible } from "../app/outside.js";
import { watchEvents } from "../app/events.js";
import { address, go, here, place, setQuery } from "../app/router.js";
import { changed, readClock, readSandboxes, store } from "../app/store.js";
import { SERVER_VIEWS, VIEWS, load, viewOf } from "../app/views.js";
import { askForToken } from "./ask-token.js";
import { noModule, noSandbox, noView } from "./notices.js";

const AGAIN_MS = 1000;

class SimFrame extends SimElement {
	constructor() {
		super();
		/** What the view shows; at first nothing, not even a page of the server. */
		this.shown = { sandbox: "\0", view: "" };
	}

	start() {
		token.ask = askForToken;
		this.tabs = h("nav", { class: "tabs", "aria-label": "Views" });
		this.main = h("main", { id: "view", tabindex: "-1" });
		put(
			this,
			h("a", { class: "skip", href: "#view" }, "to the view"),
			h("sim-bar"),
			this.tabs,
			this.main,
			h("sim-said"),
			h("sim-keys"),
		);
		this.watch("place", () => this.show());
		this.watch("restarted", () => this.open(place.sandbox));
		this.watch("back", () => this.read(place.sandbox));
		this.watch("connection", () => this.lose());
		this.keys([
			...VIEWS.map((view) => ({
				key: `g ${view.key}`,
				does: view.title,
				group: "Go to",
				run: () => go(address(place.sandbox || this.lately(), [view.name])),
			})),
			...SERVER_VIEWS.map((view) => ({
				key: `g ${view.key}`,
				does: view.title,
				group: "Go to",
				run: () => go(address("", [view.name])),
			})),
			{ key: "Escape", does: "back", group: "Everywhere", run: () => this.back() },
		]);
	}

	/** The sandbox that was shown last, for keys on a page of the server. */
	lately() {
		return store.sandbox?.id ?? store.sandboxes[0]?.id ?? "default";
	}

	back() {
		const active = document.activeElement;
		if (active instanceof HTMLElement && active.closest("input, textarea, select")) return active.blur();
		if (place.rest.length) go(here([place.view]));
		else if (place.query.has("at")) setQuery({ at: "" });
	}

	async show() {
		if (!place.sandbox && !place.view) return this.first();
		if (place.sandbox !== this.shown.sandbox) this.open(place.sandbox);
		const view = viewOf(place.sandbox, place.view);
		this.drawTabs(view?.name ?? "");
		document.title = [place.rest[0], view?.title ?? place.view, place.sandbox, "reseller-sim"]
			.filter(Boolean)
			.map(visible)
			.join(" · ");
		const shown = { sandbox: place.sandbox, view: view?.name ?? place.view };
		if (this.shown.sandbox === shown.sandbox && this.shown.view === shown.view) return;
		this.shown = shown;
		if (!view) return this.putIn(noView());
		try {
			await load(view);
		} catch {
			if (this.shown === shown) this.putIn(noModule());
			return this.whenItAnswers(shown);
		}
		if (this.shown === shown) this.putIn(h(view.element));
	}

	/** @param {Node} node */
	putIn(node) {
		put(/** @type {HTMLElement} */ (this.main), node);
	}

	/** A module that did not come is asked for by a new page only; the address has all that this one shows. @param {object} shown */
	async whenItAnswers(shown) {
		while (this.shown === shown) {
			await new Promise((then) => setTimeout(then, AGAIN_MS));
			const answers = await get("health").catch((failure) => failure instanceof Refused && failure.status > 0);
			if (answers && this.shown === shown) return location.reload();
		}
	}

	/** The sandbox is not there: say so, and look again when another address is gone to. */
	lose() {
		if (store.connection !== "lost" || !place.sandbox) return;
		this.shown = { sandbox: "\0", view: "" };
		this.putIn(noSandbox());
	}

	/** `/_sim/` leads to the default sandbox, or to the list where there is none. */
	async first() {
		await readSandboxes();
		const has = store.sandboxes.some((one) => one.id === "default");
		go(has ? address("default", ["live"]) : address("", ["sandboxes"]), true);
	}

	/** @param {string} id */
	async open(id) {
		store.sandbox = null;
		store.clock = null;
		watchEvents(id);
		await this.read(id);
	}

	/** @param {string} id */
	async read(id) {
		try {
			await readSandboxes();
			const found = id ? await get(`sandboxes/${encodeURIComponent(id)}`) : null;
			if (id !== place.sandbox) return;
			store.sandbox = found;
			await readClock();
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			if (failure.status === 404 && id === place.sandbox) store.connection = "lost";
			changed("connection");
		}
		changed("sandbox");
	}

	/** @param {string} current */
	drawTabs(current) {
		const sandbox = place.sandbox || this.lately();
		const link = (
			/** @type {string} */ where,
			/** @type {import("../app/views.js").View} */ view,
			/** @type {boolean} */ isCurrent,
		) => h("a", { href: where, "aria-current": isCurrent && "page", title: `g ${view.key}` }, view.title);
		put(
			/** @type {HTMLElement} */ (this.tabs),
			...VIEWS.map((view) =>
				link(address(sandbox, [view.name]), view, Boolean(place.sandbox) && view.name === current),
			),
			h("span", { class: "gap" }),
			...SERVER_VIEWS.map((view) => link(address("", [view.name]), view, !place.sandbox && view.name === current)),
		);
	}
}

customElements.define("sim-frame", SimFrame);
