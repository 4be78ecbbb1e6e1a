// `?` lists the keys that work now.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { keysNow } from "../app/keys.js";

/** @type {Record<string, string>} */
const ARROWS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

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
			/** @type {Map<string, string[]>} the keys that do the same stand on a line */
			const lines = new Map();
			for (const { does, key } of all.filter((one) => one.group === group))
				lines.set(does, [...(lines.get(does) ?? []), key]);
			return h("section", {}, h("h3", {}, group), h("dl", {}, ...[...lines].flatMap(line)));
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

/** @param {[does: string, keys: string[]]} line */
const line = ([does, keys]) => [
	h("dt", {}, ...keys.flatMap((key) => key.split(" ")).map((one) => h("kbd", {}, ARROWS[one] ?? one))),
	h("dd", {}, does),
];

customElements.define("sim-keys", SimKeys);
