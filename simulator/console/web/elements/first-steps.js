// First steps in an empty list: a signed request to paste, and the three most useful magic accounts.

import { get, path } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { callLine, payable } from "../app/magic.js";
import { visible } from "../app/safe-text.js";
import { here, place } from "../app/router.js";
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
		const sandbox = place.sandbox;
		const listed = await get(`${path("sandboxes", sandbox)}/catalog?limit=100`);
		const [first] = payable(listed.products);
		if (!first || sandbox !== place.sandbox || !this.isConnected) return;
		const reseller = store.sandbox?.resellers.find((one) => one.api_key);
		const lines = FIRST.map(([digits, what]) => ({ what, line: callLine(first.product, digits, reseller) }));
		put(
			this,
			h("p", {}, "Nothing has happened yet. Paste one of these, signed with the sandbox's own key:"),
			h(
				"dl",
				{ class: "first" },
				...lines.flatMap(({ what, line }) => [
					h("dt", {}, what),
					h(
						"dd",
						{},
						h("code", {}, visible(line)),
						h("button", { "aria-label": `copy: ${what}`, onclick: () => copy(line, what) }, "copy"),
					),
				]),
			),
			h(
				"p",
				{ class: "past" },
				"The account's last digits choose how a payment ends: ",
				h("a", { href: here(["catalog"], { show: "magic" }) }, "all magic accounts"),
				".",
			),
		);
	}
}

customElements.define("first-steps", FirstSteps);
