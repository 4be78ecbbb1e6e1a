// The frame of the page: bar, tabs, the view that the address names, and the line that says what was done.

import "./sim-bar.js";
import "./sim-keys.js";
import "./sim-action-log.js";
import { Refused, get, path, token } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { visible } from "../app/safe-text.js";
import { watchEvents } from "../app/events.js";
import { address, go, here, latestSandbox, leaving, place } from "../app/router.js";
import { changed, readClock, readSandboxes, setConnection, store } from "../app/store.js";
import { SERVER_VIEWS, VIEWS, load, viewOf } from "../app/views.js";
import { askForToken } from "./dialogs.js";
import { noSandbox, notLoaded, unknownView } from "./notices.js";

/** @typedef {import("../app/views.js").View} View */

/** How often it is looked whether what could not be shown can be. */
const AGAIN_MS = 2000;

class SimFrame extends SimElement {
	/** The shown view; at first none. */
	shown = { sandbox: "\0", view: "" };
	/** Changes with everything that is shown or opened, so that late answers are ignored. */
	turn = 0;
	/** The sandbox that is being read. */
	described = "\0";
	tabs = h("nav", { class: "tabs", "aria-label": "Views" });
	main = h("main", { id: "view", tabindex: "-1" });

	start() {
		token.ask = (retry) => {
			setConnection("locked");
			return askForToken(retry);
		};
		const skip = h("a", { class: "skip", href: "#view" }, "to the view");
		put(this, skip, h("sim-bar"), this.tabs, this.main, h("sim-action-log"), h("sim-keys"));
		leaving.left = () => this.left();
		this.watch("place", () => this.show());
		this.watch("restarted", () => this.open(place.sandbox));
		this.watch("connection", () => this.connected());
		this.keys([
			...[...VIEWS, ...SERVER_VIEWS].map((view) => ({
				key: `g ${view.key}`,
				does: view.title,
				group: "Go to",
				run: () => go(addressOf(view)),
			})),
			{ key: "Escape", does: "back", group: "Everywhere", run: () => this.back() },
		]);
	}

	back() {
		const active = document.activeElement;
		if (active instanceof HTMLElement && active.closest("input, textarea, select")) return active.blur();
		if (place.rest.length) go(here([place.view]));
	}

	/** Take away the view that the address does not name any more; what it waits for ends with it. */
	left() {
		this.turn++;
		this.shown = { sandbox: this.shown.sandbox, view: "" };
		put(this.main);
	}

	async show() {
		if (!place.sandbox && !place.view) return this.first();
		if (place.sandbox !== this.shown.sandbox) this.open(place.sandbox);
		const view = viewOf(place.sandbox, place.view);
		this.drawTabs(view?.name ?? "");
		document.title = [place.rest[0] ?? "", view?.title ?? "", place.sandbox, "reseller-sim"]
			.filter(Boolean)
			.map(visible)
			.join(" · ");
		const shown = { sandbox: place.sandbox, view: view?.name ?? `no ${place.view}` };
		if (this.shown.sandbox === shown.sandbox && this.shown.view === shown.view) return;
		this.shown = shown;
		const turn = ++this.turn;
		if (place.sandbox && store.connection === "gone") return this.gone();
		if (!view) return this.fill(unknownView(place.sandbox, place.view));
		try {
			await load(view);
			if (this.turn === turn) this.fill(h(`sim-${view.name}`));
		} catch {
			if (this.turn === turn) this.unloaded(view.title);
		}
	}

	/** A browser may keep that a module could not be loaded; every state is an address, so nothing is lost. @param {string} title */
	unloaded(title) {
		this.fill(notLoaded(title));
		this.until(
			() => readSandboxes().then(() => true),
			() => location.reload(),
		);
	}

	connected() {
		if (store.connection === "gone") this.gone();
		else if (store.connection === "live" && place.sandbox && !store.sandbox) this.describe(place.sandbox);
	}

	/** @param {HTMLElement} view */
	fill(view) {
		put(this.main, view);
	}

	/** Show a notice instead of the view for a missing sandbox, and the view when it exists. */
	async gone() {
		const { sandbox } = place;
		const turn = ++this.turn;
		await readSandboxes().catch(() => {});
		if (this.turn !== turn) return;
		this.fill(noSandbox(sandbox));
		this.until(
			() => readSandboxes().then(() => store.sandboxes.some((one) => one.id === sandbox)),
			() => {
				this.shown = { sandbox: "\0", view: "" };
				this.show();
			},
		);
	}

	/** Look again and again, until it is so or something else is shown. @param {() => Promise<boolean>} test @param {() => void} then */
	async until(test, then) {
		const { turn } = this;
		for (;;) {
			await new Promise((go) => setTimeout(go, AGAIN_MS));
			if (this.turn !== turn) return;
			if (!(await test().catch(() => false))) continue;
			if (this.turn === turn) then();
			return;
		}
	}

	/** `/_sim/` leads to the default sandbox, or to the list without a default sandbox. */
	async first() {
		try {
			await readSandboxes();
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			return this.unloaded("The console");
		}
		const has = store.sandboxes.some((one) => one.id === "default");
		go(has ? address("default", ["live"]) : address("", ["sandboxes"]), true);
	}

	/** @param {string} id */
	async open(id) {
		store.sandbox = null;
		store.clock = null;
		setConnection("connecting");
		watchEvents(id);
		await this.describe(id);
	}

	/** Read what the sandbox is, and where its clock stands. @param {string} id */
	async describe(id) {
		if (this.described === id) return;
		this.described = id;
		try {
			const found = id ? await get(path("sandboxes", id)) : null;
			if (place.sandbox !== id) return;
			store.sandbox = found;
			await Promise.all([readClock(), readSandboxes()]);
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			if (place.sandbox === id && failure.status === 404) setConnection("gone");
		} finally {
			if (this.described === id) this.described = "\0";
		}
		changed("sandbox");
	}

	/** @param {string} current */
	drawTabs(current) {
		const link = (/** @type {View} */ view) => {
			const isCurrent = view.name === current && VIEWS.includes(view) === Boolean(place.sandbox);
			return h("a", { href: addressOf(view), "aria-current": isCurrent && "page", title: `g ${view.key}` }, view.title);
		};
		put(this.tabs, ...VIEWS.map(link), h("span", { class: "gap" }), ...SERVER_VIEWS.map(link));
		this.tabs.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}
}

/** @param {View} view of the latest sandbox, or of the server */
const addressOf = (view) => address(VIEWS.includes(view) ? latestSandbox() : "", [view.name]);

customElements.define("sim-frame", SimFrame);
