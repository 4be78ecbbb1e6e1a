// Events as rows of the list: the event, its final state, its subject, its reason.

import { change, count, dateTime, money, time, took } from "./format.js";

/** The tone of each status; all others wait. @type {Record<string, Tone>} */
const STATUS_TONES = { Succesful: "good", Success: "good", Failed: "bad", Refund: "past", Refunded: "past" };

/** @param {string} status of a payment @returns {Tone} */
export const toneOf = (status) => STATUS_TONES[status] ?? "wait";

/** The mark of a tone, which says the same without colour. */
export const MARKS = { good: "●", bad: "✕", wait: "○", past: "·" };

/** The mark of a row: an attempt that was not taken is crossed even while another follows. @param {Row} row */
export const markOf = (row) => (row.refused && row.event.ending !== null ? MARKS.bad : MARKS[row.tone]);

/** @type {Map<string, string>} the products of payments, since requests do not name them */
const products = new Map();
const PRODUCTS_MAX = 20_000;

/** @param {any} event @returns {Row} */
export function rowOf(event) {
	if (event.product && event.trxid && products.size < PRODUCTS_MAX) products.set(event.trxid, event.product);
	const shown = (RENDER[event.kind] ?? other)(event);
	return {
		id: event.id,
		number: event.number,
		kind: event.kind,
		at: event.at ?? "",
		wall: event.wall ?? "",
		refid: event.refid ?? "",
		trxid: event.trxid ?? "",
		/** For a request, known after its payment's status. */
		get product() {
			return event.product ?? products.get(event.trxid) ?? "";
		},
		rule: event.rule || event.fault || "",
		state: "",
		tone: "past",
		text: "",
		refused: false,
		took: event.duration_us >= 0 ? took(event.duration_us) : "",
		event,
		...shown,
	};
}

/** Actions that are no person's. @type {Record<string, string>} */
const BY_THE_SIMULATOR = { held: "held", hold_ended: "hold ended", wall_set: "noticed", not_http: "refused" };

/** The action, its object and its extent. @param {any} one */
const actionText = (one) => (one.mode ? `to ${dateTime(one.at)}, ${one.mode}` : String(one.about ?? ""));

/** @type {Record<string, (event: any) => Partial<Row> & { what: string }>} */
const RENDER = {
	request: (one) => {
		const refused = one.status >= 400 || one.status === 0 || Boolean(one.error);
		return {
			what: `${one.method} ${one.path}${one.query ? `?${one.query}` : ""}`,
			state: one.status ? String(one.status) : "no answer",
			tone: refused ? "bad" : "good",
			refused,
			text: [one.error, one.diagnosis].filter(Boolean).join("   "),
		};
	},
	status: (one) => ({
		what: "status",
		state: one.status,
		tone: toneOf(one.status),
		text: [one.status === "Failed" ? `code ${one.status_code}` : "", one.cause === "creation" ? "" : `by ${one.cause}`]
			.filter(Boolean)
			.join(", "),
	}),
	entry: (one) => ({
		what: "wallet",
		state: change(one.entry.amount),
		tone: "past",
		text: `${one.entry.type.toLowerCase()}, balance ${money(one.entry.balance)}   ${one.entry.remarks}`,
	}),
	callback: (one) => attempt(one, `callback ${one.status}`),
	webhook: (one) => attempt(one, `webhook ${one.type}`),
	notification: (one) => ({
		what: "alert",
		state: "e-mail",
		tone: "wait",
		text: one.notification?.subject ?? one.notification?.kind ?? "",
	}),
	action: (one) => ({
		what: BY_THE_SIMULATOR[one.action] ?? `you: ${one.action.replaceAll("_", " ")}`,
		tone: "past",
		text: actionText(one),
	}),
	case: (one) => ({
		what: one.what,
		state: one.is_due ? "due" : one.state,
		tone: one.is_due ? "wait" : one.state === "Failed" ? "bad" : "past",
		text: one.message ?? "",
	}),
	due: (one) => ({ what: one.about, state: "due", tone: "wait", text: "" }),
	gap: (one) => ({
		what: "gap",
		tone: "wait",
		text:
			one.missing === null
				? "some events are missing here"
				: `${count(one.missing)} events are missing here: they were evicted before they were read`,
	}),
};

/** Without `next_due` it is not known whether another attempt follows. @param {any} one @param {string} what @returns {Partial<Row> & { what: string }} */
function attempt(one, what) {
	const ok = one.answered >= 200 && one.answered < 300;
	const retry = one.next_due ? `retry at ${time(one.next_due)}` : "";
	const last = !ok && one.next_due === null && one.ending ? "given up" : "";
	return {
		what: `${what}, ${one.attempt}${one.attempts_max ? ` of ${one.attempts_max}` : ""}`,
		state: one.answered ? String(one.answered) : (one.ending ?? "in progress"),
		tone: ok ? "good" : one.next_due !== null || !one.ending ? "wait" : "bad",
		refused: !ok,
		text: [`→ ${one.url}`, one.error, retry, last].filter(Boolean).join("   "),
	};
}

/** @param {any} one @returns {Partial<Row> & { what: string }} */
const other = (one) => ({ what: String(one.kind), text: "" });
