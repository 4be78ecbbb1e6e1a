// A payment's story as items on a timeline, each in its lane: several lists of the control API in a single order.

import { change } from "./format.js";
import { markOf, rowOf } from "./rows.js";

/** The lanes, from above. @type {Lane[]} */
export const LANES = ["request", "status", "wallet", "callback", "case", "alert"];

const DUE = "◌";
const LABEL_CHARS = 26;

/** How an event of the sandbox is called in the address of its payment's story. @param {any} event */
export function thingId(event) {
	if (event.kind === "request") return `request-${event.n}`;
	if (event.kind === "status") return `status-${event.status}`;
	if (event.kind === "entry") return `wallet-${event.entry.id}`;
	if (event.kind === "callback") return `callback-${event.callback}-${event.attempt}`;
	if (event.kind === "notification") return `alert-${event.notification.n}`;
	return "";
}

/**
 * All items of a payment, oldest first, then its due items.
 * @param {any} story @param {any[]} events of its callbacks and e-mails, with more facts than the story
 * @param {any[]} due what the agenda holds for it
 * @returns {Thing[]}
 */
export function thingsOf(story, events, due) {
	const { refid, trxid, product, rule, reseller } = story;
	const about = { refid, trxid, product, reseller };
	const things = [
		...story.requests.map((/** @type {any} */ one) => thing("request", { ...one, kind: "request" })),
		...story.statuses.map((/** @type {any} */ one) => thing("status", { ...about, rule, ...one, kind: "status" })),
		...story.entries.map((/** @type {any} */ entry) =>
			thing("wallet", { ...about, at: entry.at, entry, kind: "entry" }),
		),
		...attempts(story, events).map((/** @type {any} */ one) => thing("callback", { ...about, rule, ...one })),
		...story.cases.flatMap((/** @type {any} */ one) => caseThings({ ...about, ...one, rule: one.rule })),
		...events.filter((one) => one.kind === "notification").map((one) => thing("alert", one)),
		...due.map((one, at) => dueThing(one, at, about)),
	];
	return unlike(things.sort((a, b) => Number(a.isDue) - Number(b.isDue) || a.at - b.at || lane(a) - lane(b)));
}

/** @param {Thing} one */
const lane = (one) => LANES.indexOf(one.lane);

/** @param {Lane} lane @param {any} event @returns {Thing} */
function thing(lane, event) {
	const row = rowOf(event);
	const at = Date.parse(event.at);
	const label = LABELS[lane](event, row);
	return {
		id: thingId(event),
		lane,
		at,
		end: at + waited(event),
		label: label.length > LABEL_CHARS ? `${label.slice(0, LABEL_CHARS)}…` : label,
		mark: lane === "wallet" ? "▪" : markOf(row),
		isDue: false,
		row,
	};
}

/** @type {Record<Lane, (event: any, row: Row) => string>} */
const LABELS = {
	request: (event, row) =>
		`${event.method === "POST" ? "" : `${event.method} `}${event.path.split("/").at(-1)} ${row.state}`,
	status: (event) => event.status,
	wallet: (event) => change(event.entry.amount),
	callback: (event, row) => (event.ending === "timeout" ? "time-out" : row.state),
	case: (event) => `${event.what} ${event.state}`,
	alert: (event) => event.notification.kind.replaceAll("_", " "),
};

/** How long an attempt waited for an answer that did not come, in milliseconds; 0 when the server has not kept it. @param {any} event */
const waited = (event) => (event.ending === "timeout" ? Math.max(0, event.duration_us ?? 0) / 1000 : 0);

/** @param {any} story @param {any[]} events */
function attempts(story, events) {
	const known = new Map(events.filter((one) => one.kind === "callback").map((one) => [thingId(one), one]));
	return story.callbacks.flatMap((/** @type {any} */ callback) =>
		callback.attempts.map((/** @type {any} */ tried) => {
			const event = {
				kind: "callback",
				at: tried.at,
				callback: callback.id,
				copy: callback.copy,
				status: callback.payment_status,
				method: callback.method,
				url: callback.url,
				attempt: tried.number,
				ending: tried.ending,
				answered: tried.status,
				error: tried.error,
				next_due: followed(callback, tried),
			};
			const told = known.get(thingId(event));
			return { ...event, ...told, at: tried.at };
		}),
	);
}

/** When the next attempt was made; null where none follows, undefined where only the attempt's event knew it. @param {any} callback @param {any} tried */
function followed({ attempts: all, state }, tried) {
	const next = all.find((/** @type {any} */ one) => one.number === tried.number + 1);
	if (next) return next.at;
	return state === "delivered" || state === "failed" ? null : undefined;
}

/** A void or dispute is opened, and ends. @param {any} one @returns {Thing[]} */
function caseThings(one) {
	const opened = thing("case", {
		...one,
		kind: "case",
		what: one.kind,
		state: one.status === "Success" ? "accepted" : "Failed",
	});
	opened.id = `case-${one.id}`;
	if (!one.ended || one.ended === one.at) return [opened];
	const ended = thing("case", { ...one, kind: "case", at: one.ended, what: one.kind });
	return [opened, { ...ended, id: `case-${one.id}-ended` }];
}

/** @param {any} one @param {number} at @param {any} about @returns {Thing} */
function dueThing(one, at, about) {
	const row = rowOf({ ...about, ...one, kind: "due", what: one.kind });
	/** @type {Record<string, Lane>} */
	const lanes = { status: "status", callback: "callback", case: "case" };
	const label = one.kind === "status" ? one.about.split(" becomes ").at(-1).slice(0, LABEL_CHARS) : one.kind;
	const moment = Date.parse(one.at);
	return {
		id: `due-${at + 1}`,
		lane: lanes[one.kind] ?? "alert",
		at: moment,
		end: moment,
		label: `${label} (due)`,
		mark: DUE,
		isDue: true,
		row,
	};
}

/** Distinguish two statuses of the same name. @param {Thing[]} things */
function unlike(things) {
	/** @type {Map<string, number>} */
	const seen = new Map();
	for (const one of things) {
		const times = (seen.get(one.id) ?? 0) + 1;
		seen.set(one.id, times);
		if (times > 1) one.id = `${one.id}-${times}`;
	}
	return things;
}
