// The events of a sandbox. Browsers allow six connections to an origin, so that one tab alone reads a stream: the one
// that was looked at last, which takes a lock from the others. All others poll, and so does every tab of a page that has
// no locks, which is one by plain HTTP from another machine.

import { Refused } from "./api.js";
import { bootOf, isLater, readEvents } from "./stream.js";

const LOCK = "reseller-sim event stream";
const HEARTBEAT_S = 5;
const POLL_MS = 1000;
const POLL_MAX_MS = 3000;

/** @typedef {{ onEvents: (events: any[]) => void, onState: (state: Connection) => void, onRestart: () => void }} Listener */

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
		this.hasLock = false;
		this.reading = new AbortController();
		this.wake = () => {};
	}

	get isOver() {
		return this.end.signal.aborted;
	}

	async run() {
		const { signal } = this.end;
		signal.addEventListener("abort", () => this.interrupt());
		document.addEventListener("visibilitychange", () => this.lead(), { signal });
		addEventListener("focus", () => this.lead(), { signal });
		await this.read({ timeout: 0 });
		this.lead();
		while (!this.isOver) {
			if (!this.hasLock || this.wait_ms > POLL_MS) await this.pause();
			if (!this.isOver) await this.read(this.hasLock ? { heartbeat: HEARTBEAT_S } : { timeout: 0 });
		}
	}

	/** The tab is looked at: it takes the stream. */
	async lead() {
		if (document.hidden || this.isOver || this.hasLock || !navigator.locks) return;
		this.hasLock = true;
		this.interrupt();
		const held = () => new Promise((then) => this.end.signal.addEventListener("abort", then));
		await navigator.locks.request(LOCK, { steal: true }, held).catch(() => {});
		this.hasLock = false;
		this.interrupt();
	}

	/** End a request or a pause, since another kind of request follows. */
	interrupt() {
		this.reading.abort();
		this.wake();
	}

	pause() {
		return new Promise((then) => {
			this.wake = () => then(undefined);
			setTimeout(then, this.wait_ms);
		});
	}

	/** Read what is new, and with a heartbeat what comes. @param {Record<string, any>} asked */
	async read(asked) {
		const { signal } = (this.reading = new AbortController());
		try {
			const where = this.seen ? { after: this.seen } : { last: this.last };
			const pieces = await readEvents(this.sandbox, { ...where, ...asked }, signal);
			this.listener.onState("live");
			this.wait_ms = POLL_MS;
			for await (const [id, events] of pieces) {
				this.take(id, events);
				if (signal.aborted) return;
			}
			if (asked.heartbeat) throw new Error("the stream ended");
		} catch (failure) {
			if (!signal.aborted) this.failed(failure);
		}
	}

	/** @param {unknown} failure */
	failed(failure) {
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
}
