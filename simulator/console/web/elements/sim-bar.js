// The bar: which sandbox, its clock, and whether what is shown is live.

import "./sim-clock.js";
import { UNANSWERED } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { address, go, latestSandbox, place } from "../app/router.js";
import { store } from "../app/store.js";

/** @type {Record<Connection, [Tone, string]>} */
const STATES = {
	live: ["good", "● live"],
	connecting: ["wait", "○ connecting"],
	away: ["bad", "✕ the simulator does not answer"],
	locked: ["wait", "○ waits for the control token"],
	gone: ["bad", "✕ no such sandbox"],
};

class SimBar extends SimElement {
	select = h("select", { "aria-label": "Sandbox", onchange: () => this.choose() });
	home = h("a", { class: "name" }, "reseller-sim");
	state = h("span", { role: "status" });

	start() {
		const showKeys = () => document.dispatchEvent(new Event("sim-show-keys"));
		const keys = h("button", { class: "quiet", onclick: showKeys }, h("kbd", {}, "?"), " keys");
		put(this, this.home, this.select, this.state, h("sim-clock"), keys);
		this.watch(["sandboxes", "sandbox", "place"], () => this.offer());
		this.watch(["connection", "place"], () => this.connection());
		this.offer();
		this.connection();
	}

	offer() {
		const sandbox = latestSandbox();
		this.home.href = address("", ["sandboxes"]);
		const ids = store.sandboxes.map((one) => one.id);
		if (place.sandbox && !ids.includes(sandbox)) ids.push(sandbox);
		put(this.select, ...ids.map((id) => h("option", { value: id, selected: id === sandbox }, id)));
	}

	choose() {
		go(address(this.select.value, [place.sandbox ? place.view : "live"]));
	}

	connection() {
		const [tone, text] = STATES[store.connection];
		this.state.className = `tone-${tone}`;
		say(this.state, place.sandbox ? text : "");
		if (store.connection !== "live") return;
		// The message about an unreachable simulator is obsolete.
		for (const one of document.querySelectorAll(".mistake")) if (one.textContent === UNANSWERED) say(one, "");
	}
}

customElements.define("sim-bar", SimBar);
