// Follows an inbox: one page of messages after the other, then a short request each second. Posts from outside make no
// event, so the stream of the sandbox does not have them. A request that waited would hold one of the six connections
// that all tabs share.

import { get, path, query, Refused } from "./api.js";
import { place } from "./router.js";

const PAGE = 200;
const KEPT_MAX = 5000;
const POLL_MS = 1000;
const AGAIN_MS = 2000;

/** The row of a message in a list; headers and body are read when it is opened. @param {any} one */
const brief = ({ n, at, method, status, kind, verified, refid, trxid, delivery, body }) => ({
	n,
	at,
	method,
	status,
	kind,
	verified,
	refid,
	trxid,
	delivery,
	size: body.length,
});

/** @typedef {ReturnType<typeof brief>} Brief @typedef {{ items: Brief[], url: string, leftOut: number }} Arrived `items` newest first */

/** @param {string} name @param {Record<string, any>} asked */
const inboxPath = (name, asked) => `${path("sandboxes", place.sandbox, "inbox", name)}${query(asked)}`;

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
	/** @type {Brief[]} */
	let items = [];
	let isAtEnd = false;
	while (!left.aborted) {
		try {
			const cursor = items[0]?.n ?? 0;
			if (isAtEnd) await pause(POLL_MS, left);
			const page = await get(inboxPath(name, { cursor, limit: PAGE }), left);
			if (left.aborted) return;
			isAtEnd = !page.has_more;
			// The numbers restart when a client clears the inbox.
			if (page.count + page.left_out < cursor) {
				items = [];
				isAtEnd = false;
				continue;
			}
			items = [...page.items.map(brief).reverse(), ...items].slice(0, KEPT_MAX);
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

/** One message whole, null when it is not kept any more. @param {string} name @param {number} n @returns {Promise<any>} */
export async function messageOf(name, n) {
	const { items } = await get(inboxPath(name, { cursor: n - 1, limit: 1 }));
	return items[0]?.n === n ? items[0] : null;
}
