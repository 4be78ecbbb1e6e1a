// A text as a file of the person's own, and rules as a scenario that stands alone.

import { get } from "./api.js";
import { h } from "./dom.js";
import { store } from "./store.js";

/** @param {string} text @param {string} name */
export function download(text, name) {
	const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The bundled scenarios, which a file may extend wherever it lies. @type {string[]} */
let bundled = [];

/** Learn the names of the bundled scenarios. */
export async function readBases() {
	const { scenarios } = await get("scenarios?limit=500");
	bundled = scenarios.flatMap((/** @type {any} */ one) => (one.source === "bundled" ? [one.name] : []));
}

/** Whether the sandbox's own scenario can be the base of a rule's file. */
export const hasOwnBase = () => bundled.includes(store.sandbox?.scenario ?? "");

/** What a rule lacks to be a scenario: what gives it products and resellers. @param {string} text @returns {string} lines to put before it, none where it has them */
export function header(text) {
	if (/^extends\s*:/m.test(text)) return "";
	return `extends: ${hasOwnBase() ? store.sandbox?.scenario : "default"}\n`;
}

/** Rules as a file that `reseller-sim check` accepts. @param {string} text */
export const asFile = (text) => header(text) + text;
