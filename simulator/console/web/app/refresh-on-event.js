// Refresh an element after events that change its content: once for all events within a short time.

import { log } from "./events.js";

const QUIET_MS = 300;

/**
 * @param {import("./element.js").SimElement} element @param {(row: import("./rows.js").Row) => boolean} matters
 * @param {() => void} then called at once, after rows that matter, and when the sandbox restarts
 */
export function whenItMatters(element, matters, then) {
	let seen = log.rows.at(-1)?.number ?? 0;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let waiting;
	const soon = () => {
		waiting ??= setTimeout(() => {
			waiting = undefined;
			then();
		}, QUIET_MS);
	};
	const look = () => {
		const last = log.rows.at(-1)?.number ?? 0;
		if (last < seen) seen = 0;
		for (let at = log.rows.length - 1; at >= 0 && log.rows[at].number > seen; at--)
			if (matters(log.rows[at])) {
				soon();
				break;
			}
		seen = last;
	};
	element.watch("events", look);
	element.watch("restarted", soon);
	element.ends.push(() => clearTimeout(waiting));
	then();
}
