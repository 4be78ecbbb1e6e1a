// An editor for scenarios in YAML: line numbers, problems underlined where they are, and completion from the schema.

import { Choices } from "./editor-choices.js";
import { change } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { counted } from "../app/format.js";
import { short } from "../app/safe-text.js";

const CHECK_AFTER_MS = 300;
/** Browsers insert line by line what can be undone, which takes minutes for tens of thousands of lines. */
const UNDONE_CHARS = 50_000;
let ids = 0;

/**
 * @typedef {{ file: string | null, line: number, column: number, end_column: number | null, path: string, code: string, message: string, suggestion: string | null, severity: string }} Problem
 */

/**
 * Set `of` before it is put on the page; `text` at any time. It says `sim-text` when something was typed, and
 * `sim-checked`, with the values of the text or null, when the server has read it.
 */
export class SimEditor extends SimElement {
	constructor() {
		super();
		/** @type {{ label: string, whole?: (text: string) => { text: string, before: number }, keeps?: (problem: Problem) => boolean, missing?: (document: any) => string, words?: () => Record<string, string[]> }} `whole` makes of it what is checked, with lines before it that are not shown, `missing` says what a document without problems lacks */
		this.of = { label: "Scenario" };
		/** @type {Problem[]} */
		this.problems = [];
		this.checks = 0;
		const id = `editor-${++ids}`;
		this.area = h("textarea", {
			wrap: "off",
			spellcheck: "false",
			autocapitalize: "off",
			role: "combobox",
			"aria-autocomplete": "list",
			"aria-expanded": "false",
			"aria-controls": `${id}-choices`,
			"aria-describedby": `${id}-said`,
			oninput: () => this.typed(),
			onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
			onpaste: (/** @type {ClipboardEvent} */ event) => this.pasted(event),
			onscroll: () => this.scrolled(),
			onblur: () => this.choices.close(),
			onclick: () => this.choices.close(),
		});
		this.numbers = h("pre", { class: "numbers", "aria-hidden": "true" });
		this.mirror = h("div");
		this.under = h("pre", { class: "under", "aria-hidden": "true" }, this.mirror);
		this.said = h("p", { id: `${id}-said`, class: "past", role: "status" });
		this.list = h("ol", { class: "problems" });
		this.choices = new Choices(`${id}-choices`, {
			area: this.area,
			words: () => this.of.words?.() ?? {},
			insert: (text) => this.insert(text),
			note: (text) => say(this.said, text),
		});
	}

	start() {
		this.area.setAttribute("aria-label", this.of.label);
		put(
			this,
			h("div", { class: "edit" }, this.numbers, h("div", { class: "text" }, this.under, this.area, this.choices.popup)),
			this.said,
			this.list,
		);
		this.draw();
	}

	get text() {
		return this.area.value;
	}

	set text(text) {
		if (text === this.area.value) return;
		this.area.value = text;
		this.draw();
	}

	typed() {
		this.draw();
		this.dispatchEvent(new CustomEvent("sim-text"));
		this.choices.complete(false);
	}

	draw() {
		const lines = this.text.split("\n").length;
		say(this.numbers, Array.from({ length: lines }, (_, index) => index + 1).join("\n"));
		this.underline();
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => this.check(), CHECK_AFTER_MS);
	}

	stop() {
		clearTimeout(this.waiting);
	}

	async check() {
		const [number, text] = [++this.checks, this.text];
		const whole = this.of.whole?.(text) ?? { text, before: 0 };
		let checked;
		try {
			checked = await change("POST", "scenarios/check", whole.text, "application/yaml");
		} catch (failure) {
			if (number === this.checks)
				put(this.said, h("span", { class: "mistake" }, /** @type {Error} */ (failure).message));
			return;
		}
		if (number !== this.checks || text !== this.text) return;
		this.problems = checked.problems
			.map((/** @type {Problem} */ one) => (one.file ? one : { ...one, line: Math.max(1, one.line - whole.before) }))
			.filter((/** @type {Problem} */ one) => this.of.keeps?.(one) ?? true);
		this.underline();
		const missing = this.of.missing?.(checked.document);
		const none = missing ? `○ ${missing}` : "● no problems";
		say(this.said, this.problems.length ? counted(this.problems.length, "problem") : none);
		put(this.list, ...this.problems.map((one) => this.problem(one)));
		this.dispatchEvent(new CustomEvent("sim-checked", { detail: checked.document }));
	}

	/** @param {Problem} one */
	problem(one) {
		const where = one.file ? `${one.file}:${one.line}` : `line ${one.line}, column ${one.column}`;
		const fix = one.suggestion && !one.file && one.end_column;
		return h(
			"li",
			{ class: one.severity === "error" ? "tone-bad" : "tone-wait" },
			h("button", { class: "quiet", onclick: () => this.go(one) }, where),
			" ",
			h("span", {}, one.severity === "error" ? "✕ " : "○ ", short(one.message, 500)),
			fix && h("button", { onclick: () => this.mend(one) }, `write ${one.suggestion}`),
		);
	}

	/** Where a line and column are in the text. @param {number} line @param {number} column */
	offset(line, column) {
		const lines = this.text.split("\n");
		const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
		return Math.min(before + column - 1, this.text.length);
	}

	/** @param {number} line from 1; the last where there are fewer */
	goLine(line) {
		const lines = this.text.split("\n");
		const at = Math.min(line, lines.length);
		this.go({ file: null, line: at, column: 1, end_column: lines[at - 1].length + 1 });
	}

	/** @param {Pick<Problem, "file" | "line" | "column" | "end_column">} one */
	go(one) {
		if (one.file) return;
		this.area.focus();
		this.area.setSelectionRange(this.offset(one.line, one.column), this.offset(one.line, one.end_column ?? one.column));
		const height = this.area.scrollHeight / this.text.split("\n").length;
		this.area.scrollTop = (one.line - 4) * height;
	}

	/** @param {Problem} one */
	mend(one) {
		this.go(one);
		this.insert(one.suggestion ?? "");
	}

	/** A copy of the text below the edited text, with underlines at its problems. */
	underline() {
		const spans = this.problems
			.filter((one) => !one.file)
			.map((one) => ({
				from: this.offset(one.line, one.column),
				to: this.offset(one.line, one.end_column ?? one.column + 1),
				one,
			}))
			.sort((a, b) => a.from - b.from);
		const parts = [];
		let at = 0;
		for (const { from, to, one } of spans) {
			if (from < at || to <= from) continue;
			parts.push(this.text.slice(at, from), h("span", { class: one.severity }, this.text.slice(from, to)));
			at = to;
		}
		put(this.mirror, ...parts);
	}

	scrolled() {
		this.mirror.style.setProperty("transform", `translate(${-this.area.scrollLeft}px, ${-this.area.scrollTop}px)`);
		this.numbers.scrollTop = this.area.scrollTop;
		this.choices.close();
	}

	/** Replace the selection, so that the browser can undo it. @param {string} text */
	insert(text) {
		this.area.focus();
		if (text.length > UNDONE_CHARS || !document.execCommand("insertText", false, text)) {
			this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
			this.typed();
		}
	}

	/** @param {ClipboardEvent} event */
	pasted(event) {
		const text = event.clipboardData?.getData("text/plain") ?? "";
		if (text.length <= UNDONE_CHARS) return;
		event.preventDefault();
		this.insert(text);
	}

	/** @param {KeyboardEvent} event */
	pressed(event) {
		const does = this.choices.isOpen ? this.choices.keys(event) : this.keysOfText(event);
		if (!does) return;
		event.preventDefault();
		event.stopPropagation();
		does();
	}

	/** @param {KeyboardEvent} event @returns {(() => void) | undefined} */
	keysOfText({ key, ctrlKey, shiftKey }) {
		if (key === " " && ctrlKey) return () => void this.choices.complete(true);
		if (key !== "Enter" || shiftKey || ctrlKey) return;
		const line = this.text.slice(0, this.area.selectionStart).split("\n").at(-1) ?? "";
		const margin = /^\s*(?:- )?/.exec(line)?.[0].length ?? 0;
		return () => this.insert(`\n${" ".repeat(margin + (/:\s*$/.test(line) ? 2 : 0))}`);
	}
}

customElements.define("sim-editor", SimEditor);
