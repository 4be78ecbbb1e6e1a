// More about a row: the exchange of a request, the message of an attempt and its answer.

import { get, pages } from "./api.js";
import { log } from "./events.js";
import { sandboxPath, place } from "./router.js";
import { readEvents } from "./stream.js";

/** @param {Row} row @param {AbortSignal} signal @returns {Promise<More>} Throws `Refused` where it is not there any more. */
export async function moreOf(row, signal) {
	const { event } = row;
	if (row.kind === "request") return { exchange: await get(sandboxPath("requests", event.n), signal) };
	if (row.kind === "callback") return callback(row, signal);
	if (row.kind !== "webhook") return {};
	const delivery = await get(sandboxPath("deliveries", event.delivery), signal);
	const tried = delivery.attempts.find((/** @type {any} */ one) => one.number === event.attempt);
	const sent = await sentBy(row, { only: "webhook" }, signal);
	return { delivery, answer: tried?.body ?? "", before: previous(delivery.attempts, event), sent };
}

/** @param {Row} row @param {AbortSignal} signal @returns {Promise<More>} */
async function callback(row, signal) {
	const { event } = row;
	const story = await get(sandboxPath("transactions", row.trxid), signal);
	const job = story.callbacks.find((/** @type {any} */ one) => one.id === event.callback);
	const tried = job?.attempts.find((/** @type {any} */ one) => one.number === event.attempt);
	const sent = await sentBy(row, { only: "callback", refid: row.refid }, signal);
	return { answer: tried?.body ?? "", before: previous(job?.attempts ?? [], event), sent };
}

/** @param {any[]} attempts @param {any} event */
const previous = (attempts, event) => attempts.find((one) => one.number === event.attempt - 1) ?? null;

/** @param {Row} row @param {Record<string, string>} asked @param {AbortSignal} signal */
async function sentBy(row, asked, signal) {
	const { event } = row;
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
