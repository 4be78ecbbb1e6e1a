// The events of a sandbox by a single stream for all tabs, since browsers allow six connections to an origin. The tab that
// holds a lock reads the stream and shares it with the tabs of the same sandbox over a BroadcastChannel. Other tabs
// poll, and so does every tab of a page that has no locks, which is one by plain HTTP from another machine. A tab that
// is looked at takes the lock when the stream is of another sandbox.

import { Refused, channelName } from "./api.js";
import { bootOf, isLater, readEvents } from "./stream.js";

const LOCK = "reseller-sim event stream";
const HEARTBEAT_S = 5;
/** After so long without a heartbeat the tab that shares the stream is frozen or gone. */
const SILENCE_MS = 3 * HEARTBEAT_S * 1000;
const POLL_MS = 1000;
const POLL_MAX_MS = 3000;
/** How long a new tab waits for the tab that shares the stream. */
const GREETING_MS = 300;

/**
 * @typedef {{ onEvents: (events: any[]) => void, onState: (state: import("./store.js").Connection) => void, onRestart: () => void }} Listener
 * @typedef {{ kind: "who" | "leads" | "ended" } | { kind: "events", id: string, events: any[] }} Message between tabs
 */

/**
 * Follow the events of a sandbox, the `last` ones first, until `signal` is aborted. It ends where the server was
 * started again, and where there is no such sandbox.
 * @param {string} sandbox @param {number} last @param {Listener} listener @param {AbortSignal} signal
 */
export function follow(sandbox, last, listener, signal) {
	return new EventFeed(sandbox, last, listener, signal).run();
}

class EventFeed {
	/** @param {string} sandbox @param {number} last @param {Listener} listener @param {AbortSignal} signal */
	constructor(sandbox, last, listener, signal) {
		this.sandbox = sandbox;
		this.last = last;
		this.listener = listener;
		this.end = new AbortController();
		signal.addEventListener("abort", () => this.end.abort());
		/** The id of the latest event that was taken. */
		this.seen = "";
		this.wait_ms = POLL_MS;
		this.isStreaming = false;
		/** When the tab that shares the stream was heard last. */
		this.heardAt = -SILENCE_MS;
		/** Whether events may be missing before the next message of that tab. */
		this.isBehind = true;
		this.isPolling = false;
		/** @type {Message[]} that came while it was catching up or polling */
		this.held = [];
		this.polling = Promise.resolve(true);
		this.wake = () => {};
		this.lockWait = new AbortController();
		this.isUrgent = false;
		/** @type {BroadcastChannel | null} */
		this.channel = null;
	}

	get isOver() {
		return this.end.signal.aborted;
	}

	/** Whether another tab shares the stream of this sandbox. */
	get hasLeader() {
		return performance.now() - this.heardAt < SILENCE_MS;
	}

	async run() {
		const { signal } = this.end;
		signal.addEventListener("abort", () => this.close());
		document.addEventListener("visibilitychange", () => this.looked(), { signal });
		addEventListener("focus", () => this.looked(), { signal });
		let isFirst = true;
		while (!this.isOver) {
			let pollsAgain = false;
			if (!this.isStreaming && (this.isBehind || !this.hasLeader)) {
				this.polling = this.poll();
				pollsAgain = (await this.polling) && this.isBehind;
			}
			if (isFirst && !this.isOver) this.begin();
			isFirst = false;
			if (!pollsAgain) await this.pause(this.wait_ms);
		}
	}

	/** Compete for the lock; take it when no tab has greeted. */
	begin() {
		if (!("locks" in navigator) || !navigator.locks) return;
		this.compete();
		setTimeout(() => this.looked(), GREETING_MS);
	}

	/** @param {number} ms */
	pause(ms) {
		return new Promise((then) => {
			this.wake = () => then(undefined);
			setTimeout(then, ms);
		});
	}

	close() {
		this.lockWait.abort();
		if (this.isStreaming) this.send({ kind: "ended" });
		this.channel?.close();
		this.channel = null;
		this.wake();
	}

	/** Read what is new by a short request. @returns {Promise<boolean>} whether it was answered */
	async poll() {
		this.isBehind = false;
		this.isPolling = true;
		try {
			await this.read({ timeout: 0 }, this.end.signal);
		} catch (failure) {
			this.failed(failure);
			return false;
		} finally {
			this.isPolling = false;
		}
		this.wait_ms = POLL_MS;
		if (!this.isBehind) for (const message of this.held.splice(0)) this.takeMessage(message);
		return true;
	}

	/** @param {Record<string, any>} asked @param {AbortSignal} signal @param {() => void} [begun] @param {(id: string, events: any[]) => void} [share] */
	async read(asked, signal, begun = () => {}, share = () => {}) {
		const where = this.seen ? { after: this.seen } : { last: this.last };
		const pieces = await readEvents(this.sandbox, { ...where, ...asked }, signal);
		this.listener.onState("live");
		this.openChannel();
		begun();
		for await (const [id, events] of pieces) {
			share(id, events);
			this.take(id, events);
			if (this.isOver) return;
		}
	}

	/** @param {unknown} failure */
	failed(failure) {
		if (this.isOver) return;
		this.forgetLeader();
		this.isBehind = true;
		this.wait_ms = Math.min(this.wait_ms * 2, POLL_MAX_MS);
		const status = failure instanceof Refused ? failure.status : -1;
		this.listener.onState(status === 404 ? "gone" : status === 0 ? "away" : "connecting");
		if (status === 404) this.end.abort();
	}

	/** @param {string} id of the last event @param {any[]} events with possible repetitions */
	take(id, events) {
		if (this.isOver) return;
		if (this.seen && id && bootOf(id) !== bootOf(this.seen)) {
			this.end.abort();
			return this.listener.onRestart();
		}
		const fresh = events.filter((event) => isLater(event.id, this.seen));
		if (isLater(id, this.seen)) this.seen = id;
		if (fresh.length) this.listener.onEvents(fresh);
	}

	/** Join the tabs of the same sandbox and token, once the server has taken the token. */
	openChannel() {
		const name = channelName(this.sandbox);
		if (this.channel?.name === name || this.isOver) return;
		this.channel?.close();
		this.channel = new BroadcastChannel(name);
		this.channel.onmessage = (event) => this.receive(event.data);
		this.forgetLeader();
		this.send({ kind: "who" });
	}

	/** @param {Message} message */
	send(message) {
		this.channel?.postMessage(message);
	}

	/** @param {Message} message */
	receive(message) {
		if (message.kind === "who") {
			if (this.isStreaming) this.send({ kind: "leads" });
			return;
		}
		if (this.isStreaming) return;
		if (message.kind === "ended") {
			this.forgetLeader();
			return this.wake();
		}
		// Events that came before the first message of the tab that shares the stream are read by another poll.
		if (!this.hasLeader) {
			this.isBehind = true;
			this.wake();
		}
		this.heardAt = performance.now();
		if (this.isBehind || this.isPolling) this.held.push(message);
		else this.takeMessage(message);
	}

	forgetLeader() {
		this.heardAt = -SILENCE_MS;
		this.held = [];
	}

	/** @param {Message} message */
	takeMessage(message) {
		if (message.kind === "events") this.take(message.id, message.events);
	}

	/** The tab is looked at: it takes the stream, unless it has its events already. */
	looked() {
		if (document.hidden || this.isOver) return;
		this.wake();
		if (this.isStreaming || this.hasLeader) return;
		this.isUrgent = true;
		this.lockWait.abort();
	}

	async compete() {
		while (!this.isOver) {
			this.lockWait = new AbortController();
			const options = this.isUrgent ? { steal: true } : { signal: this.lockWait.signal };
			this.isUrgent = false;
			await this.lead(options);
			if (!this.isUrgent) await new Promise((then) => setTimeout(then, this.wait_ms));
		}
	}

	/** Wait for the lock, and read the stream until it ends or another tab takes the lock. @param {LockOptions} options */
	async lead(options) {
		const stream = new AbortController();
		this.end.signal.addEventListener("abort", () => stream.abort(), { signal: stream.signal });
		try {
			await navigator.locks.request(LOCK, options, () => this.stream(stream.signal));
		} catch (failure) {
			if (!(failure instanceof DOMException)) throw failure;
		} finally {
			stream.abort();
		}
	}

	/** @param {AbortSignal} signal */
	async stream(signal) {
		await this.polling;
		if (signal.aborted) return;
		this.isStreaming = true;
		this.isBehind = false;
		this.forgetLeader();
		try {
			await this.read(
				{ heartbeat: HEARTBEAT_S },
				signal,
				() => this.send({ kind: "leads" }),
				(id, events) => this.send({ kind: "events", id, events }),
			);
			this.listener.onState("connecting");
		} catch (failure) {
			if (!signal.aborted) this.failed(failure);
		} finally {
			this.isStreaming = false;
			this.send({ kind: "ended" });
			this.wake();
		}
	}
}
