// "What if": the rules of the sandbox with their counts, new rules from a form, and settings and keys of the resellers.

import "./rule-maker.js";
import "./reseller-settings.js";
import { get, query } from "../app/api.js";
import { h, once, put, say } from "../app/dom.js";
import { count, counted } from "../app/format.js";
import { Reading } from "../app/reading.js";
import { bodyOf, short } from "../app/safe-text.js";
import { address, sandboxPath } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { number, table } from "../app/table.js";
import { asFile, download } from "../app/take-home.js";
import { flow } from "../app/values.js";

const PAGE = 200;

/** @typedef {{ section: string, id: string, name: string | null, fallback: boolean, matched: number, chosen: number, rule: any, yaml: string | null, place: { file: string, line: number, scenario: { source: string, name: string } | null } | null }} Rule */

class SimRules extends Reading {
	pages = 1;
	/** Which rules the table has. */
	drawn = "";
	/** @type {Map<string, { matched: HTMLElement, chosen: HTMLElement }>} */
	counts = new Map();
	removed = h("p", { class: "removed", role: "status" });
	list = h("div");

	start() {
		put(this, this.mistake, this.refusal, this.removed, this.list, h("sim-rule-maker"), h("sim-reseller-settings"));
		this.refreshOn(() => true, 400);
	}

	async read() {
		/** @type {Rule[]} */
		const rules = [];
		let cursor = "";
		let hasMore = true;
		for (let page = 0; page < this.pages && hasMore; page++) {
			const read = await get(sandboxPath("rules") + query({ limit: PAGE, cursor }));
			rules.push(...read.rules);
			hasMore = read.has_more;
			cursor = read.cursor;
		}
		this.draw(rules, hasMore);
	}

	/** Only the numbers where the rules are the same, so that nothing moves under the pointer. @param {Rule[]} rules @param {boolean} hasMore */
	draw(rules, hasMore) {
		const now = JSON.stringify([rules.map((one) => one.id), hasMore]);
		if (now !== this.drawn) {
			this.drawn = now;
			this.counts = new Map(rules.map((one) => [one.id, { matched: h("span"), chosen: h("span") }]));
			const more = () => {
				this.pages++;
				this.now();
			};
			put(
				this.list,
				this.table(rules),
				hasMore && h("button", { onclick: more }, `more than ${counted(rules.length, "rule")}: show more`),
			);
		}
		for (const { id, matched, chosen } of rules) {
			const cells = this.counts.get(id);
			if (cells) say(cells.matched, count(matched));
			if (cells) say(cells.chosen, count(chosen));
		}
	}

	/** @param {Rule[]} rules */
	table(rules) {
		const past = (/** @type {Child[]} */ ...children) => h("small", { class: "past" }, " ", ...children);
		return table(
			"Rules and faults, in the order in which they are tried",
			{
				section: (one) => one.section,
				rule: ({ id, name, fallback, place }) => [
					short(name ?? id),
					name && past(id),
					fallback && past("fallback"),
					place && past(written(place)),
				],
				when: (one) => one.rule && code(one.rule.when),
				then: yaml,
				matched: number((one) => this.counts.get(one.id)?.matched),
				chosen: number((one) => this.counts.get(one.id)?.chosen),
				"": (one) =>
					h(
						"button",
						{ "aria-label": `Remove ${one.name ?? one.id}`, onclick: once(() => this.takeOut(one)) },
						"remove",
					),
			},
			rules,
			"There are no rules: payments take the default course of the scenario reference. Add one below.",
		);
	}

	/** @param {Rule} one */
	async takeOut({ id, name, section, rule }) {
		const says = `removed rule ${name ?? id}`;
		const remove = () => act({ method: "DELETE", path: sandboxPath("rules", id), cli: ["rule", "rm", id], says });
		if (await this.attempt(remove, this.refusal)) return;
		const back = h(
			"button",
			{ onclick: once(() => this.putBack(section, rule)), title: flow(rule).slice(0, 500) },
			"put it back",
		);
		const where = h("span", { class: "past" }, " before all others of its section");
		put(this.removed, "Removed ", short(name ?? id), ". ", rule && [back, where]);
		await this.now();
	}

	/** @param {string} section @param {any} rule */
	async putBack(section, rule) {
		const add = () =>
			act({
				method: "POST",
				path: sandboxPath("rules"),
				body: { section, rule },
				cli: ["rule", "add", section, JSON.stringify(rule)],
				says: (made) => `added rule ${made.id}`,
			});
		if (await this.attempt(add, this.refusal)) return;
		put(this.removed);
		await this.now();
	}
}

/** @param {Rule} one */
function yaml({ id, name, rule, yaml: text }) {
	if (!text) return code(rule?.then);
	return h(
		"details",
		{},
		h("summary", {}, code(rule.then)),
		bodyOf(text, { label: `YAML of ${name ?? id}` }),
		h("button", { onclick: () => copy(asFile(text), "the rule as a scenario file") }, "copy"),
		" ",
		h("button", { onclick: () => download(asFile(text), `${id}.yaml`) }, "download"),
	);
}

/** Where it is written: a link where the editor can open it. @param {NonNullable<Rule["place"]>} where */
function written({ file, line, scenario }) {
	const text = short(`${file.split(/[\\/]/).at(-1)}:${line}`);
	if (!scenario) return h("span", { title: `${file}:${line}` }, text);
	const source = scenario.source === "folder" ? "folder" : "";
	return h("a", { href: address("", ["scenarios", scenario.name], { source, line: String(line) }) }, text);
}

/** @param {any} value */
const code = (value) => value !== undefined && value !== null && h("code", {}, short(flow(value), 120));

customElements.define("sim-rules", SimRules);
