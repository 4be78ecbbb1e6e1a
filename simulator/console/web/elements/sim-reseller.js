// Which reseller a view is about, when a sandbox has several. The choice is in the address.

import { get, path } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { visible } from "../app/safe-text.js";
import { place, setQuery } from "../app/router.js";
import { changed, store } from "../app/store.js";

/** The codes of the sandbox that is shown. @returns {string[]} */
export const resellerCodes = () => (store.sandbox?.resellers ?? []).map((one) => one.code);

/** The one that the address names, empty for none. */
export const chosenReseller = () => place.query.get("reseller") ?? "";

class SimReseller extends SimElement {
	start() {
		this.select = /** @type {HTMLSelectElement} */ (
			h("select", { "aria-label": "Reseller", onchange: () => setQuery({ reseller: this.select?.value ?? "" }) })
		);
		put(this, this.select);
		this.watch(["sandbox", "place"], () => this.draw());
		whenItMatters(
			this,
			(row) => row.event.action === "reseller_added",
			() => this.read(),
		);
		this.draw();
	}

	async read() {
		const sandbox = await get(path("sandboxes", place.sandbox)).catch(() => null);
		if (!sandbox || sandbox.id !== place.sandbox) return;
		store.sandbox = sandbox;
		changed("sandbox");
	}

	draw() {
		const codes = resellerCodes();
		const chosen = chosenReseller();
		if (chosen && !codes.includes(chosen)) codes.push(chosen);
		this.hidden = codes.length < 2;
		const all = h("option", { value: "" }, this.getAttribute("all") ?? "all resellers");
		const options = codes.map((code) => h("option", { value: code, selected: code === chosen }, visible(code)));
		if (this.select) put(this.select, all, ...options);
	}
}

customElements.define("sim-reseller", SimReseller);
