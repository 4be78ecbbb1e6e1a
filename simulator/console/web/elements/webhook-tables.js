// How resellers' webhooks are configured, and what probes found, as tables.

import { h } from "../app/dom.js";
import { dateTime } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { marked } from "../app/reading.js";
import { table } from "../app/table.js";

/** @param {any} answer of `GET …/resellers` @returns {HTMLElement[]} */
export function configurationOf({ resellers, catalog_webhook: catalog, has_more: hasMore }) {
	const webhooks = resellers.flatMap((/** @type {any} */ one) =>
		one.webhooks.map((/** @type {any} */ hook) => ({ ...hook, of: one.code })),
	);
	if (catalog) webhooks.push({ ...catalog, of: "all (catalog)" });
	return [
		...(hasMore ? [h("p", { class: "past" }, `The first ${resellers.length} resellers.`)] : []),
		table("Webhooks", WEBHOOKS, webhooks, "no webhook is set: PUT /v2/balance-webhook sets a reseller's own"),
		table("Callbacks", CALLBACKS, resellers),
		table("Settings", SETTINGS, resellers),
	];
}

/** @typedef {import("../app/table.js").Column<any>} Column */

/** @param {any} one */
const retries = (one) => `${one.retries} after ${one.retry_after.slice(0, 10).join(", ")} s`;

/** @type {Column[]} */
const WEBHOOKS = [
	{ name: "reseller", cell: (one) => short(one.of) },
	{ name: "URL", cell: (one) => short(one.url, 500) },
	{ name: "events", cell: (one) => one.events.join(" ") },
	{ name: "state", cell: (one) => (one.enabled ? marked("good", "enabled") : marked("bad", "disabled")) },
	{ name: "secret", cell: (one) => (one.secret_last_four ? h("code", {}, "…", short(one.secret_last_four)) : "none") },
	{ name: "signed by", cell: (one) => short(one.signature.header ?? "Standard Webhooks headers") },
	{ name: "retries", cell: retries },
	{ name: "time-out, s", number: true, cell: (one) => String(one.timeout) },
	{ name: "changed", cell: (one) => dateTime(one.updated) },
];

/** @type {Column[]} */
const CALLBACKS = [
	{ name: "reseller", cell: (one) => short(one.code) },
	{ name: "URL", cell: (one) => (one.callback.url ? short(one.callback.url, 500) : "none") },
	{ name: "method", cell: (one) => one.callback.method ?? "" },
	{ name: "retries", cell: (one) => retries(one.callback) },
	{ name: "time-out, s", number: true, cell: (one) => String(one.callback.timeout) },
];

/** @type {Column[]} */
const SETTINGS = [
	{ name: "reseller", cell: (one) => short(one.code) },
	{
		name: "topup by bearer token",
		cell: (one) => (one.settings.in_effect ? "refused" : "allowed"),
	},
	{ name: "allowed addresses", cell: (one) => short(one.settings.ip_allowlist.slice(0, 20).join(" ") || "all") },
	{
		name: "API keys",
		cell: (one) =>
			one.api_keys.slice(0, 20).map((/** @type {any} */ key) => h("div", {}, short(key.key), ` ${key.state}`)),
	},
];

/** @type {Record<string, "good" | "bad" | "wait" | "past">} */
const TONES = { ok: "good", finding: "bad", inconclusive: "wait", skipped: "past" };

/** @param {string} word */
const verdict = (word) => marked(TONES[word] ?? "past", word);

/** @type {Column[]} */
const PROBES = [
	{ name: "probe", cell: (one) => h("code", {}, one.probe) },
	{ name: "verdict", cell: (one) => verdict(one.verdict) },
	{ name: "sent message, and the expected answer", cell: (one) => one.about },
	{
		name: "answers",
		cell: (one) =>
			one.requests.length === 0
				? short(one.reason)
				: one.requests.map((/** @type {any} */ sent) =>
						h(
							"div",
							{},
							verdict(sent.verdict),
							` ${sent.status ?? sent.ending}, should be ${sent.should_accept ? "accepted" : "refused"} `,
							short(sent.error || sent.body, 200),
						),
					),
	},
];

/** @param {any} answer of `POST …/probes` */
export const verdictsOf = (answer) => table("Verdicts", PROBES, answer.probes);
