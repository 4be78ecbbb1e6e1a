// `?` lists the keys that work now.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { keysNow } from "../app/keys.js";

class SimKeys extends SimElement {
	dialog = h("dialog", { "aria-labelledby": "keys-title" });

	start() {
		put(this, this.dialog);
		this.keys([{ key: "?", does: "these keys", group: "Everywhere", run: () => this.open() }]);
		this.listen(document, "sim-show-keys", () => this.open());
	}

	open() {
		const all = keysNow();
		const sections = [...new Set(all.map((one) => one.group))].map((group) => {
			const lines = all.filter((one) => one.group === group).flatMap(line);
			return h("section", {}, h("h3", {}, group), h("dl", {}, ...lines));
		});
		put(
			this.dialog,
			h("h2", { id: "keys-title", tabindex: "-1", autofocus: true }, "Keys"),
			h("div", { class: "keys" }, ...sections),
			h("form", { method: "dialog", class: "buttons" }, h("button", { class: "main" }, "Close")),
		);
		if (this.dialog.open) return;
		this.dialog.showModal();
		this.dialog.scrollTop = 0;
	}
}

/** @param {Key} key */
const line = ({ key, does }) => [h("dt", {}, ...key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, does)];

customElements.define("sim-keys", SimKeys);
