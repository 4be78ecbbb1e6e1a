// "What if": the rules of the sandbox with their counts, new rules from a form, and other changes at run time.

import "./rule-maker.js";
import "./hands-on.js";
import { get, path, query } from "../app/api.js";
import { h, once, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { count, counted } from "../app/format.js";
import { bodyOf, short } from "../app/safe-text.js";
import { address, place } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { table } from "../app/table.js";
import { asFile, download } from "../app/take-home.js";
import { flow } from "../app/values.js";

const PAGE = 200;
const READ_AFTER_MS = 400;

/** @typedef {{ section: string, id: string, name: string | null, fallback: boolean, matched: number, chosen: number, rule: any, yaml: string | null, place: { file: string, line: number, scenario: { source: string, name: string } | null } | null }} Rule */

class SimRules extends SimElement {
	start() {
		/** @type {Rule[]} */
		this.rules = [];
		this.pages = 1;
		/** Which rules the table has. @type {string} */
		this.drawn = "";
		/** @type {Map<string, [HTMLElement, HTMLElement]>} */
		this.counts = new Map();
		/** @type {ReturnType<typeof setTimeout> | undefined} */
		this.waiting = undefined;
		this.mistake = h("p", { class: "mistake", role: "alert" });
		// A refusal stays visible when the rules are refreshed.
		this.refusal = h("p", { class: "mistake", role: "alert" });
		this.removed = h("p", { class: "removed", role: "status" });
		this.list = h("div");
		const maker = h("sim-rule-maker");
		put(this, this.mistake, this.refusal, this.removed, this.list, maker, h("sim-hands-on"));
		this.watch(["events", "restarted"], () => this.later());
		this.ends.push(() => clearTimeout(this.waiting));
		this.read();
	}

	/** Once for many events that come together. */
	later() {
		if (this.waiting) return;
		this.waiting = setTimeout(() => {
			this.waiting = undefined;
			this.read();
		}, READ_AFTER_MS);
	}

	async read() {
		const { sandbox } = place;
		try {
			/** @type {Rule[]} */
			const found = [];
			let cursor = "";
			let more = false;
			for (let page = 0; page < (this.pages ?? 1); page++) {
				const read = await get(`${path("sandboxes", sandbox, "rules")}${query({ limit: PAGE, cursor })}`);
				found.push(...read.rules);
				more = read.has_more;
				cursor = read.cursor;
				if (!more) break;
			}
			if (sandbox !== place.sandbox) return;
			this.rules = found;
			this.more = more;
			say(/** @type {Node} */ (this.mistake), "");
			this.draw();
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
	}

	/** Only the numbers where the rules are the same, so that nothing moves under the pointer. */
	draw() {
		const rules = /** @type {Rule[]} */ (this.rules);
		const now = JSON.stringify([rules.map((one) => one.id), this.more]);
		if (now === this.drawn) {
			for (const one of rules) {
				const cells = this.counts?.get(one.id);
				if (cells) [one.matched, one.chosen].map((n, at) => say(cells[at], count(n)));
			}
			return;
		}
		this.drawn = now;
		this.counts = new Map(
			rules.map((one) => [one.id, [h("span", {}, count(one.matched)), h("span", {}, count(one.chosen))]]),
		);
		const cell = (/** @type {Rule} */ one, /** @type {number} */ at) => this.counts?.get(one.id)?.[at];
		const shown = table(
			"Rules and faults, in the order in which they are tried",
			[
				{ name: "section", cell: (one) => one.section },
				{
					name: "rule",
					cell: (one) =>
						h(
							"span",
							{},
							short(one.name ?? one.id),
							one.name && h("small", { class: "past" }, ` ${one.id}`),
							one.fallback && h("small", { class: "past" }, " fallback"),
							one.place && h("small", { class: "past" }, " ", written(one.place)),
						),
				},
				{ name: "when", cell: (one) => (one.rule ? code(one.rule.when) : "") },
				{ name: "then", cell: (one) => this.yaml(one) },
				{ name: "matched", number: true, cell: (one) => cell(one, 0) },
				{ name: "chosen", number: true, cell: (one) => cell(one, 1) },
				{
					name: "",
					cell: (one) =>
						h(
							"button",
							{ "aria-label": `Remove ${one.name ?? one.id}`, onclick: once(() => this.takeOut(one)) },
							"remove",
						),
				},
			],
			rules,
			"There are no rules: payments take the default course of the scenario reference. Add one below.",
		);
		const more =
			this.more &&
			h(
				"button",
				{
					onclick: () => {
						this.pages = (this.pages ?? 1) + 1;
						this.read();
					},
				},
				`more than ${counted(rules.length, "rule")}: show more`,
			);
		put(/** @type {HTMLElement} */ (this.list), shown, more);
	}

	/** @param {Rule} one */
	yaml(one) {
		if (!one.yaml) return code(one.rule?.then);
		const text = one.yaml;
		return h(
			"details",
			{},
			h("summary", {}, code(one.rule.then)),
			bodyOf(text, { label: `YAML of ${one.name ?? one.id}` }),
			h("button", { onclick: () => copy(asFile(text), "the rule as a scenario file") }, "copy"),
			" ",
			h("button", { onclick: () => download(asFile(text), `${one.id}.yaml`) }, "download"),
		);
	}

	/** @param {Rule} one */
	async takeOut(one) {
		const name = one.name ?? one.id;
		try {
			await act({
				method: "DELETE",
				path: path("sandboxes", place.sandbox, "rules", one.id),
				cli: ["rule", "rm", one.id],
				says: `removed rule ${name}`,
			});
			say(/** @type {Node} */ (this.refusal), "");
			const back = () => this.putBack(one);
			put(
				/** @type {HTMLElement} */ (this.removed),
				"Removed ",
				short(name),
				". ",
				one.rule && h("button", { onclick: once(back), title: flow(one.rule).slice(0, 500) }, "put it back"),
				one.rule && h("span", { class: "past" }, " before all others of its section"),
			);
			await this.read();
		} catch (failure) {
			say(/** @type {Node} */ (this.refusal), /** @type {Error} */ (failure).message);
		}
	}

	/** @param {Rule} one */
	async putBack(one) {
		try {
			await act({
				method: "POST",
				path: path("sandboxes", place.sandbox, "rules"),
				body: { section: one.section, rule: one.rule },
				cli: ["rule", "add", one.section, JSON.stringify(one.rule)],
				says: (made) => `added rule ${made.id}`,
			});
			say(/** @type {Node} */ (this.refusal), "");
			put(/** @type {HTMLElement} */ (this.removed));
			await this.read();
		} catch (failure) {
			say(/** @type {Node} */ (this.refusal), /** @type {Error} */ (failure).message);
		}
	}
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
