// Follows an inbox: one page of messages after the other, then a short request each second. Posts from outside make no
// event, so the stream of the sandbox does not have them. A request that waited would hold one of the six connections
// that all tabs share.

import { get, query, Refused } from "./api.js";
import { sandboxPath } from "./router.js";

const PAGE = 200;
const KEPT_MAX = 5000;
const POLL_MS = 1000;
const AGAIN_MS = 2000;

/** @typedef {{ items: any[], url: string, leftOut: number }} Arrived `items` newest first */

/**
 * Tell of all messages of an inbox and of each that comes, until `ended` is called. One request at a time.
 * @param {string} name @param {(arrived: Arrived) => void} then @param {(failure: Refused) => void} refused
 * @returns {() => void} ends it
 */
export function followInbox(name, then, refused) {
	const leaving = new AbortController();
	run(name, then, refused, leaving.signal).catch((failure) => {
		if (!leaving.signal.aborted) throw failure;
	});
	return () => leaving.abort();
}

/** @param {string} name @param {(arrived: Arrived) => void} then @param {(failure: Refused) => void} refused @param {AbortSignal} left */
async function run(name, then, refused, left) {
	/** @type {any[]} without bodies, which are read when a message is opened */
	let items = [];
	let isAtEnd = false;
	while (!left.aborted) {
		try {
			const cursor = items[0]?.n ?? 0;
			if (isAtEnd) await pause(POLL_MS, left);
			const page = await get(sandboxPath("inbox", name) + query({ cursor, limit: PAGE }), left);
			if (left.aborted) return;
			isAtEnd = !page.has_more;
			// The numbers restart when a client clears the inbox.
			if (page.count + page.left_out < cursor) {
				items = [];
				isAtEnd = false;
				continue;
			}
			items = [
				...page.items.map((/** @type {any} */ one) => ({ ...one, body: "", headers: [] })).reverse(),
				...items,
			].slice(0, KEPT_MAX);
			then({ items, url: page.url, leftOut: page.left_out });
		} catch (failure) {
			if (!(failure instanceof Refused)) throw failure;
			refused(failure);
			await pause(AGAIN_MS, left);
		}
	}
}

/** @param {number} ms @param {AbortSignal} left */
const pause = (ms, left) =>
	new Promise((then) => {
		const end = () => {
			clearTimeout(timer);
			left.removeEventListener("abort", end);
			then(undefined);
		};
		const timer = setTimeout(end, ms);
		left.addEventListener("abort", end);
	});
