// The line at the foot: what the page did last, in the words of the command line, with the line that does the same.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { shortTime } from "../app/format.js";
import { visible } from "../app/safe-text.js";
import { copy, said } from "../app/action-log.js";

class SimActionLog extends SimElement {
	start() {
		this.setAttribute("role", "status");
		this.setAttribute("aria-live", "polite");
		this.watch("said", () => this.draw());
		this.draw();
	}

	draw() {
		const last = said.at(-1);
		if (!last) return put(this);
		const button = (/** @type {string} */ name, /** @type {string} */ line, text = visible(line)) =>
			line &&
			h("button", { class: "copy", title: visible(line), onclick: () => copy(line, `the ${name} line`, last) }, text);
		put(
			this,
			h("span", { class: "past" }, `${shortTime(last.at)} wall clock`),
			h("span", { class: "said" }, visible(last.text)),
			button("CLI", last.cli),
			button("curl", last.curl, "copy as curl"),
		);
	}
}

customElements.define("sim-action-log", SimActionLog);
