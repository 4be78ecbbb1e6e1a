// Beside the list: what is selected, whole.

import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";

class SimDetail extends SimElement {
	constructor() {
		super();
		/** @type {import("../app/rows.js").Row | null} */
		this.shown = null;
	}

	start() {
		this.setAttribute("aria-label", "Details");
		this.setAttribute("role", "region");
		this.draw();
	}

	/** @param {import("../app/rows.js").Row | null} row */
	set row(row) {
		if (row === this.shown) return;
		this.shown = row;
		this.draw();
	}

	get row() {
		return this.shown;
	}

	draw() {
		this.hidden = !this.shown;
		put(this, this.shown && h("pre", {}, JSON.stringify(this.shown.event, null, 2)));
	}
}

customElements.define("sim-detail", SimDetail);
