// The events of the sandbox that is shown, as rows, newest last. The latest few come at once, the older ones behind them.

import { rowOf } from "./rows.js";
import { changed, readClock, store } from "./store.js";
import { everything, follow } from "./stream.js";

/** @typedef {import("./rows.js").Row} Row */

const FIRST = 200;
export const ROWS_MAX = 10_000;
const CLOCK_KINDS = new Set(["action", "status", "callback", "webhook"]);

/** @type {{ rows: Row[], dropped: number, isWhole: boolean }} rows as they came; `dropped` counts those that were let go at the front; `isWhole` once the older ones are there */
export const log = { rows: [], dropped: 0, isWhole: false };

let following = new AbortController();

/** Follow another sandbox, or none. @param {string} sandbox */
export function watchEvents(sandbox) {
	following.abort();
	following = new AbortController();
	Object.assign(log, { rows: [], dropped: 0, isWhole: false });
	changed("events");
	if (sandbox) follow(sandbox, FIRST, { onEvents: add, onState: state }, following.signal).catch(() => state("lost"));
	if (sandbox) idle(() => older(sandbox, following.signal));
}

/** @param {() => void} then */
const idle = (then) =>
	"requestIdleCallback" in window ? requestIdleCallback(then, { timeout: 2000 }) : setTimeout(then, 200);

/** @param {string} sandbox @param {AbortSignal} signal */
async function older(sandbox, signal) {
	const all = await everything(sandbox, signal).catch(() => []);
	if (signal.aborted) return;
	const first = log.rows[0]?.number ?? Infinity;
	log.rows = [...all.filter((event) => event.number < first).map(rowOf), ...log.rows];
	log.isWhole = true;
	changed("events");
}

/** Whether the history brought it already, which may come before the stream. @param {any} event */
function isKnown(event) {
	const last = log.rows.at(-1);
	if (!last || event.kind === "gap") return false;
	const [boot, serial] = event.id.split(".");
	const [lastBoot, lastSerial] = last.id.split(".");
	return boot === lastBoot && Number(serial) <= Number(lastSerial);
}

/** A server that was started again counts anew, and what it had before is gone. @param {any} event */
const bootOf = (event) => event.id.split(".")[0];

/** @param {any[]} events */
function add(events) {
	const [first] = log.rows;
	if (first && events.some((event) => bootOf(event) !== bootOf(first))) return changed("restarted");
	let restarted = false;
	for (const event of events) {
		if (isKnown(event)) continue;
		const row = rowOf(event);
		log.rows.push(row);
		if (event.kind === "action" && (event.action === "reset" || event.action === "deleted")) restarted = true;
	}
	if (log.rows.length > ROWS_MAX * 1.2) log.dropped += log.rows.splice(0, log.rows.length - ROWS_MAX).length;
	changed("events");
	if (restarted) changed("restarted");
	if (events.some((event) => CLOCK_KINDS.has(event.kind))) clockMoved();
}

let asked = false;

/** Read the clock again soon, once for all that comes meanwhile. */
function clockMoved() {
	if (asked) return;
	asked = true;
	setTimeout(() => {
		asked = false;
		readClock().catch(() => {});
	}, 100);
}

/** @param {import("./store.js").Connection} now */
function state(now) {
	const isBack = now === "live" && store.connection === "away";
	store.connection = now;
	changed("connection");
	if (isBack) changed("back");
}
