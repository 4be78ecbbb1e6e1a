// The events of the sandbox that is shown, as rows, newest last. The latest few come at once, older events follow.

import { follow } from "./event-feed.js";
import { rowOf } from "./rows.js";
import { changed, readClock, setConnection } from "./store.js";
import { bootOf, everything, isLater } from "./stream.js";

const FIRST = 200;
export const ROWS_MAX = 10_000;
const CLOCK_KINDS = new Set(["action", "status", "callback", "webhook"]);

/** @type {{ rows: Row[], dropped: number, isWhole: boolean }} `isWhole` once the history is loaded; rows in order of arrival; `dropped` rows were evicted at the front, so that `dropped + rows.length` keeps counting */
export const log = { rows: [], dropped: 0, isWhole: false };

let following = new AbortController();

// A page that is left may be kept by the browser, for its back button: it keeps no connection, and begins again.
addEventListener("pagehide", () => following.abort());
addEventListener("pageshow", (event) => event.persisted && changed("restarted"));

/** Follow another sandbox, or none. @param {string} sandbox */
export function watchEvents(sandbox) {
	following.abort();
	following = new AbortController();
	log.dropped += log.rows.length;
	log.rows = [];
	log.isWhole = false;
	changed("events");
	const { signal } = following;
	const onState = (/** @type {Connection} */ now) => signal.aborted || setConnection(now);
	// Numbers restart with each life of the server: old rows are dropped, and the views read again.
	const onRestart = () => changed("restarted");
	let isFirst = true;
	const onEvents = (/** @type {any[]} */ events) => {
		add(events);
		// The history waits until the latest rows are drawn, which the same core may have to answer and to draw.
		if (isFirst) requestAnimationFrame(() => idle(() => older(sandbox, signal)));
		isFirst = false;
	};
	if (sandbox) follow(sandbox, FIRST, { onEvents, onState, onRestart }, signal).catch(() => onState("away"));
}

/** @param {() => void} then */
const idle = (then) =>
	"requestIdleCallback" in window ? requestIdleCallback(then, { timeout: 2000 }) : setTimeout(then, 200);

/** @param {string} sandbox @param {AbortSignal} signal */
async function older(sandbox, signal) {
	const all = await everything(sandbox, signal).catch(() => []);
	if (signal.aborted) return;
	const first = log.rows[0];
	const isOlder = (/** @type {any} */ event) =>
		!first || (event.number < first.number && bootOf(event.id) === bootOf(first.id));
	const before = all.filter(isOlder).map(rowOf);
	log.rows = [...before, ...log.rows];
	log.dropped -= before.length;
	log.isWhole = true;
	changed("events");
}

/** Whether the history brought it already, which may come before the stream. @param {any} event */
function isKnown(event) {
	const last = log.rows.at(-1);
	if (!last || event.kind === "gap") return false;
	return bootOf(event.id) === bootOf(last.id) && !isLater(event.id, last.id);
}

/** @param {any[]} events */
function add(events) {
	let restarted = false;
	for (const event of events) {
		if (isKnown(event)) continue;
		const row = rowOf(event);
		const isAnew = event.action === "reset" || event.action === "rewound";
		const isEnd = event.action === "deleted" || (isAnew && log.rows.length > 0);
		if (event.kind === "action" && isEnd) restarted = true;
		log.rows.push(row);
	}
	if (log.rows.length > ROWS_MAX * 1.2) log.dropped += log.rows.splice(0, log.rows.length - ROWS_MAX).length;
	changed("events");
	if (restarted) changed("restarted");
	if (events.some((event) => CLOCK_KINDS.has(event.kind))) clockMoved();
}

const CLOCK_SOON_MS = 100;
const CLOCK_EVERY_MS = 1000;
let isAsked = false;
let askedAt = -CLOCK_EVERY_MS;

/** Read the clock again soon, once for all that comes meanwhile, and once a second while much happens. */
function clockMoved() {
	if (isAsked) return;
	isAsked = true;
	setTimeout(
		() => {
			isAsked = false;
			askedAt = performance.now();
			readClock().catch(() => {});
		},
		Math.max(CLOCK_SOON_MS, askedAt + CLOCK_EVERY_MS - performance.now()),
	);
}
