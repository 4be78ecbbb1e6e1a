// The figures of a sandbox: drawings, and beneath each a table of its numbers to open.

import { curveOf, LINES_MAX } from "../app/curve.js";
import { h } from "../app/dom.js";
import { barsOf, legend } from "../app/drawing.js";
import { count, counted, dateTime, signed } from "../app/format.js";
import { paymentsAddress } from "../app/links.js";
import { short } from "../app/safe-text.js";
import { here, place, setQuery } from "../app/router.js";
import { toneOf } from "../app/rows.js";
import { sandboxNow } from "../app/store.js";
import { table } from "../app/table.js";
import { figure, messages, number, numbers, receivers, requests, teach } from "./traffic-figures.js";

const DRAWN_MAX = 10;
const LISTED_MAX = 100;

/** @param {any} figures as the control API has them @param {number} width_px of all @returns {{ columns: number, figures: HTMLElement[] }} */
export function figuresOf(figures, width_px) {
	const columns = width_px >= 1080 ? 3 : width_px >= 700 ? 2 : 1;
	const width = Math.floor((width_px - (columns - 1) * 32) / columns);
	const drawn = [balances(figures, width_px), statuses(figures, width), products(figures, width)];
	return {
		columns,
		figures: [...drawn, messages(figures, width), receivers(figures, width), requests(figures, width)],
	};
}

/** @param {any} figures @param {number} width */
function balances({ wallets, wallets_left_out }, width) {
	const now = /** @type {Date} */ (sandboxNow());
	const lines = wallets
		.slice(0, LINES_MAX)
		.map((/** @type {any} */ one) => ({ name: one.reseller, points: [[one.created, one.opening], ...one.points] }));
	const left = wallets.length - lines.length + wallets_left_out;
	const whole = figure(
		"Balance over time",
		lines.length && curveOf("Balance over time", lines, now, width, 200),
		left > 0 && h("p", { class: "past" }, `${counted(left, "wallet")} more: choose a reseller to see its line`),
		table(
			"Wallets",
			[
				{
					name: "reseller",
					cell: (one) => h("a", { href: here(["wallet", "ledger"], { reseller: one.reseller }) }, short(one.reseller)),
				},
				number("balance, MYR", (one) => signed(one.balance)),
				number("credited, MYR", (one) => signed(one.credited)),
				number("debited, MYR", (one) => signed(one.debited)),
				number("lowest, MYR", (one) => signed(extreme(Math.min, one))),
				number("highest, MYR", (one) => signed(extreme(Math.max, one))),
			],
			wallets,
		),
		points(wallets),
	);
	whole.className = "wide";
	return whole;
}

/** @param {(...all: number[]) => number} of @param {any} wallet */
const extreme = (of, wallet) =>
	of(wallet.opening, wallet.balance, ...wallet.points.map((/** @type {[string, number]} */ [, balance]) => balance));

/** Every point of the lines as a table, when the address wants it. @param {any[]} wallets */
function points(wallets) {
	const isOpen = place.query.get("points") === "all";
	const all = wallets.flatMap((one) =>
		one.points.map((/** @type {[string, number]} */ [at, balance]) => ({ at, balance, reseller: one.reseller })),
	);
	if (!all.length) return null;
	const button = h(
		"button",
		{ "data-key": "points", "aria-expanded": String(isOpen), onclick: () => setQuery({ points: isOpen ? "" : "all" }) },
		isOpen ? "hide the points" : `${counted(all.length, "point")} as a table`,
	);
	const columns = [
		{ name: "at", cell: (/** @type {any} */ one) => dateTime(one.at) },
		{ name: "reseller", cell: (/** @type {any} */ one) => short(one.reseller) },
		number("balance, MYR", (one) => signed(one.balance)),
	];
	return h("div", {}, button, isOpen && table("Points of the lines", columns, all));
}

/** @param {any} figures @param {number} width */
function statuses({ by_status, transactions }, width) {
	const all = Object.entries(by_status).map(([name, value]) => ({
		name,
		count: Number(value),
		tone: toneOf(name),
	}));
	const bars = all.map((one) => ({
		label: one.name,
		text: count(one.count),
		parts: [{ value: one.count, tone: one.tone }],
	}));
	return figure(
		"Payments by status",
		transactions
			? barsOf("Payments by status", bars, width)
			: teach("No payment yet: send a POST /v2/topup. The catalog has accounts for each outcome, and calls to copy."),
		numbers(
			"Payments by status",
			[
				{
					name: "status",
					cell: (one) => h("a", { href: paymentsAddress("status", one.name) }, one.name),
				},
				number("payments", (one) => count(one.count)),
			],
			all,
		),
	);
}

/** @param {any} figures @param {number} width */
function products({ by_product }, width) {
	const open = (/** @type {any} */ one) => Math.max(0, one.count - one.succeeded - one.failed);
	const bars = by_product.slice(0, DRAWN_MAX).map((/** @type {any} */ one) => ({
		label: one.name ? `${one.product}, ${one.name}` : one.product,
		text: count(one.count),
		parts: [
			{ value: one.succeeded, tone: "good" },
			{ value: one.failed, tone: "bad" },
			{ value: open(one), tone: "wait" },
		],
	}));
	const left = by_product.length - LISTED_MAX;
	return figure(
		"Payments by product",
		bars.length
			? legend([
					["good", "succeeded"],
					["bad", "failed"],
					["wait", "open or refunded"],
				])
			: teach("Each paid product gets a bar."),
		bars.length > 0 && barsOf("Payments by product", bars, width),
		numbers(
			"Payments by product",
			[
				{
					name: "product",
					cell: (one) => h("a", { href: paymentsAddress("product", one.product) }, short(one.product)),
				},
				number("payments", (one) => count(one.count)),
				number("succeeded", (one) => count(one.succeeded)),
				number("failed", (one) => count(one.failed)),
				number("amount, MYR", (one) => signed(one.amount_myr)),
			],
			by_product.slice(0, LISTED_MAX),
		),
		left > 0 && h("p", { class: "past" }, `and ${counted(left, "product")} with fewer payments`),
	);
}
