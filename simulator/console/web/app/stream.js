// Server-sent events by fetch, since EventSource can send no token.

import { Refused, ask, path, query } from "./api.js";

/** The life of the server that numbered an event. @param {string} id */
export const bootOf = (id) => id.split(".")[0];

/** Whether an event comes after another event of the same life of the server. @param {string} id @param {string} seen may be empty */
export const isLater = (id, seen) => Number(id.split(".")[1] ?? -1) > Number(seen.split(".")[1] ?? -1);

/**
 * The events of a sandbox, in groups, as they arrive.
 * @param {string} sandbox @param {Record<string, any>} asked the query @param {AbortSignal} signal
 * @returns {Promise<AsyncGenerator<[string, any[]]>>} the last id of each group, and its events. Throws `Refused`.
 */
export async function readEvents(sandbox, asked, signal) {
	const answer = await ask("GET", path("sandboxes", sandbox, "events") + query(asked), null, {}, signal);
	if (!answer.ok || !answer.body) throw new Refused(answer.status, {});
	return pieces(answer.body);
}

/** All events that are kept, oldest first. @param {string} sandbox @param {AbortSignal} signal @param {Record<string, any>} [asked] */
export async function everything(sandbox, signal, asked = {}) {
	/** @type {any[]} */
	const all = [];
	const found = await readEvents(sandbox, { after: "0", timeout: 0, ...asked }, signal);
	for await (const [, events] of found) all.push(...events);
	return all;
}

/** A batch of events: the last id, and the events. @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<[string, any[]]>} */
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
