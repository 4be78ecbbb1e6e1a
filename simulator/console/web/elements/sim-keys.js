// `?` lists the keys that work now.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { keysNow } from "../app/keys.js";

class SimKeys extends SimElement {
	start() {
		this.dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-labelledby": "keys-title" }));
		put(this, this.dialog);
		this.keys([{ key: "?", does: "these keys", group: "Everywhere", run: () => this.open() }]);
		this.listen(document, "sim-show-keys", () => this.open());
	}

	open() {
		const groups = Map.groupBy ? Map.groupBy(keysNow(), (one) => one.group) : grouped(keysNow());
		put(
			/** @type {HTMLElement} */ (this.dialog),
			h("h2", { id: "keys-title", tabindex: "-1", autofocus: true }, "Keys"),
			h(
				"div",
				{ class: "keys" },
				...[...groups].map(([group, keys]) => h("section", {}, h("h3", {}, group), h("dl", {}, ...keys.flatMap(line)))),
			),
			h("form", { method: "dialog", class: "buttons" }, h("button", { class: "main" }, "Close")),
		);
		if (!this.dialog || this.dialog.open) return;
		this.dialog.showModal();
		this.dialog.scrollTop = 0;
	}
}

/** @param {import("../app/keys.js").Key} key */
const line = ({ key, does }) => [h("dt", {}, ...key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, does)];

/** @param {import("../app/keys.js").Key[]} keys */
function grouped(keys) {
	/** @type {Map<string, import("../app/keys.js").Key[]>} */
	const groups = new Map();
	for (const key of keys) groups.set(key.group, [...(groups.get(key.group) ?? []), key]);
	return groups;
}

customElements.define("sim-keys", SimKeys);
