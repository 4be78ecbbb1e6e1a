// Figures of what was sent to and fro: callbacks and webhooks, the receivers' latency, requests.

import { h } from "../app/dom.js";
import { barsOf, legend } from "../app/drawing.js";
import { count, counted } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { here } from "../app/router.js";
import { table } from "../app/table.js";

const DRAWN_MAX = 10;
const LISTED_MAX = 100;

/** @param {string} title @param {...import("../app/dom.js").Child} children */
export const figure = (title, ...children) => h("figure", {}, h("figcaption", {}, h("h3", {}, title)), ...children);

/** A column of numbers. @param {string} name @param {(one: any) => import("../app/dom.js").Child} cell */
export const number = (name, cell) => ({ name, cell, number: true });

/**
 * The numbers of a drawing with links and exact values, closed at first, since the drawing shows them.
 * @param {string} caption @param {import("../app/table.js").Column<any>[]} columns @param {any[]} items
 */
export const numbers = (caption, columns, items) =>
	h(
		"details",
		{ "data-key": `numbers of ${caption}` },
		h("summary", { "aria-label": `${caption} as a table` }, "as a table"),
		table(caption, columns, items),
	);

/** The text of an empty drawing. @param {string} text */
export const teach = (text) => h("p", { class: "past" }, text);

/** @param {any} figures @param {number} width */
export function messages({ callbacks, webhooks }, width) {
	const all = [
		{ name: "callbacks", ...callbacks },
		{ name: "webhooks", ...webhooks },
	];
	const bars = all.flatMap((one) => [
		{ label: `${one.name} delivered`, text: count(one.delivered), parts: [{ value: one.delivered, tone: "good" }] },
		{ label: `${one.name} failed`, text: count(one.failed), parts: [{ value: one.failed, tone: "bad" }] },
		{ label: `${one.name} pending`, text: count(one.pending), parts: [{ value: one.pending, tone: "wait" }] },
	]);
	const none = all.every((one) => !(one.delivered + one.failed + one.pending));
	return figure(
		"Callbacks and webhooks",
		none
			? teach("A callback is sent when a payment's status changes, a webhook when a balance or the catalog does.")
			: barsOf("Callbacks and webhooks", bars, width),
		numbers(
			"Callbacks and webhooks",
			[
				{
					name: "kind",
					cell: (one) => h("a", { href: here(["live"], { q: `kind:${one.name.slice(0, -1)}` }) }, one.name),
				},
				...["delivered", "failed", "pending", "attempts"].map((name) => number(name, (one) => count(one[name]))),
			],
			all,
		),
	);
}

/** @param {any} figures @param {number} width */
export function receivers({ receivers: all }, width) {
	const ms = (/** @type {number | null} */ value) =>
		value === null ? "" : `${value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
	const bars = all.slice(0, DRAWN_MAX).map((/** @type {any} */ one) => ({
		label: one.url,
		text: `${ms(one.p50_ms)}, ${ms(one.p95_ms)}, ${ms(one.max_ms)}`,
		parts: [
			{ value: one.p50_ms ?? 0, tone: "good" },
			{ value: (one.p95_ms ?? 0) - (one.p50_ms ?? 0), tone: "past" },
			{ value: (one.max_ms ?? 0) - (one.p95_ms ?? 0), tone: "wait" },
		],
	}));
	return figure(
		"Latency of receivers",
		bars.length
			? legend([
					["good", "half answer in"],
					["past", "95 of 100 in"],
					["wait", "slowest"],
				])
			: teach("Receivers of callbacks and webhooks appear here with their response times."),
		bars.length > 0 && barsOf("Latency of receivers, by the latest 1,000 attempts", bars, width),
		numbers(
			"Latency of receivers",
			[
				{ name: "receiver", cell: (one) => short(one.url, 80) },
				number("answered", (one) => `${count(one.answered)} of ${count(one.attempts)}`),
				number("half", (one) => ms(one.p50_ms)),
				number("95 %", (one) => ms(one.p95_ms)),
				number("slowest", (one) => ms(one.max_ms)),
			],
			all.slice(0, LISTED_MAX),
		),
		all.length > LISTED_MAX && teach(`and ${counted(all.length - LISTED_MAX, "receiver")} with fewer attempts`),
	);
}

/** @param {any} figures @param {number} width */
export function requests({ requests: { total, refused, by_status, left_out } }, width) {
	const all = Object.entries(by_status).map(([status, value]) => ({
		status: status === "0" ? "no answer" : status,
		count: Number(value),
		tone: Number(status) >= 400 || status === "0" ? "bad" : "good",
	}));
	const bars = all.map((one) => ({
		label: one.status,
		text: count(one.count),
		parts: [{ value: one.count, tone: one.tone }],
	}));
	return figure(
		`Requests: ${count(total)}, ${count(refused)} refused`,
		bars.length ? barsOf("Requests by the status of their answer", bars, width) : teach("No request came yet."),
		numbers(
			"Requests by the status of their answer",
			[
				{
					name: "answered",
					cell: (one) =>
						h(
							"a",
							{
								href: here(["live"], {
									q: `kind:request status:${one.status === "no answer" ? '"no answer"' : one.status}`,
								}),
							},
							one.status,
						),
				},
				number("requests", (one) => count(one.count)),
			],
			all,
		),
		left_out > 0 && h("p", { class: "past" }, `the journal did not keep ${counted(left_out, "older request")}`),
	);
}
