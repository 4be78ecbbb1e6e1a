// First steps in an empty list: a signed request to paste, and the three most useful magic accounts.

import { get } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { callLine, payable } from "../app/magic.js";
import { past } from "../app/pieces.js";
import { visible } from "../app/safe-text.js";
import { here, sandboxPath } from "../app/router.js";
import { copy } from "../app/action-log.js";
import { store } from "../app/store.js";

const FIRST = /** @type {[string, string][]} */ ([
	["00", "a payment that succeeds"],
	["01", "a payment that the provider declines"],
	["03", "a payment that stays Processing for ever"],
]);

class FirstSteps extends SimElement {
	start() {
		put(this, h("p", {}, "Nothing has happened yet."));
		this.read().catch(() => {});
	}

	async read() {
		const listed = await get(`${sandboxPath("catalog")}?limit=100`);
		const [first] = payable(listed.products);
		if (!first || !this.isConnected) return;
		const reseller = store.sandbox?.resellers.find((one) => one.api_key);
		const lines = FIRST.flatMap(([digits, what]) => {
			const line = callLine(first.product, digits, reseller);
			const button = h("button", { "aria-label": `copy: ${what}`, onclick: () => copy(line, what) }, "copy");
			return [h("dt", {}, what), h("dd", {}, h("code", {}, visible(line)), button)];
		});
		const magic = h("a", { href: here(["catalog"], { show: "magic" }) }, "all magic accounts");
		put(
			this,
			h("p", {}, "Nothing has happened yet. Paste one of these, signed with the sandbox's own key:"),
			h("dl", { class: "first" }, ...lines),
			past("The account's last digits choose how a payment ends: ", magic, "."),
		);
	}
}

customElements.define("first-steps", FirstSteps);
