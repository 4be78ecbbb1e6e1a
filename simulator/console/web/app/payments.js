// The payments of the sandbox, newest first: read in pages, and updated by events.

import { get, query } from "./api.js";
import { log } from "./events.js";
import { sandboxPath } from "./router.js";

const FIRST = 200;
const PAGE = 1000;
const KEPT_MAX = 10_000;

/** The words of the filter. @type {Record<string, (one: any) => string>} */
export const PAYMENT_WORDS = {
	refid: (one) => one.refid,
	trxid: (one) => one.trxid,
	status: (one) => one.status,
	product: (one) => one.product,
	reseller: (one) => one.reseller,
	rule: (one) => one.rule,
	account: (one) => one.account,
};

export const paymentTexts = (/** @type {any} */ one) => Object.values(PAYMENT_WORDS).map((of) => of(one));

export class Payments {
	constructor() {
		/** @type {Map<string, any>} */
		this.known = new Map();
		/** @type {any[]} */
		this.all = [];
		this.hasMore = false;
		this.seen = log.dropped + log.rows.length;
	}

	/** Read all pages up to a bound; `then` after each. @param {AbortSignal} signal @param {() => void} then */
	async readAll(signal, then) {
		this.known.clear();
		this.all = [];
		then();
		let cursor = "";
		for (let limit = FIRST; this.known.size < KEPT_MAX; limit = PAGE) {
			const page = await this.page({ limit, cursor }, signal);
			if (signal.aborted) return;
			this.hasMore = page.has_more;
			then();
			if (!page.has_more) return;
			cursor = String(page.cursor);
		}
	}

	/** The payments with this refid, which may be older than the stored payments. @param {string} refid @param {AbortSignal} signal */
	async readRefid(refid, signal) {
		if (this.hasMore) await this.page({ limit: FIRST, refid }, signal);
	}

	/** @param {Record<string, any>} asked the newest ones where no `cursor` and `refid` is @param {AbortSignal} signal */
	async page(asked, signal) {
		const page = await get(sandboxPath("transactions") + query(asked), signal);
		for (const one of page.transactions) this.put(one);
		const trxids = page.transactions.map((/** @type {any} */ one) => one.trxid);
		const before = this.all.map((one) => one.trxid);
		this.order(asked.cursor || asked.refid ? [...before, ...trxids] : [...trxids, ...before]);
		return page;
	}

	/** Keep the object of an unchanged payment, so that its row is not redrawn. @param {any} one */
	put(one) {
		const before = this.known.get(one.trxid);
		if (!before || before.updated !== one.updated || before.status !== one.status || before.cost !== one.cost)
			this.known.set(one.trxid, { ...one, refused: one.status === "Failed" });
	}

	/** Newest first; at equal moments, in the order of the control API. @param {string[]} trxids */
	order(trxids) {
		const all = [...new Set(trxids)].map((trxid) => this.known.get(trxid));
		this.all = all.sort((a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0));
	}

	/** Apply the events since the last call to the payments. @returns {boolean} whether there are payments to be read */
	happened() {
		const fresh = log.rows.slice(Math.max(0, this.seen - log.dropped));
		this.seen = log.dropped + log.rows.length;
		let isNew = false;
		for (const row of fresh) {
			if (row.kind !== "status") continue;
			const before = this.known.get(row.trxid);
			if (!before) isNew = true;
			else this.put({ ...before, status: row.event.status, status_code: row.event.status_code, updated: row.at });
		}
		if (fresh.length) this.order(this.all.map((one) => one.trxid));
		return isNew;
	}
}
