// Server-sent events by fetch, since EventSource can send no token. It resumes where it was, and waits longer each time.

import { Refused, ask, query } from "./api.js";
import { store } from "./store.js";

const WAIT_MAX_MS = 3000;

/**
 * @typedef {{ onEvents: (events: any[]) => void, onState: (state: import("./store.js").Connection) => void, onRestart: () => void }} Listener
 */

/** The life of the server that numbered an event. @param {string} id */
export const bootOf = (id) => id.split(".")[0];

/**
 * Follow the events of a sandbox, the `last` ones first, until `signal` is aborted. Events come in groups, as they arrived.
 * It ends where the server was started anew, and where there is no such sandbox any more.
 * @param {string} sandbox @param {number} last @param {Listener} listener @param {AbortSignal} signal
 */
export async function follow(sandbox, last, listener, signal) {
	let seen = "";
	for (let wait_ms = 250; !signal.aborted; wait_ms = Math.min(wait_ms * 2, WAIT_MAX_MS)) {
		try {
			const where = `sandboxes/${encodeURIComponent(sandbox)}/events${query(seen ? { after: seen } : { last })}`;
			const answer = await ask("GET", where, null, {}, signal);
			if (!answer.ok || !answer.body) throw new Refused(answer.status, {});
			listener.onState("live");
			for await (const [id, events] of pieces(answer.body)) {
				wait_ms = 250;
				if (seen && id && bootOf(id) !== bootOf(seen)) return listener.onRestart();
				seen = id || seen;
				if (events.length) listener.onEvents(events);
			}
		} catch (failure) {
			if (signal.aborted) return;
			const status = failure instanceof Refused ? failure.status : -1;
			if (status === 404) return listener.onState("gone");
			listener.onState(status === 0 ? "away" : "connecting");
		}
		if (store.connection === "live") listener.onState("connecting");
		await new Promise((then) => setTimeout(then, wait_ms));
	}
}

/** All events that are kept, oldest first. @param {string} sandbox @param {AbortSignal} signal @param {Record<string, any>} [asked] @returns {Promise<any[]>} */
export async function everything(sandbox, signal, asked = {}) {
	const where = `sandboxes/${encodeURIComponent(sandbox)}/events${query({ after: "0", timeout: 0, ...asked })}`;
	const answer = await ask("GET", where, null, {}, signal);
	if (!answer.ok || !answer.body) return [];
	const all = [];
	for await (const [, events] of pieces(answer.body)) all.push(...events);
	return all;
}

/**
 * The first of the events that are kept for which `test` holds, read no further than to it.
 * @param {string} sandbox @param {Record<string, any>} asked the query @param {(event: any) => boolean} test @param {AbortSignal} signal
 * @returns {Promise<any>} null when there is none, or none any more
 */
export async function findEvent(sandbox, asked, test, signal) {
	const where = `sandboxes/${encodeURIComponent(sandbox)}/events${query({ after: "0", timeout: 0, ...asked })}`;
	const answer = await ask("GET", where, null, {}, signal);
	if (!answer.ok || !answer.body) return null;
	for await (const [, events] of pieces(answer.body)) {
		const found = events.find(test);
		if (found) return found;
	}
	return null;
}

/** What arrived together: the last id, and the events. @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<[string, any[]]>} */
async function* pieces(body) {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
			rest = blocks.pop() ?? "";
			yield together(blocks);
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

/** @param {string[]} blocks @returns {[string, any[]]} */
function together(blocks) {
	let id = "";
	const events = [];
	for (const block of blocks) {
		let data = "";
		for (const line of block.split("\n")) {
			if (line.startsWith("id: ")) id = line.slice(4);
			else if (line.startsWith("data: ")) data += line.slice(6);
		}
		if (data) events.push(JSON.parse(data));
	}
	return [id, events];
}
