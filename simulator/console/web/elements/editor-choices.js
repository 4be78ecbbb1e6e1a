// Completions at the cursor: a list from the scenario schema, for arrows and Enter.

import { choicesAt, spotAt } from "../app/completion.js";
import { h, put } from "../app/dom.js";
import { nodeAt, scenarioSchema } from "../app/schema.js";

/**
 * @typedef {{ area: HTMLTextAreaElement, words: () => Record<string, string[]>, insert: (text: string) => void, note: (text: string) => void }} Of
 *   `words` are additional completions by their key, `insert` writes at the cursor, `note` says that nothing matches
 */

export class Choices {
	/** @param {string} id of the list @param {Of} of */
	constructor(id, of) {
		this.of = of;
		/** @type {import("../app/completion.js").Choice[]} */
		this.found = [];
		this.chosen = 0;
		this.typedSoFar = "";
		this.popup = h("ul", { id, class: "choices", role: "listbox", "aria-label": "Completions", hidden: true });
	}

	get isOpen() {
		return this.found.length > 0;
	}

	/** Offer what fits at the cursor. @param {boolean} isAsked by its key: then without a first letter too */
	async complete(isAsked) {
		const root = await scenarioSchema();
		const cursor = this.of.area.selectionStart;
		const spot = spotAt(this.of.area.value, cursor);
		const isWord =
			spot.prefix && cursor === this.of.area.selectionEnd && !/^[\w-]/.test(this.of.area.value.slice(cursor));
		this.found = isAsked || isWord ? choicesAt(root, spot, this.of.words()) : [];
		this.typedSoFar = spot.prefix;
		this.choose(0);
		if (isAsked && !this.found.length) {
			const hint = nodeAt(root, spot.path)?.["x-must-be"];
			this.of.note(hint ? `expected here: ${hint}` : "nothing to complete here");
		}
		const lines = this.of.area.value.slice(0, cursor).split("\n");
		const { style } = this.popup;
		style.setProperty("--line", String(lines.length));
		style.setProperty("--column", String((lines.at(-1) ?? "").length - spot.prefix.length));
		style.setProperty("--scrolled", `${this.of.area.scrollTop}px`);
		style.setProperty("--aside", `${this.of.area.scrollLeft}px`);
	}

	/** @param {number} index */
	choose(index) {
		const isOpen = this.found.length > 0;
		this.chosen = isOpen ? (index + this.found.length) % this.found.length : 0;
		this.popup.hidden = !isOpen;
		this.of.area.setAttribute("aria-expanded", String(isOpen));
		if (!isOpen) return this.of.area.removeAttribute("aria-activedescendant");
		const options = this.found.map((one, at) =>
			h(
				"li",
				{
					id: `${this.popup.id}-${at}`,
					role: "option",
					"aria-selected": String(at === this.chosen),
					onmousedown: (/** @type {Event} */ event) => {
						event.preventDefault();
						this.accept(at);
					},
				},
				h("code", {}, one.text),
				" ",
				h("small", { class: "past" }, one.hint),
			),
		);
		put(this.popup, ...options);
		this.of.area.setAttribute("aria-activedescendant", options[this.chosen].id);
		options[this.chosen].scrollIntoView({ block: "nearest" });
	}

	close() {
		this.found = [];
		this.choose(0);
	}

	/** @param {number} index */
	accept(index) {
		const choice = this.found[index];
		const end = this.of.area.selectionStart;
		this.of.area.setSelectionRange(end - (this.typedSoFar?.length ?? 0), end);
		const follows = this.of.area.value.slice(end).startsWith(":") && choice.insert.endsWith(": ");
		this.of.insert(follows ? choice.text : choice.insert);
		this.close();
	}

	/** @param {KeyboardEvent} event @returns {(() => void) | undefined} */
	keys({ key }) {
		if (key === "ArrowDown") return () => this.choose(this.chosen + 1);
		if (key === "ArrowUp") return () => this.choose(this.chosen - 1);
		if (key === "Enter") return () => this.accept(this.chosen);
		if (key === "Escape") return () => this.close();
	}
}
