// The head of a story: the payment on a single line, and the differences of two payments.

import { h } from "../app/dom.js";
import { bothTimes, dateTime, span, sum } from "../app/format.js";
import { ruleAddress } from "../app/links.js";
import { short } from "../app/safe-text.js";
import { here } from "../app/router.js";
import { past, statusOf } from "../app/pieces.js";
import { copy } from "../app/action-log.js";
import { table } from "../app/table.js";

/** @param {any} payment @param {() => void} sendCallback */
export function headOf(payment, sendCallback) {
	const { refid, trxid, rule } = payment;
	const q = refid && !/["\s]/.test(refid) ? `refid:${refid}` : `trxid:${trxid}`;
	return h(
		"header",
		{},
		h("h2", {}, h("a", { href: here(["live"], { q }) }, short(refid, 80))),
		h("span", { class: "mono" }, short(payment.product), " ", sum(payment.amount), " → ", short(payment.account, 60)),
		statusOf(payment.status),
		rule && h("span", {}, "rule: ", h("a", { href: ruleAddress(rule) }, short(rule, 100))),
		h("span", { class: "past mono", title: bothTimes(payment.created) }, trxid),
		h(
			"div",
			{ class: "actions" },
			h("button", { onclick: () => copy(refid, `the refid ${refid}`) }, "copy refid"),
			h("button", { onclick: sendCallback }, "send callback"),
		),
	);
}

/** The evicted parts of the story. @param {any} payment */
export function leftOut({ requests_left_out: requests, callbacks_left_out: callbacks }) {
	if (!requests && !callbacks) return null;
	return past(
		`Not shown: ${requests} earlier requests, ${callbacks} callbacks that are not kept, of this payment or others.`,
	);
}

/** @type {Record<string, (story: Story) => string | number>} */
const FACTS = {
	status: ({ payment }) => payment.status,
	product: ({ payment }) => payment.product,
	account: ({ payment }) => payment.account,
	amount: ({ payment }) => sum(payment.amount),
	cost: ({ payment }) => sum(payment.cost),
	reseller: ({ payment }) => payment.reseller,
	rule: ({ payment }) => payment.rule,
	created: ({ payment }) => dateTime(payment.created),
	"from the first to the latest status": ({ payment }) =>
		span(Date.parse(payment.updated) - Date.parse(payment.created)),
	requests: ({ payment }) => payment.requests.length + payment.requests_left_out,
	"attempts of callbacks": ({ things }) => things.filter((one) => one.lane === "callback" && !one.isDue).length,
};

/** Two payments, fact by fact. @param {Story[]} stories */
export function differences([one, other]) {
	const facts = Object.entries(FACTS).map(([name, of]) => ({ name, values: [of(one), of(other)] }));
	const differing = facts.filter(({ values }) => values[0] !== values[1]);
	return table(
		"Differences",
		[
			["", (fact) => fact.name],
			[one.payment.refid, (fact) => short(fact.values[0])],
			[other.payment.refid, (fact) => short(fact.values[1])],
		],
		differing,
		"only in their names",
	);
}
