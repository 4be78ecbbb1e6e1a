// The deliveries of webhooks page by page, read again from the first page that can still change.

import { get, query } from "./api.js";
import { mine } from "./reading.js";

const PAGE = 200;
const PAGES_MAX = 25;

/** @typedef {{ cursor: string, items: any[], next: string | null }} Page */

export class Deliveries {
	constructor() {
		/** @type {Page[]} */
		this.pages = [];
		this.of = "";
		this.leftOut = 0;
	}

	/** Read what is new or may have changed; the latest are kept. @param {Record<string, string>} filter @returns {Promise<any[]>} newest first */
	async read(filter) {
		const of = JSON.stringify([mine(""), filter]);
		if (of !== this.of) this.forget();
		this.of = of;
		const settled = this.pages.findIndex((page) => !page.next || page.items.some((one) => one.state === "pending"));
		const kept = settled < 0 ? [] : this.pages.slice(0, settled);
		let cursor = settled < 0 ? "" : this.pages[settled].cursor;
		for (;;) {
			const page = await get(`${mine("deliveries")}${query({ ...filter, limit: PAGE, cursor })}`);
			kept.push({ cursor, items: page.deliveries, next: page.has_more ? page.cursor : null });
			this.leftOut = page.left_out;
			if (!page.has_more) break;
			cursor = page.cursor;
			if (kept.length > PAGES_MAX) kept.shift();
		}
		if (of === this.of) this.pages = kept;
		return kept.flatMap((page) => page.items).reverse();
	}

	/** Read everything again after a reset. */
	forget() {
		this.pages = [];
		this.of = "";
	}
}
