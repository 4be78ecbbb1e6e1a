// A text as a file of the person's own.

import { h } from "./dom.js";

/** @param {string} text @param {string} name */
export function download(text, name) {
	const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}
