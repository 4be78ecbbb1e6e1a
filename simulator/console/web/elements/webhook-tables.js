// How resellers' webhooks are configured, and what probes found, as tables.

import { h } from "../app/dom.js";
import { dateTime } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { marked, past } from "../app/pieces.js";
import { number, table } from "../app/table.js";

/** @param {any} answer of `GET …/resellers` @returns {HTMLElement[]} */
export function configurationOf({ resellers, catalog_webhook: catalog, has_more: hasMore }) {
	const webhooks = resellers.flatMap((/** @type {any} */ one) =>
		one.webhooks.map((/** @type {any} */ hook) => ({ ...hook, of: one.code })),
	);
	if (catalog) webhooks.push({ ...catalog, of: "all (catalog)" });
	return [
		...(hasMore ? [past(`The first ${resellers.length} resellers.`)] : []),
		table("Webhooks", WEBHOOKS, webhooks, "no webhook is set: PUT /v2/balance-webhook sets a reseller's own"),
		table("Callbacks", CALLBACKS, resellers),
		table("Settings", SETTINGS, resellers),
	];
}

/** @param {any} one */
const retries = (one) => `${one.retries} after ${one.retry_after.slice(0, 10).join(", ")} s`;

/** @type {Record<string, Cell<any>>} */
const WEBHOOKS = {
	reseller: (one) => short(one.of),
	URL: (one) => short(one.url, 500),
	events: (one) => one.events.join(" "),
	state: (one) => (one.enabled ? marked("good", "enabled") : marked("bad", "disabled")),
	secret: (one) => (one.secret_last_four ? h("code", {}, "…", short(one.secret_last_four)) : "none"),
	"signed by": (one) => short(one.signature.header ?? "Standard Webhooks headers"),
	retries,
	"time-out, s": number((one) => one.timeout),
	changed: (one) => dateTime(one.updated),
};

/** @type {Record<string, Cell<any>>} */
const CALLBACKS = {
	reseller: (one) => short(one.code),
	URL: (one) => (one.callback.url ? short(one.callback.url, 500) : "none"),
	method: (one) => one.callback.method,
	retries: (one) => retries(one.callback),
	"time-out, s": number((one) => one.callback.timeout),
};

/** @type {Record<string, Cell<any>>} */
const SETTINGS = {
	reseller: (one) => short(one.code),
	"topup by bearer token": (one) => (one.settings.in_effect ? "refused" : "allowed"),
	"allowed addresses": (one) => short(one.settings.ip_allowlist.slice(0, 20).join(" ") || "all"),
	"API keys": (one) =>
		one.api_keys.slice(0, 20).map((/** @type {any} */ key) => h("div", {}, short(key.key), ` ${key.state}`)),
};

/** @type {Record<string, Tone>} */
const TONES = { ok: "good", finding: "bad", inconclusive: "wait", skipped: "past" };

/** @param {string} word */
const verdict = (word) => marked(TONES[word] ?? "past", word);

/** @param {any} sent */
const probed = ({ verdict: word, status, ending, should_accept, error, body }) =>
	h(
		"div",
		{},
		verdict(word),
		` ${status ?? ending}, should be ${should_accept ? "accepted" : "refused"} `,
		short(error || body, 200),
	);

/** @type {Record<string, Cell<any>>} */
const PROBES = {
	probe: (one) => h("code", {}, one.probe),
	verdict: (one) => verdict(one.verdict),
	"sent message, and the expected answer": (one) => one.about,
	answers: (one) => (one.requests.length ? one.requests.map(probed) : short(one.reason)),
};

/** @param {any} answer of `POST …/probes` */
export const verdictsOf = (answer) => table("Verdicts", PROBES, answer.probes);
