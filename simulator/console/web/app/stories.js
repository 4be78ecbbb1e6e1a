// Read a payment's story: the payment itself, its events, and its due items.

import { get } from "./api.js";
import { sandboxPath, place } from "./router.js";
import { everything } from "./stream.js";
import { thingsOf } from "./timeline-items.js";

const DUE_MAX = 1000;

/** @param {string} trxid @param {AbortSignal} signal @returns {Promise<Story>} Throws `Refused` for an unknown one. */
export async function storyOf(trxid, signal) {
	const [payment, { due }] = await Promise.all([
		get(sandboxPath("transactions", trxid), signal),
		get(`${sandboxPath("due")}?limit=${DUE_MAX}`, signal),
	]);
	const asked = { only: "callback,notification", refid: payment.refid };
	const events = payment.refid ? await everything(place.sandbox, signal, asked) : [];
	const isIts = (/** @type {any} */ one) => one.trxid === trxid;
	const things = thingsOf(payment, events.filter(isIts), due.filter(isIts));
	return { payment, things, start: Math.min(Date.parse(payment.created), ...things.map((one) => one.at)) };
}
