// The figures of a sandbox: drawings, and beneath each a table of its numbers to open.

import { curveOf, LINES_MAX } from "../app/curve.js";
import { h } from "../app/dom.js";
import { barsOf, legend } from "../app/drawing.js";
import { count, counted, signed } from "../app/format.js";
import { paymentsAddress } from "../app/links.js";
import { past } from "../app/pieces.js";
import { short } from "../app/safe-text.js";
import { here } from "../app/router.js";
import { toneOf } from "../app/rows.js";
import { sandboxNow } from "../app/store.js";
import { number, table } from "../app/table.js";

/** @typedef {import("../app/drawing.js").Bar} Bar */

const DRAWN_MAX = 10;
const LISTED_MAX = 100;

/** @param {any} figures as the control API has them @param {number} width_px of all @returns {{ columns: number, figures: HTMLElement[] }} */
export function figuresOf(figures, width_px) {
	const columns = width_px >= 1080 ? 3 : width_px >= 700 ? 2 : 1;
	const width = Math.floor((width_px - (columns - 1) * 32) / columns);
	const bars = [statuses, products, messages, receivers, requests].map((of) => barFigure(of(figures), width));
	return { columns, figures: [balances(figures, width_px), ...bars] };
}

/** @param {string} title @param {string} kind @param {...Child} children */
const figure = (title, kind, ...children) =>
	h("figure", { class: kind }, h("figcaption", {}, h("h3", {}, title)), ...children);

/**
 * Bars, with links and exact values in a table, closed at first, since the drawing shows them.
 * @typedef {{
 *   title: string, caption?: string, tones?: [string, string][], bars: Bar[], teach: string,
 *   columns: Record<string, Cell<any>>, items: any[], more?: Child,
 * }} Bars `caption` where the title has numbers, `tones` with their words, `teach` the text of an empty drawing
 * @param {Bars} of @param {number} width
 */
function barFigure({ title, caption = title, tones, bars, teach, columns, items, more }, width) {
	return figure(
		title,
		"",
		bars.length ? [tones && legend(tones), barsOf(caption, bars, width)] : past(teach),
		bars.length > 0 &&
			h(
				"details",
				{ "data-key": `numbers of ${caption}` },
				h("summary", { "aria-label": `${caption} as a table` }, "as a table"),
				table(caption, columns, items),
			),
		more,
	);
}

/** A bar of a single part. @param {string} label @param {number} value @param {string} tone @returns {Bar} */
const bar = (label, value, tone) => ({ label, text: count(value), parts: [{ value, tone }] });

/** A column of counts. @param {string} name */
const counts = (name) => number((/** @type {any} */ one) => count(one[name]));

/** @param {any} figures @param {number} width */
function balances({ wallets, wallets_left_out }, width) {
	const now = /** @type {Date} */ (sandboxNow());
	const lines = wallets
		.slice(0, LINES_MAX)
		.map((/** @type {any} */ one) => ({ name: one.reseller, points: [[one.created, one.opening], ...one.points] }));
	const left = wallets.length - lines.length + wallets_left_out;
	return figure(
		"Balance over time",
		"wide",
		lines.length && curveOf("Balance over time", lines, now, width, 200),
		left > 0 && past(`${counted(left, "wallet")} more: choose a reseller to see its line`),
		table(
			"Wallets",
			{
				reseller: ({ reseller }) => h("a", { href: here(["wallet", "ledger"], { reseller }) }, short(reseller)),
				"balance, MYR": number((one) => signed(one.balance)),
				"credited, MYR": number((one) => signed(one.credited)),
				"debited, MYR": number((one) => signed(one.debited)),
				"lowest, MYR": number((one) => signed(Math.min(...levels(one)))),
				"highest, MYR": number((one) => signed(Math.max(...levels(one)))),
			},
			wallets,
		),
	);
}

/** @param {any} wallet @returns {number[]} */
const levels = ({ opening, balance, points: all }) => [
	opening,
	balance,
	...all.map((/** @type {[string, number]} */ [, level]) => level),
];

/** @param {any} figures @returns {Bars} */
function statuses({ by_status, transactions }) {
	const all = Object.entries(by_status).map(([name, value]) => ({ name, payments: Number(value) }));
	return {
		title: "Payments by status",
		bars: transactions ? all.map(({ name, payments }) => bar(name, payments, toneOf(name))) : [],
		teach: "No payment yet: send a POST /v2/topup. The catalog has accounts for each outcome, and calls to copy.",
		columns: {
			status: ({ name }) => h("a", { href: paymentsAddress("status", name) }, name),
			payments: counts("payments"),
		},
		items: all,
	};
}

/** @param {any} figures @returns {Bars} */
function products({ by_product: all }) {
	const left = all.length - LISTED_MAX;
	return {
		title: "Payments by product",
		tones: [
			["good", "succeeded"],
			["bad", "failed"],
			["wait", "open or refunded"],
		],
		bars: all.slice(0, DRAWN_MAX).map((/** @type {any} */ one) => ({
			label: one.name ? `${one.product}, ${one.name}` : one.product,
			text: count(one.count),
			parts: [
				{ value: one.succeeded, tone: "good" },
				{ value: one.failed, tone: "bad" },
				{ value: Math.max(0, one.count - one.succeeded - one.failed), tone: "wait" },
			],
		})),
		teach: "Each paid product gets a bar.",
		columns: {
			product: ({ product }) => h("a", { href: paymentsAddress("product", product) }, short(product)),
			payments: counts("count"),
			succeeded: counts("succeeded"),
			failed: counts("failed"),
			"amount, MYR": number((one) => signed(one.amount_myr)),
		},
		items: all.slice(0, LISTED_MAX),
		more: left > 0 && past(`and ${counted(left, "product")} with fewer payments`),
	};
}

/** @param {any} figures @returns {Bars} */
function messages({ callbacks, webhooks }) {
	const all = [
		{ name: "callbacks", ...callbacks },
		{ name: "webhooks", ...webhooks },
	];
	const bars = all.flatMap(({ name, delivered, failed, pending }) => [
		bar(`${name} delivered`, delivered, "good"),
		bar(`${name} failed`, failed, "bad"),
		bar(`${name} pending`, pending, "wait"),
	]);
	return {
		title: "Callbacks and webhooks",
		bars: bars.some((one) => one.parts[0].value) ? bars : [],
		teach: "A callback is sent when a payment's status changes, a webhook when a balance or the catalog does.",
		columns: {
			kind: ({ name }) => h("a", { href: here(["live"], { q: `kind:${name.slice(0, -1)}` }) }, name),
			delivered: counts("delivered"),
			failed: counts("failed"),
			pending: counts("pending"),
			attempts: counts("attempts"),
		},
		items: all,
	};
}

/** @param {number | null} value */
const ms = (value) =>
	value === null ? "" : `${value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

/** @param {any} figures @returns {Bars} */
function receivers({ receivers: all }) {
	const left = all.length - LISTED_MAX;
	return {
		title: "Latency of receivers",
		tones: [
			["good", "half answer in"],
			["past", "95 of 100 in"],
			["wait", "slowest"],
		],
		bars: all.slice(0, DRAWN_MAX).map((/** @type {any} */ { url, p50_ms, p95_ms, max_ms }) => ({
			label: url,
			text: `${ms(p50_ms)}, ${ms(p95_ms)}, ${ms(max_ms)}`,
			parts: [
				{ value: p50_ms ?? 0, tone: "good" },
				{ value: (p95_ms ?? 0) - (p50_ms ?? 0), tone: "past" },
				{ value: (max_ms ?? 0) - (p95_ms ?? 0), tone: "wait" },
			],
		})),
		teach: "Receivers of callbacks and webhooks appear here with their response times.",
		columns: {
			receiver: (one) => short(one.url, 80),
			answered: number((one) => `${count(one.answered)} of ${count(one.attempts)}`),
			half: number((one) => ms(one.p50_ms)),
			"95 %": number((one) => ms(one.p95_ms)),
			slowest: number((one) => ms(one.max_ms)),
		},
		items: all.slice(0, LISTED_MAX),
		more: left > 0 && past(`and ${counted(left, "receiver")} with fewer attempts`),
	};
}

/** @param {any} figures @returns {Bars} */
function requests({ requests: { total, refused, by_status, left_out } }) {
	const all = Object.entries(by_status).map(([status, value]) => ({
		name: status === "0" ? "no answer" : status,
		requests: Number(value),
		tone: Number(status) >= 400 || status === "0" ? "bad" : "good",
	}));
	const q = (/** @type {string} */ name) => `kind:request status:${name.includes(" ") ? `"${name}"` : name}`;
	return {
		title: `Requests: ${count(total)}, ${count(refused)} refused`,
		caption: "Requests by the status of their answer",
		bars: all.map((one) => bar(one.name, one.requests, one.tone)),
		teach: "No request came yet.",
		columns: {
			answered: ({ name }) => h("a", { href: here(["live"], { q: q(name) }) }, name),
			requests: counts("requests"),
		},
		items: all,
		more: left_out > 0 && past(`the journal did not keep ${counted(left_out, "older request")}`),
	};
}
