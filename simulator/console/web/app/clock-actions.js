// Actions on a sandbox's clock: advance it, stop an advance, change its mode. A refusal is thrown to the caller.

import { get, query } from "./api.js";
import { h } from "./dom.js";
import { counted, dateTime } from "./format.js";
import { here, sandboxPath } from "./router.js";
import { short } from "./safe-text.js";
import { act } from "./action-log.js";
import { readClock, setClock, store } from "./store.js";

/** An advance that lasts longer than this shows its progress. */
const LONG_MS = 250;

/** @param {Until} until */
export async function advance({ body, cli }) {
	const isLong = setTimeout(() => readClock().catch(() => {}), LONG_MS);
	try {
		await act({
			method: "POST",
			path: sandboxPath("clock", "advance"),
			body,
			cli: ["advance", ...cli],
			says: (done) =>
				`${done.stopped ? "stopped at" : "advanced to"} ${dateTime(done.now)}, ` +
				`${counted(done.fired.length + done.left_out, "event")}${done.reason && !done.stopped ? `; ${done.reason}` : ""}`,
		});
	} finally {
		clearTimeout(isLong);
		await readClock().catch(() => {});
	}
}

/** End the running advance of any client. */
export async function stopAdvance() {
	const clock = await act({
		method: "DELETE",
		path: sandboxPath("clock", "advance"),
		cli: ["clock", "stop"],
		says: (now) => `the advance is stopped at ${dateTime(now.now)}`,
	});
	setClock(clock);
}

/** A clock that stands does what is due at its time, which a running one does by itself. */
export function whatIsDue() {
	const isStanding = store.clock?.mode === "manual";
	return isStanding ? [{ method: "POST", path: sandboxPath("clock", "advance"), body: { seconds: 0 } }] : [];
}

/** @param {string} mode @param {string} rate as it is written; only of the mode xN */
export async function setMode(mode, rate) {
	const number = Number(rate);
	const body =
		mode === "xN" ? { mode, ...(rate.trim() && { rate: Number.isFinite(number) ? number : rate }) } : { mode };
	const clock = await act({
		method: "PUT",
		path: sandboxPath("clock"),
		body,
		cli: mode !== "xN" ? ["clock", mode] : number > 0 ? ["clock", `x${number}`] : undefined,
		says: (now) => `the clock is ${modeOf(now)} now`,
	});
	setClock(clock);
}

/** The mode with its mark. @param {{ mode: string, rate: number }} clock */
export const modeOf = ({ mode, rate }) => (mode === "manual" ? "▮▮ manual" : mode === "real" ? "▶ real" : `▶ x${rate}`);

/** The due items in order. @param {number} limit @returns {Promise<{ due: any[], pending: number }>} */
export const readDue = (limit) => get(sandboxPath("due") + query({ limit }));

/** What is due, as a link to where it can be looked at. @param {any} one @param {number} chars_max */
export function what({ kind, trxid, job, about }, chars_max) {
	const text = short(about, chars_max);
	if (trxid) return h("a", { href: here(["payments", trxid]) }, text);
	return kind === "webhook" && job ? h("a", { href: here(["webhooks"], { at: job }) }, text) : text;
}
