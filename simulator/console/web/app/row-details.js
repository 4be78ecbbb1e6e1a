// More about a row: the exchange of a request, the message of an attempt and its answer.

import { get, pages } from "./api.js";
import { log } from "./events.js";
import { sandboxPath, place } from "./router.js";
import { readEvents } from "./stream.js";

/** @param {Row} row @param {AbortSignal} signal @returns {Promise<More>} Throws `Refused` where it is not there any more. */
export async function moreOf(row, signal) {
	const { kind, event } = row;
	if (kind === "request") return { exchange: await get(sandboxPath("requests", event.n), signal) };
	if (kind !== "callback" && kind !== "webhook") return {};
	const attempts = kind === "webhook" ? await ofDelivery(event, signal) : await ofCallback(row, signal);
	const numbered = (/** @type {number} */ n) => attempts.find((/** @type {any} */ one) => one.number === n) ?? null;
	const sent = await sentBy(row, signal);
	return { answer: numbered(event.attempt)?.body ?? "", before: numbered(event.attempt - 1), sent };
}

/** The attempts of the webhook. @param {any} event @param {AbortSignal} signal */
const ofDelivery = async (event, signal) => (await get(sandboxPath("deliveries", event.delivery), signal)).attempts;

/** The attempts of the callback. @param {Row} row @param {AbortSignal} signal */
async function ofCallback({ event, trxid }, signal) {
	const { callbacks } = await get(sandboxPath("transactions", trxid), signal);
	return callbacks.find((/** @type {any} */ one) => one.id === event.callback)?.attempts ?? [];
}

/** The message of an attempt, from its event; null when that was evicted. @param {Row} row @param {AbortSignal} signal */
async function sentBy(row, signal) {
	const { kind, event } = row;
	const asked = { only: kind, refid: kind === "callback" ? row.refid : "" };
	const test = (/** @type {any} */ one) =>
		one.attempt === event.attempt && (one.callback ?? one.delivery) === (event.callback ?? event.delivery);
	const at = log.rows.findIndex((one) => one.number === row.number);
	const after = at > 0 ? log.rows[at - 1].id : "0";
	const found = await readEvents(place.sandbox, { timeout: 0, ...asked, with: "bodies", after }, signal);
	for await (const [, events] of found) {
		const one = events.find(test);
		if (one) return one.sent;
	}
	return null;
}

/** The rule with this name, as the control API lists it. @param {string} name @returns {Promise<any>} null when it no longer exists */
export async function ruleOf(name) {
	for await (const { rules } of pages(sandboxPath("rules"), { limit: 1000 })) {
		const found = rules.find((/** @type {any} */ one) => one.name === name);
		if (found) return found;
	}
	return null;
}
