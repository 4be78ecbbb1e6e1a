// Actions on a sandbox's clock: advance it, stop an advance, change its mode. A refusal is thrown to the caller.

import { get, path, query } from "./api.js";
import { counted, dateTime } from "./format.js";
import { place } from "./router.js";
import { act } from "./action-log.js";
import { readClock, setClock, store } from "./store.js";

const clockPath = () => path("sandboxes", place.sandbox, "clock");
/** An advance that lasts longer than this shows its progress. */
const LONG_MS = 250;

/** @param {import("./until.js").Until} until */
export async function advance({ body, cli }) {
	const isLong = setTimeout(() => readClock().catch(() => {}), LONG_MS);
	try {
		await act({
			method: "POST",
			path: `${clockPath()}/advance`,
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
		path: `${clockPath()}/advance`,
		cli: ["clock", "stop"],
		says: (now) => `the advance is stopped at ${dateTime(now.now)}`,
	});
	setClock(clock);
}

/** A clock that stands does what is due at its time, which a running one does by itself. */
export function whatIsDue() {
	const isStanding = store.clock?.mode === "manual";
	return isStanding ? [{ method: "POST", path: `${clockPath()}/advance`, body: { seconds: 0 } }] : [];
}

/** @param {string} mode @param {string} rate as it is written; only of the mode xN */
export async function setMode(mode, rate) {
	const number = Number(rate);
	const body =
		mode === "xN" ? { mode, ...(rate.trim() && { rate: Number.isFinite(number) ? number : rate }) } : { mode };
	const clock = await act({
		method: "PUT",
		path: clockPath(),
		body,
		cli: mode !== "xN" ? ["clock", mode] : number > 0 ? ["clock", `x${number}`] : undefined,
		says: (now) => `the clock is ${modeOf(now)} now`,
	});
	setClock(clock);
}

/** The mode with its mark. @param {{ mode: string, rate: number }} clock */
export const modeOf = ({ mode, rate }) => (mode === "manual" ? "▮▮ manual" : mode === "real" ? "▶ real" : `▶ x${rate}`);

/** The due items in order. @param {number} limit @returns {Promise<{ due: any[], pending: number }>} */
export const readDue = (limit) => get(`${path("sandboxes", place.sandbox)}/due${query({ limit })}`);

/** Where a thing that is due can be looked at; empty for none. @param {any} one @returns {string[]} */
export function partsOf(one) {
	if (one.trxid) return ["payments", one.trxid];
	return one.kind === "webhook" && one.job ? ["webhooks", one.job] : [];
}
