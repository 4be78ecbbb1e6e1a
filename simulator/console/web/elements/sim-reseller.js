// Which reseller a view is about, when a sandbox has several. The choice is in the address.

import { get } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { Reading } from "../app/reading.js";
import { visible } from "../app/safe-text.js";
import { sandboxPath, place, setQuery } from "../app/router.js";
import { changed, store } from "../app/store.js";

/** The codes of the sandbox that is shown. @returns {string[]} */
export const resellerCodes = () => (store.sandbox?.resellers ?? []).map((one) => one.code);

/** The one that the address names, empty for none. */
export const chosenReseller = () => place.query.get("reseller") ?? "";

class SimReseller extends Reading {
	/** @type {HTMLSelectElement} */
	select = h("select", { "aria-label": "Reseller", onchange: () => setQuery({ reseller: this.select.value }) });

	start() {
		put(this, this.select, this.mistake);
		this.watch(["sandbox", "place"], () => this.draw());
		this.refreshOn((row) => row.event.action === "reseller_added");
		this.draw();
	}

	async read() {
		const found = await get(sandboxPath());
		if (found.id !== place.sandbox) return;
		store.sandbox = found;
		changed("sandbox");
	}

	draw() {
		const codes = resellerCodes();
		const chosen = chosenReseller();
		if (chosen && !codes.includes(chosen)) codes.push(chosen);
		this.hidden = codes.length < 2;
		const all = h("option", { value: "" }, this.getAttribute("all") ?? "all resellers");
		const options = codes.map((code) => h("option", { value: code, selected: code === chosen }, visible(code)));
		put(this.select, all, ...options);
	}
}

customElements.define("sim-reseller", SimReseller);
