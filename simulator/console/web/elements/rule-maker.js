// Adds a rule: ready ones, a form from the scenario schema, and the YAML of both, which can be edited and taken home.

import "./sim-editor.js";
import { Refused, change, path } from "../app/api.js";
import { h, once, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { past } from "../app/pieces.js";
import { PRESETS, SECTIONS, emptyRule, ruleOf } from "../app/presets.js";
import { sandboxPath, place, setQuery } from "../app/router.js";
import { act, copy, say as sayDone } from "../app/action-log.js";
import { resolved, scenarioSchema } from "../app/schema.js";
import { asFile, checkable, download, isBaseKnown } from "../app/take-home.js";
import { isObject } from "../app/values.js";
import { objectForm } from "./schema-form.js";

const ADDRESS_AFTER_MS = 300;
const ADDRESS_CHARS_MAX = 6000; // a longer draft stands in no address
const FIRST = ["name", "when", "then"];

class SimRuleMaker extends SimElement {
	section = "payments";
	/** @type {import("../app/schema.js").Schema | null} */
	root = null;
	/** The latest that was chosen. @type {Record<string, any> | null} */
	wanted = null;
	isAdding = false;
	/** Whether the form follows the text, which was written last. */
	follows = false;
	/** Writes of the form as text: how many began, and the end of the latest. */
	writes = 0;
	writing = Promise.resolve();
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	waiting;
	note = past();
	fields = h("div", { class: "fields" });
	/** @type {HTMLSelectElement} */
	choice = h(
		"select",
		{ id: "rule-section", onchange: () => this.take({ [this.choice.value]: [emptyRule(this.choice.value)] }) },
		...SECTIONS.map((one) => h("option", { value: one }, one)),
	);
	editor = h("sim-editor");

	start() {
		this.note.setAttribute("role", "status");
		this.editor.of = {
			label: "The rule as YAML",
			whole: checkable,
			missing,
			keeps: (one) => !one.file && this.isSure(one.code),
		};
		const presets = PRESETS.map((one) =>
			h("button", { onclick: () => this.take({ [one.section]: [one.rule] }) }, one.name),
		);
		const copyIt = async () => copy(asFile(await this.written()), "the rule as a scenario file");
		const downloadIt = async () => download(asFile(await this.written()), "rule.yaml");
		const section = h(
			"div",
			{ class: "field" },
			h("label", { for: "rule-section" }, "What the rule decides"),
			this.choice,
		);
		put(
			this,
			h("h2", {}, "What if …"),
			h("div", { class: "presets", role: "group", "aria-label": "Ready rules" }, ...presets),
			h("div", { class: "two" }, h("div", {}, section, this.fields), h("div", {}, this.editor, this.note)),
			h(
				"div",
				{ class: "tools" },
				h("button", { class: "main", onclick: once(() => this.add()) }, "Add it to the sandbox"),
				h("button", { onclick: copyIt }, "copy YAML"),
				h("button", { onclick: downloadIt }, "download"),
				this.mistake,
			),
		);
		this.listen(this.editor, "sim-text", () => this.typed());
		this.listen(this.editor, "sim-checked", (event) => this.checked(event.detail));
		this.watch("place", () => this.follow());
		this.ends.push(() => clearTimeout(this.waiting));
		this.attempt(() => this.begin());
	}

	async begin() {
		this.root = await scenarioSchema();
		if (this.wanted) this.take(this.wanted);
		else if (this.editor.text) this.typed();
		else if (place.query.get("draft")) this.follow();
		else this.show({ payments: [emptyRule("payments")] });
	}

	/** The content of another scenario is unknown here. @param {string} code */
	isSure(code) {
		return isBaseKnown() || code === "unknown_key" || !code.startsWith("unknown_");
	}

	/** The draft of the address. */
	follow() {
		const draft = place.query.get("draft") ?? "";
		if (!this.root || !draft || draft === this.editor.text || this.waiting) return;
		if (draft.length > ADDRESS_CHARS_MAX)
			return say(this.mistake, `the draft in the address has more than ${ADDRESS_CHARS_MAX} characters`);
		this.editor.text = draft;
		this.typed();
	}

	/** Replace this draft by another, as soon as its form is known. @param {Record<string, any>} draft */
	take(draft) {
		this.wanted = draft;
		if (!this.root) return;
		say(this.mistake, "");
		this.show(structuredClone(draft));
		this.writeYaml(draft);
	}

	/** The form of this draft. @param {Record<string, any>} draft */
	show(draft) {
		this.follows = false;
		const [section, rules] = Object.entries(draft)[0];
		this.section = this.choice.value = section;
		const [rule] = rules;
		const of = { root: this.root ?? {}, changed: () => this.writeYaml({ [section]: [rule] }) };
		const node = resolved(of.root, { $ref: `#/${ruleOf(section)}` });
		put(this.fields, objectForm(of, node, rule, `the rule of ${section}`, FIRST));
		say(this.note, "");
	}

	/** The form was changed: the server writes it as YAML. @param {Record<string, any>} document */
	writeYaml(document) {
		const number = ++this.writes;
		say(this.note, "");
		this.writing = change("POST", "scenarios/check", { document })
			.then((answer) => {
				if (number !== this.writes) return;
				this.editor.text = answer.text;
				this.remember();
			})
			.catch((failure) => say(this.mistake, failure.message));
	}

	/** The text, with what was last chosen in the form. */
	async written() {
		await this.writing;
		return this.editor.text;
	}

	/** The YAML was changed: the form follows when the server has read it. */
	typed() {
		this.wanted = null;
		this.writes++;
		this.follows = true;
		this.remember();
	}

	/** The server has read the text: the form shows its rule, if there is one. @param {any} document */
	checked(document) {
		if (!this.follows || !this.root) return;
		try {
			const [[section, rule], ...others] = rulesOf(document);
			if (others.length) say(this.note, "These are several rules. All will be added; the form shows one.");
			else this.show({ [section]: [rule] });
		} catch (failure) {
			say(this.note, `The form cannot show this text: ${/** @type {Error} */ (failure).message}`);
		}
	}

	remember() {
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => {
			this.waiting = undefined;
			const { text } = this.editor;
			if (place.view === "rules") setQuery({ draft: text.length <= ADDRESS_CHARS_MAX ? text : "" });
		}, ADDRESS_AFTER_MS);
	}

	/** @param {string} where @param {string[]} added @returns {Promise<string>} what of them is still there, and why */
	async takeBack(where, added) {
		/** @type {string[]} */
		const left = [];
		for (const id of added)
			await change("DELETE", `${where}/${path(id)}`).catch((failure) => left.push(`${id} (${failure.message})`));
		if (left.length) return `; added before it and not taken back: ${left.join(", ")}`;
		if (added.length) sayDone("nothing is added: one of the rules was refused");
		return "";
	}

	/** Add all rules or none. The last is added first, since each added rule comes before the others. */
	async add() {
		if (this.isAdding) return;
		this.isAdding = true;
		await this.attempt(async () => {
			const where = sandboxPath("rules");
			/** @type {string[]} */
			const added = [];
			try {
				for (const [section, rule] of (await rulesIn(await this.written())).reverse()) {
					const made = await act({
						method: "POST",
						path: where,
						body: { section, rule },
						cli: ["rule", "add", section, JSON.stringify(rule)],
						says: (one) => `added rule ${one.id}`,
					});
					added.push(made.id);
				}
			} catch (failure) {
				const at = failure instanceof Refused && failure.path ? `${failure.path}: ` : "";
				const left = await this.takeBack(where, added);
				throw new Error((at + /** @type {Error} */ (failure).message + left).slice(0, 900));
			}
		});
		this.isAdding = false;
	}
}

/** The rules of a text, as the server reads it. @param {string} text */
async function rulesIn(text) {
	const whole = checkable(text);
	const { document, problems } = await change("POST", "scenarios/check", whole.text, "application/yaml");
	if (document !== null || !problems.length) return rulesOf(document);
	const { line, message } = problems[0];
	throw new Error(`line ${Math.max(1, line - whole.before)}: ${message}`);
}

/** The rules of a document, each with its section. @param {any} document @returns {[string, any][]} */
function rulesOf(document) {
	if (!isObject(document)) throw new Error("write a section, such as payments:, and its rules below it");
	const rules = Object.entries(document).flatMap(([section, rules]) => {
		if (section === "extends") return [];
		if (!SECTIONS.includes(section))
			throw new Error(`a rule belongs under one of ${SECTIONS.join(", ")}, not under ${section}`);
		if (!Array.isArray(rules) || !rules.every(isObject))
			throw new Error(`${section} is a list of rules, each with a dash before it`);
		return rules.map((rule) => /** @type {[string, any]} */ ([section, rule]));
	});
	if (!rules.length) throw new Error("there is no rule");
	return rules;
}

/** The missing parts of a document without problems. @param {any} document */
function missing(document) {
	if (isObject(document) && Object.keys(document).every((key) => key === "extends"))
		return "empty: choose a ready rule, fill the form, or write payments: and a rule below it";
	try {
		rulesOf(document);
	} catch (failure) {
		return /** @type {Error} */ (failure).message;
	}
	return "";
}

customElements.define("sim-rule-maker", SimRuleMaker);
