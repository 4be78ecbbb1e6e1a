// All sandboxes: what they are, how to reach them, and making, resetting and forgetting them.

import { get, path, Refused } from "../app/api.js";
import { confirmed } from "./dialogs.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, count, dateTime, sum } from "../app/format.js";
import { form } from "../app/form.js";
import { facts, past } from "../app/pieces.js";
import { short } from "../app/safe-text.js";
import { address, go, latestSandbox, setQuery } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { readSandboxes, store } from "../app/store.js";
import { number, table } from "../app/table.js";
import { credential } from "./credential.js";
import { CLOCKS, clockOf } from "../app/clocks.js";

const RESELLERS_MAX = 20;

class SimSandboxes extends SimElement {
	list = h("div");
	maker = h("div");

	start() {
		put(this, h("h2", {}, "Sandboxes"), this.mistake, this.refusal, this.list, h("h2", {}, "New sandbox"), this.maker);
		this.watch("sandboxes", () => this.draw());
		this.attempt(readSandboxes);
		this.offer();
	}

	draw() {
		const shown = table(
			`${count(store.sandboxes.length)} in this simulator`,
			{
				id: (one) => h("a", { href: address(one.id, ["live"]) }, short(one.id)),
				scenario: (one) => short(one.scenario),
				clock: ({ clock }) => h("span", { title: bothTimes(clock.now) }, `${clock.mode} ${dateTime(clock.now)}`),
				seed: number(({ seed }) => (Number.isSafeInteger(seed) ? seed : `≈ ${seed}`)),
				resellers,
				address: ({ url }) => {
					const attributes = { class: "quiet copy", "aria-label": `Copy ${url}`, title: "copy" };
					return h("button", { ...attributes, onclick: () => copy(url, "the address") }, h("code", {}, url));
				},
				"": ({ id }) =>
					h(
						"span",
						{ class: "actions" },
						h("button", { "aria-label": `Reset ${id}`, onclick: () => this.reset(id) }, "reset"),
						id !== "default" && h("button", { "aria-label": `Delete ${id}`, onclick: () => this.forget(id) }, "delete"),
					),
			},
			store.sandboxes,
			"There are no sandboxes. Create one below.",
		);
		put(this.list, shown);
	}

	/** @param {string} id */
	async reset(id) {
		const text = "It returns to the start of its scenario: payments, wallets, added rules and all events are deleted.";
		if (!(await confirmed({ title: `Reset ${id}?`, text, name: id, button: "Reset" }))) return;
		await this.attempt(async () => {
			await act({ method: "POST", path: path("sandboxes", id, "reset"), says: `reset sandbox ${id}` });
			await readSandboxes();
		}, this.refusal);
	}

	/** @param {string} id */
	async forget(id) {
		const text = "Its payments, its journal and its keys are deleted. Requests to its address get 404.";
		if (!(await confirmed({ title: `Delete ${id}?`, text, name: id, button: "Delete" }))) return;
		await this.attempt(async () => {
			const cli = ["sandbox", "rm", id];
			await act({ method: "DELETE", path: path("sandboxes", id), cli, says: `deleted sandbox ${id}` });
			if (id === latestSandbox()) setQuery({ sandbox: "" });
			await readSandboxes();
		}, this.refusal);
	}

	async offer() {
		let names = ["default"];
		await this.attempt(async () => {
			const listed = await get("scenarios?limit=500");
			names = listed.scenarios.map((/** @type {any} */ one) =>
				one.source === "folder" ? `file ${one.name}` : one.name,
			);
		});
		const made = form({
			label: "Create a sandbox",
			submit: "Create",
			main: true,
			fields: [
				{ name: "id", label: "Id", hint: "a new id when empty", size: 18 },
				{ name: "scenario", label: "Scenario", options: names, value: "default" },
				{ name: "clock", label: "Clock", options: CLOCKS, path: "clock.mode" },
				{ name: "seed", label: "Seed", hint: "the scenario's when empty", size: 12 },
				{
					name: "credentials",
					label: "Keys",
					options: [
						["scenario", "the scenario's"],
						["unique", "its own"],
					],
				},
			],
			run: make,
		});
		put(this.maker, made);
	}
}

/** @param {Record<string, string>} values */
async function make({ id, scenario, clock, seed, credentials }) {
	const file = scenario.startsWith("file ") ? scenario.slice(5) : "";
	const isNumber = /^\d+$/.test(seed);
	if (isNumber && !Number.isSafeInteger(Number(seed)))
		throw new Refused(0, {
			message: `a browser counts to ${Number.MAX_SAFE_INTEGER}: take a smaller seed, or the command line`,
			path: "seed",
		});
	const made = await act({
		method: "POST",
		path: "sandboxes",
		body: {
			scenario: file ? { file } : scenario,
			...(id && { id }),
			...(clock && { clock: clockOf(clock) }),
			...(seed && { seed: isNumber ? Number(seed) : seed }),
			...(credentials === "unique" && { credentials }),
		},
		cli: [
			...["sandbox", "new", ...(file ? ["--server-file", file] : [scenario])],
			...(id ? ["--id", id] : []),
			...(clock ? ["--clock", clock] : []),
			...(seed ? ["--seed", seed] : []),
			...(credentials === "unique" ? ["--unique"] : []),
		],
		says: (answer) => `created sandbox ${answer.id}`,
	});
	await readSandboxes();
	go(address(made.id, ["live"]));
}

/** @param {Sandbox} one */
function resellers({ resellers: all }) {
	const rest = all.length - RESELLERS_MAX;
	const shown = all.slice(0, RESELLERS_MAX).map((one) => {
		const summary = h("summary", {}, short(one.code), " ", h("span", { class: "past" }, sum(one.balance)));
		return h("details", {}, summary, credentials(one));
	});
	return h("div", {}, ...shown, rest > 0 && past(`and ${count(rest)} more`));
}

/** @param {any} reseller */
const credentials = ({ api_key, api_secret, username, password }) =>
	facts([
		["api key", api_key && credential("api key", api_key, false)],
		["api secret", api_secret && credential("api secret", api_secret, true)],
		["username", username && credential("username", username, false)],
		["password", password && credential("password", password, true)],
	]);

customElements.define("sim-sandboxes", SimSandboxes);
