// Webhooks of a sandbox: deliveries and their attempts, how they are configured, events on demand, and probes of receivers.

import "./webhook-delivery.js";
import { SimList } from "./sim-list.js";
import { chosenReseller, resellerCodes } from "./sim-reseller.js";
import { stateOf } from "./webhook-delivery.js";
import { configurationOf, verdictsOf } from "./webhook-tables.js";
import { get, pages } from "../app/api.js";
import { h, put, redraw, say } from "../app/dom.js";
import { count, counted } from "../app/format.js";
import { drawParts, moment, queryChoice, searchBox, showQuery } from "../app/pieces.js";
import { short } from "../app/safe-text.js";
import { ofKinds, Reading } from "../app/reading.js";
import { here, sandboxPath, place, setQuery } from "../app/router.js";
import { probeForm, triggerForms } from "../app/triggers.js";

const PARTS = { "": "Deliveries", configuration: "Configuration", probes: "Probes" };
const PAGE = 1000;
const DELIVERIES_MAX = 5000;
/** @type {[string, string][]} */
const STATES = ["pending", "success", "failed"].map((state) => [state, state]);

/** @type {ListColumn[]} */
const COLUMNS = [
	{ class: "time", width: 13, cell: (one) => moment(one.created) },
	{ class: "kind", name: "event", width: 17, cell: (one) => one.type },
	{ class: "state", width: 17, cell: (one) => stateOf(one.state) },
	{ class: "refid", name: "reseller", width: 20, cell: (one) => short(one.reseller) },
	{ class: "tries number", name: "attempts", width: 9, cell: (one) => String(one.attempts.length) },
	{ class: "text", name: "to", cell: (one) => short(one.url) },
];

/** How the resellers are configured now. @returns {Promise<any>} */
const configured = () => get(`${sandboxPath("resellers")}?limit=200`);

class SimWebhooks extends Reading {
	/** The query of the list, and the resellers of the forms. */
	of = "";
	formsOf = "";
	parts = h("nav", { class: "parts", "aria-label": "Webhooks" });
	counts = h("span", { class: "counts", role: "status" });
	state = queryChoice("state", "State", "all states", STATES);
	event = searchBox("event", "Deliveries of the event", "event id", "onchange");
	list = new SimList({
		label: "Deliveries, newest first",
		columns: COLUMNS,
		key: (one) => one.id,
		select: (one) => setQuery({ at: one.id }),
		empty: teach,
	});
	whole = h("webhook-delivery");
	filters = h("span", { class: "tools" }, h("sim-reseller"), this.state, this.event);
	triggers = h("div", {});
	lists = h("div", { class: "beside" }, this.list, this.whole);
	configuration = h("div", { class: "page" });
	verdicts = h("div", { class: "page", role: "status" });
	probes = h("div", {});

	start() {
		const head = h("div", { class: "tools" }, h("h2", {}, "Webhooks"), this.parts, this.filters, this.counts);
		put(this, head, this.mistake, this.triggers, this.lists, this.configuration, this.probes);
		this.keys([
			{ key: "/", does: "deliveries of an event", group: "Webhooks", run: () => this.event.focus() },
			{ key: "Escape", does: "close the delivery", group: "Webhooks", run: () => setQuery({ at: "" }) },
		]);
		this.watch("place", () => this.turn());
		this.watch("sandbox", () => this.forms());
		this.refreshOn(ofKinds("webhook", "action", "entry", "request"), 500);
		this.turn();
	}

	filter() {
		const { query } = place;
		return { reseller: chosenReseller(), state: query.get("state") ?? "", event: query.get("event") ?? "" };
	}

	/** Show the part that the address names. */
	turn() {
		const part = place.rest[0] ?? "";
		drawParts(
			this.parts,
			Object.entries(PARTS).map(([name, title]) => [title, here(["webhooks", name]), name === part]),
		);
		for (const one of [this.filters, this.counts, this.triggers, this.lists]) one.hidden = part !== "";
		this.configuration.hidden = part !== "configuration";
		this.probes.hidden = part !== "probes";
		showQuery(this.state, this.event);
		this.choose();
		this.forms();
		if (JSON.stringify(this.filter()) !== this.of) this.now();
	}

	/** Open the delivery of the address. */
	choose() {
		const at = place.query.get("at") ?? "";
		this.list.choose(at);
		return this.whole.show(at);
	}

	async read() {
		const filter = this.filter();
		this.of = JSON.stringify(filter);
		redraw(this.configuration, ...configurationOf(await configured()));
		let leftOut = 0;
		/** @type {any[]} */
		let items = [];
		for await (const page of pages(sandboxPath("deliveries"), { ...filter, limit: PAGE })) {
			items = [...items, ...page.deliveries].slice(-DELIVERIES_MAX);
			leftOut = page.left_out;
		}
		this.list.items = items.reverse();
		const evicted = leftOut ? `, ${count(leftOut)} older ones not kept` : "";
		say(this.counts, `${counted(items.length, "delivery", "deliveries")}${evicted}`);
		await this.choose();
	}

	/** The forms are recreated only when the resellers change. */
	forms() {
		const codes = resellerCodes();
		const of = JSON.stringify(codes);
		if (of === this.formsOf || !codes.length) return;
		this.formsOf = of;
		put(this.triggers, h("div", { class: "tools" }, ...triggerForms(codes, configured, () => this.now())));
		put(
			this.probes,
			h("p", {}, "Forged, stale and repeated messages are sent to the receivers, which must refuse them."),
			probeForm(codes, (answer) => put(this.verdicts, verdictsOf(answer))),
			this.verdicts,
		);
	}
}

const teach = () =>
	h(
		"div",
		{},
		h("p", {}, "No deliveries. A reseller's deposit sends balance.added, a change of the catalog product.updated."),
		h("p", {}, "Set a URL by ", h("code", {}, "PUT /v2/balance-webhook"), ", then trigger an event above."),
	);

customElements.define("sim-webhooks", SimWebhooks);
