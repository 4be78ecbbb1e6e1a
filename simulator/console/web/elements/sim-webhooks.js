// Webhooks of a sandbox: deliveries and their attempts, how they are configured, events on demand, and probes of receivers.

import "./sim-reseller.js";
import "./webhook-delivery.js";
import { SimList } from "./sim-list.js";
import { chosenReseller, resellerCodes } from "./sim-reseller.js";
import { stateOf } from "./webhook-delivery.js";
import { configurationOf, verdictsOf } from "./webhook-tables.js";
import { get } from "../app/api.js";
import { Deliveries } from "../app/deliveries.js";
import { h, put, say } from "../app/dom.js";
import { bothTimes, count, counted, dateTime, time } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { mine, Reading, redraw } from "../app/reading.js";
import { here, place, setQuery } from "../app/router.js";
import { searchBox } from "../app/search-box.js";
import { sandboxNow } from "../app/store.js";
import { probeForm, triggerForms } from "../app/triggers.js";

const PARTS = { "": "Deliveries", configuration: "Configuration", probes: "Probes" };
const BODY_CHARS_MAX = 300;
const STATES = ["pending", "success", "failed"];

/** @typedef {import("../app/dom.js").Child} Child */

const COLUMNS = [
	{
		name: "time",
		class: "time",
		cell: (/** @type {any} */ one) => h("time", { title: bothTimes(one.created) }, time(one.created)),
	},
	{ name: "event", class: "kind", cell: (/** @type {any} */ one) => one.type },
	{ name: "state", class: "state", cell: (/** @type {any} */ one) => stateOf(one.state) },
	{ name: "reseller", class: "refid", cell: (/** @type {any} */ one) => short(one.reseller) },
	{ name: "attempts", class: "tries", cell: (/** @type {any} */ one) => String(one.attempts.length) },
	{ name: "to", class: "text", cell: (/** @type {any} */ one) => short(one.url) },
];

/** As much of the answers as is shown. @param {any} answer of `POST …/probes` */
const kept = (answer) =>
	JSON.parse(JSON.stringify(answer, (key, value) => (key === "body" ? String(value).slice(0, BODY_CHARS_MAX) : value)));

/** How the resellers are configured now. @returns {Promise<any>} */
const configured = () => get(`${mine("resellers")}?limit=200`);

class SimWebhooks extends Reading {
	deliveries = new Deliveries();
	formsOf = "";

	start() {
		this.tabs = h("nav", { class: "parts", "aria-label": "Webhooks" });
		this.counts = h("span", { class: "counts", role: "status" });
		this.state = /** @type {HTMLSelectElement} */ (
			h(
				"select",
				{ "aria-label": "State", onchange: () => setQuery({ state: this.state?.value ?? "" }) },
				h("option", { value: "" }, "all states"),
				...STATES.map((state) => h("option", { value: state }, state)),
			)
		);
		this.event = searchBox({
			label: "Deliveries of the event",
			placeholder: "event id",
			onchange: () => setQuery({ event: this.event?.value.trim() ?? "" }),
		});
		this.list = new SimList();
		this.list.of = {
			label: "Deliveries, newest first",
			columns: COLUMNS,
			key: (one) => one.id,
			select: (one) => setQuery({ at: one?.id ?? "" }),
			empty: () => this.teach(),
		};
		this.whole = /** @type {any} */ (h("webhook-delivery"));
		this.filters = h("span", { class: "tools" }, h("sim-reseller"), this.state, this.event);
		this.triggers = h("div", {});
		this.lists = h("div", { class: "beside" }, this.list, this.whole);
		this.configuration = h("div", { class: "page" });
		this.verdicts = h("div", { class: "page", role: "status" });
		this.probes = h("div", {});
		const head = h("div", { class: "tools" }, h("h2", {}, "Webhooks"), this.tabs, this.filters, this.counts);
		put(this, head, this.mistake, this.triggers, this.lists, this.configuration, this.probes);
		this.keys([
			{ key: "/", does: "deliveries of an event", group: "Webhooks", run: () => this.event?.focus() },
			{ key: "Escape", does: "close the delivery", group: "Webhooks", run: () => setQuery({ at: "" }) },
		]);
		this.watch("place", () => this.turn());
		this.watch("sandbox", () => this.forms());
		this.watch("restarted", () => this.deliveries.forget());
		this.turn();
		this.follow(["webhook", "action", "entry", "request"], 500);
	}

	filter() {
		const { query } = place;
		return { reseller: chosenReseller(), state: query.get("state") ?? "", event: query.get("event") ?? "" };
	}

	/** Show the part that the address names. */
	turn() {
		const part = place.rest[0] ?? "";
		if (!this.tabs || !this.state || !this.event) return;
		const tabs = Object.entries(PARTS).map(([name, title]) =>
			h("a", { href: here(["webhooks", name].filter(Boolean)), "aria-current": name === part && "page" }, title),
		);
		redraw(this.tabs, ...tabs);
		/** @type {[HTMLElement | undefined, string][]} */
		const areas = [
			[this.filters, ""],
			[this.counts, ""],
			[this.triggers, ""],
			[this.lists, ""],
			[this.configuration, "configuration"],
			[this.probes, "probes"],
		];
		for (const [area, of] of areas) if (area) area.hidden = of !== part;
		this.state.value = place.query.get("state") ?? "";
		if (document.activeElement !== this.event) this.event.value = place.query.get("event") ?? "";
		const at = place.query.get("at") ?? "";
		this.list?.choose(at);
		this.whole.show(at);
		this.forms();
		this.judged();
		const of = JSON.stringify(this.filter());
		if (of !== this.dataset.filter) this.soon();
		this.dataset.filter = of;
	}

	async read() {
		if (this.configuration) redraw(this.configuration, ...configurationOf(await configured()));
		const of = JSON.stringify(this.filter());
		const items = await this.deliveries.read(this.filter());
		if (of !== JSON.stringify(this.filter()) || !this.list) return;
		this.list.items = items;
		const evicted = this.deliveries.leftOut ? `, ${count(this.deliveries.leftOut)} older ones not kept` : "";
		if (this.counts) say(this.counts, `${counted(items.length, "delivery", "deliveries")}${evicted}`);
		const at = place.query.get("at") ?? "";
		this.list.choose(at);
		await this.whole.show(at);
	}

	/** The forms are recreated only when the resellers change. */
	forms() {
		const codes = resellerCodes();
		const of = JSON.stringify(codes);
		if (of === this.formsOf || !this.triggers || !this.probes || !codes.length) return;
		this.formsOf = of;
		const after = () => this.now();
		put(this.triggers, h("div", { class: "tools" }, ...triggerForms(codes, configured, after)));
		const found = (/** @type {any} */ answer) => {
			history.replaceState({ probed: kept(answer), at: sandboxNow()?.toISOString() }, "");
			this.judged();
		};
		put(
			this.probes,
			h("p", {}, "Forged, stale and repeated messages are sent to the receivers, which must refuse them."),
			probeForm(codes, found),
			/** @type {HTMLElement} */ (this.verdicts),
		);
	}

	/** The findings of the probes: the server stores no verdicts; the browser stores the verdicts of this address across reloads. */
	judged() {
		const { probed, at } = history.state ?? {};
		if (!this.verdicts) return;
		if (probed) put(this.verdicts, verdictsOf(probed), h("p", { class: "past" }, `sent at ${dateTime(at)}`));
		else put(this.verdicts);
	}

	teach() {
		return h(
			"div",
			{},
			h("p", {}, "No deliveries. A reseller's deposit sends balance.added, a change of the catalog product.updated."),
			h("p", {}, "Set a URL by ", h("code", {}, "PUT /v2/balance-webhook"), ", then trigger an event above."),
		);
	}
}

customElements.define("sim-webhooks", SimWebhooks);
