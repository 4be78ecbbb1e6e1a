// All sandboxes: what they are, how to reach them, and making, resetting and forgetting them.

import { get, path, Refused } from "../app/api.js";
import { confirmed } from "../app/confirm.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { bothTimes, count, dateTime, sum } from "../app/format.js";
import { form } from "../app/form.js";
import { short } from "../app/safe-text.js";
import { address, go, latestSandbox, setQuery } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { readSandboxes, store } from "../app/store.js";
import { table } from "../app/table.js";
import { credential } from "./credential.js";
import { CLOCKS, clockOf } from "../app/clocks.js";

const RESELLERS_MAX = 20;

class SimSandboxes extends SimElement {
	start() {
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.list = h("div");
		this.maker = h("div");
		put(this, h("h2", {}, "Sandboxes"), this.mistake, this.list, h("h2", {}, "New sandbox"), this.maker);
		this.watch("sandboxes", () => this.draw());
		this.refresh();
		this.offer();
	}

	async refresh() {
		await this.tried(readSandboxes);
	}

	/** @param {() => Promise<any>} run */
	async tried(run) {
		say(/** @type {Node} */ (this.mistake), "");
		try {
			await run();
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
	}

	draw() {
		const shown = table(
			`${count(store.sandboxes.length)} in this simulator`,
			[
				{ name: "id", cell: (one) => h("a", { href: address(one.id, ["live"]) }, short(one.id)) },
				{ name: "scenario", cell: (one) => short(one.scenario) },
				{
					name: "clock",
					cell: (one) => h("span", { title: bothTimes(one.clock.now) }, `${one.clock.mode} ${dateTime(one.clock.now)}`),
				},
				{ name: "seed", number: true, cell: (one) => (Number.isSafeInteger(one.seed) ? one.seed : `≈ ${one.seed}`) },
				{ name: "resellers", cell: (one) => resellers(one) },
				{
					name: "address",
					cell: (one) =>
						h(
							"button",
							{
								class: "quiet copy",
								"aria-label": `Copy ${one.url}`,
								title: "copy",
								onclick: () => copy(one.url, "the address"),
							},
							h("code", {}, one.url),
						),
				},
				{ name: "", cell: (one) => this.buttons(one) },
			],
			store.sandboxes,
			"There are no sandboxes. Create one below.",
		);
		put(/** @type {HTMLElement} */ (this.list), shown);
	}

	/** @param {import("../app/store.js").Sandbox} one */
	buttons(one) {
		const reset = () => this.reset(one.id);
		const forget = () => this.forget(one.id);
		return h(
			"span",
			{ class: "actions" },
			h("button", { "aria-label": `Reset ${one.id}`, onclick: reset }, "reset"),
			one.id !== "default" && h("button", { "aria-label": `Delete ${one.id}`, onclick: forget }, "delete"),
		);
	}

	/** @param {string} id */
	async reset(id) {
		const text = "It returns to the start of its scenario: payments, wallets, added rules and all events are deleted.";
		if (!(await confirmed({ title: `Reset ${id}?`, text, name: id, button: "Reset" }))) return;
		await this.tried(async () => {
			await act({ method: "POST", path: `${path("sandboxes", id)}/reset`, says: `reset sandbox ${id}` });
			await readSandboxes();
		});
	}

	/** @param {string} id */
	async forget(id) {
		const text = "Its payments, its journal and its keys are deleted. Requests to its address get 404.";
		if (!(await confirmed({ title: `Delete ${id}?`, text, name: id, button: "Delete" }))) return;
		await this.tried(async () => {
			await act({
				method: "DELETE",
				path: path("sandboxes", id),
				cli: ["sandbox", "rm", id],
				says: `deleted sandbox ${id}`,
			});
			if (id === latestSandbox()) setQuery({ sandbox: "" });
			await readSandboxes();
		});
	}

	async offer() {
		let names = ["default"];
		await this.tried(async () => {
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
			run: (values) => this.make(values),
		});
		put(/** @type {HTMLElement} */ (this.maker), made);
	}

	/** @param {Record<string, string>} values */
	async make({ id, scenario, clock, seed, credentials }) {
		const file = scenario.startsWith("file ") ? scenario.slice(5) : "";
		const body = /** @type {Record<string, any>} */ ({ scenario: file ? { file } : scenario });
		const cli = ["sandbox", "new", ...(file ? ["--server-file", file] : [scenario])];
		if (id) {
			body.id = id;
			cli.push("--id", id);
		}
		if (clock) {
			body.clock = clockOf(clock);
			cli.push("--clock", clock);
		}
		if (seed) {
			if (/^\d+$/.test(seed) && !Number.isSafeInteger(Number(seed)))
				throw new Refused(0, {
					message: `a browser counts to ${Number.MAX_SAFE_INTEGER}: take a smaller seed, or the command line`,
					path: "seed",
				});
			body.seed = /^\d+$/.test(seed) ? Number(seed) : seed;
			cli.push("--seed", seed);
		}
		if (credentials === "unique") {
			body.credentials = credentials;
			cli.push("--unique");
		}
		const made = await act({
			method: "POST",
			path: "sandboxes",
			body,
			cli,
			says: (answer) => `created sandbox ${answer.id}`,
		});
		await readSandboxes();
		go(address(made.id, ["live"]));
	}
}

/** @param {import("../app/store.js").Sandbox} one */
function resellers(one) {
	const rest = one.resellers.length - RESELLERS_MAX;
	return h(
		"div",
		{},
		...one.resellers
			.slice(0, RESELLERS_MAX)
			.map((reseller) =>
				h(
					"details",
					{},
					h("summary", {}, short(reseller.code), " ", h("span", { class: "past" }, sum(reseller.balance))),
					credentials(reseller),
				),
			),
		rest > 0 && h("p", { class: "past" }, `and ${count(rest)} more`),
	);
}

/** @param {any} reseller */
function credentials(reseller) {
	const rows = [
		["api key", reseller.api_key, false],
		["api secret", reseller.api_secret, true],
		["username", reseller.username, false],
		["password", reseller.password, true],
	].filter(([, value]) => value);
	return h(
		"dl",
		{ class: "pairs" },
		...rows.flatMap(([name, value, isSecret]) => [h("dt", {}, name), h("dd", {}, credential(name, value, isSecret))]),
	);
}

customElements.define("sim-sandboxes", SimSandboxes);
