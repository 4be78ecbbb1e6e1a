// The base of what shows answers of the control API: they are read again after events that can change them, once for
// many events, and one reading at a time.

import { Refused } from "./api.js";
import { SimElement } from "./element.js";
import { log } from "./events.js";

/** The pause after an unanswered request. */
const AGAIN_MS = 2000;

export class Reading extends SimElement {
	every_ms = 300;
	seen = 0;
	timer = 0;
	isReading = false;
	isStale = false;

	/** Read now, after events that matter, and after a restart. @param {(row: Row) => boolean} matters @param {number} [every_ms] */
	refreshOn(matters, every_ms = 300) {
		this.every_ms = every_ms;
		this.seen = log.rows.at(-1)?.number ?? 0;
		this.watch("events", () => {
			const last = log.rows.at(-1)?.number ?? 0;
			const before = last < this.seen ? 0 : this.seen;
			this.seen = last;
			const fresh = log.rows.slice(log.rows.findLastIndex((row) => row.number <= before) + 1);
			if (fresh.some(matters)) this.soon();
		});
		this.watch("restarted", () => this.soon());
		this.now();
	}

	soon(after_ms = this.every_ms) {
		this.timer ||= setTimeout(() => {
			this.timer = 0;
			this.now();
		}, after_ms);
	}

	/** Read, and say in place what was refused. */
	async now() {
		if (this.isReading) {
			this.isStale = true;
			return;
		}
		this.isReading = true;
		try {
			const failure = await this.attempt(() => this.read());
			if (failure instanceof Refused && failure.status === 0 && this.isConnected) this.soon(AGAIN_MS);
		} finally {
			this.isReading = false;
			if (this.isStale && this.isConnected) this.soon();
			this.isStale = false;
		}
	}

	/** Query the control API, and draw. Each view overrides it. */
	async read() {}

	stop() {
		clearTimeout(this.timer);
		this.timer = 0;
	}
}

/** Rows of these kinds. @param {...string} kinds @returns {(row: Row) => boolean} */
export const ofKinds =
	(...kinds) =>
	(row) =>
		kinds.includes(row.kind);
