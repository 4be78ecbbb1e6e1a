// The page's state of the simulator, which all elements read. It ends with the page.

import { get, path } from "./api.js";

export const store = {
	/** @type {Sandbox[]} */ sandboxes: [],
	/** @type {Sandbox | null} */ sandbox: null,
	/** @type {any} */ clock: null,
	/** When `clock` was read, by the browser's own clock. */
	clockReadAt: 0,
	/** @type {Connection} */ connection: "connecting",
};

/** @type {Map<string, Set<() => void>>} */
const watchers = new Map();
/** @type {Set<() => void>} */
const due = new Set();

/** @param {string} topic @param {() => void} then @returns {() => void} ends it */
export function watch(topic, then) {
	const all = watchers.get(topic) ?? new Set();
	watchers.set(topic, all.add(then));
	return () => {
		all.delete(then);
		due.delete(then);
	};
}

/** Notify all watchers of a topic before the next frame is drawn. @param {string} topic */
export function changed(topic) {
	const first = due.size === 0;
	for (const then of watchers.get(topic) ?? []) due.add(then);
	if (first && due.size) soon(tell);
}

/** A hidden page draws no frames, and must stay up to date. @param {() => void} then */
function soon(then) {
	if (document.hidden) setTimeout(then, 250);
	else requestAnimationFrame(then);
}

function tell() {
	const all = [...due];
	due.clear();
	for (const then of all) then();
}

/** @param {Connection} now */
export function setConnection(now) {
	store.connection = now;
	changed("connection");
}

/** Read the list of sandboxes again. */
export async function readSandboxes() {
	store.sandboxes = (await get("sandboxes")).sandboxes;
	changed("sandboxes");
}

/** Read where the clock of the sandbox stands. */
export async function readClock() {
	const { sandbox } = store;
	if (!sandbox) return;
	setClock(await get(path("sandboxes", sandbox.id, "clock")));
}

/** @param {any} clock */
export function setClock(clock) {
	store.clock = clock;
	store.clockReadAt = Date.now();
	changed("clock");
}

/** The sandbox's time now: a running clock advances between two readings. @returns {Date | null} */
export function sandboxNow() {
	if (!store.clock) return null;
	const { mode, now, rate } = store.clock;
	const passed = mode === "manual" ? 0 : (Date.now() - store.clockReadAt) * (rate ?? 1);
	return new Date(Date.parse(now) + passed);
}
