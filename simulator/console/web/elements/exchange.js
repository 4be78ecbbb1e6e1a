// The facts of what is selected, and its messages: headers and bodies of what was sent and of what was answered.

import { h } from "../app/dom.js";
import { dateTime, sum, time } from "../app/format.js";
import { ruleAddress } from "../app/links.js";
import { facts, past } from "../app/pieces.js";
import { bodyOf, headersOf, short } from "../app/safe-text.js";
import { here } from "../app/router.js";

/** The facts that are known at once. @param {Row} row */
export function factsOf(row) {
	const { event, rule, trxid } = row;
	const live = (/** @type {number} */ n) => h("a", { href: here(["live"], { q: `n:${n}` }) }, String(n));
	return facts([
		["time", row.at && exactly(row.at)],
		["wall clock", row.wall && dateTime(row.wall)],
		["payment", trxid && h("a", { href: here(["payments", trxid]) }, short(row.refid || trxid))],
		["trxid", trxid],
		["product", row.product && short(row.product)],
		["reseller", event.reseller && short(event.reseller)],
		["rule", rule && h("a", { href: ruleAddress(rule) }, short(rule))],
		["request", event.n && row.kind === "request" && live(event.n)],
		["replay of", event.replay_of && live(event.replay_of)],
		...(FACTS[row.kind]?.(event, row) ?? []),
	]);
}

/** `2027-01-10 23:59:02.114 +08:00`. @param {string} at */
const exactly = (at) => `${dateTime(at).slice(0, 10)} ${time(at)} +08:00`;

/** @type {Record<string, (event: any, row: Row) => [string, Child][]>} */
const FACTS = {
	request: (one, row) => [
		["took", row.took],
		["from", one.client && short(one.client)],
		["error", one.error],
		["diagnosis", one.diagnosis && short(one.diagnosis, 2000)],
	],
	status: (one) => [
		["code", String(one.status_code)],
		["cost", one.cost !== undefined && sum(one.cost)],
		["balance", one.balance !== undefined && sum(one.balance)],
		["remarks", one.remarks && short(one.remarks)],
		["sn", one.sn && short(one.sn)],
		["pin", one.pin && short(one.pin)],
		["note", one.note && short(one.note, 2000)],
		["voucher", one.voucherlink && short(one.voucherlink, 500)],
	],
	entry: ({ entry }) => [
		["entry", h("a", { href: here(["wallet"]) }, String(entry.id))],
		["amount", sum(entry.amount)],
		["balance", sum(entry.balance)],
		["type", entry.type],
		["remarks", short(entry.remarks)],
	],
	callback: (one) => message(one),
	webhook: (one) => [
		...message(one),
		["delivery", h("a", { href: here(["webhooks"], { at: one.delivery }) }, one.delivery)],
	],
	notification: ({ notification: one }) => [
		["kind", one.kind.replaceAll("_", " ")],
		["to", short(one.to.join(", "))],
		["subject", short(one.subject)],
	],
	action: (one) => [["about", short(typeof one.about === "string" ? one.about : JSON.stringify(one.about), 2000)]],
	case: (one) => [
		["case", one.id],
		["message", one.message && short(one.message, 1000)],
		["refund", one.refund_type && short(`${one.refund_type} ${one.refund_reason ?? ""}`)],
		["e-mail", one.user_email?.length && short(one.user_email.join(", "))],
	],
	due: (one) => [["what", short(one.about)]],
};

/** @param {any} one @returns {[string, Child][]} */
const message = (one) => [
	["to", short(`${one.method} ${one.url}`, 500)],
	["attempt", one.attempts_max ? `${one.attempt} of ${one.attempts_max}` : String(one.attempt)],
	["answer", one.answered ? String(one.answered) : (one.ending ?? "in progress")],
	["error", one.error && short(one.error, 500)],
	["tried again", one.next_due && exactly(one.next_due)],
];

/** The messages themselves, once they are read. @param {Row} row @param {More} more @returns {Child[]} */
export function messagesOf(row, more) {
	const { exchange, sent } = more;
	if (exchange) return [part("Request", exchange.request), part("Answer", exchange.response)];
	if (row.kind === "notification")
		return [h("h3", {}, "Text"), bodyOf(row.event.notification.text, { label: "text of the e-mail" })];
	if (row.kind !== "callback" && row.kind !== "webhook") return [];
	const name = "Answer of the receiver";
	return [
		sent ? part("Sent message", sent) : past("The message of this attempt was evicted."),
		h("section", { "aria-label": name }, h("h3", {}, name), answered(row, more)),
	];
}

/** @param {Row} row @param {More} more @returns {Child} */
function answered({ event }, { answer }) {
	if (!event.answered) return h("p", {}, short(event.error || event.ending || "nothing yet", 1000));
	return [h("p", {}, String(event.answered)), bodyOf(answer, { label: "body of the receiver's answer" })];
}

/** @param {string} name @param {any} one */
function part(name, one) {
	return h(
		"section",
		{ "aria-label": name },
		h("h3", {}, name),
		headersOf(one.headers),
		bodyOf(one.body, { bytes: one.body_bytes, label: `body of ${name.toLowerCase()}` }),
	);
}
