// Notices of the frame instead of a view that cannot be shown: its name, the reason, and links.

import { h } from "../app/dom.js";
import { short } from "../app/safe-text.js";
import { address } from "../app/router.js";
import { store } from "../app/store.js";

const OFFERED_MAX = 20;

/** @param {string} title @param {...Child} children */
const notice = (title, ...children) => h("div", { role: "alert" }, h("h2", {}, title), ...children);

/** @param {string} sandbox empty for the server @param {string} name */
export const unknownView = (sandbox, name) =>
	notice(
		"There is no such view",
		h("p", {}, "The console has no view ", h("q", {}, short(name)), "; its views are the tabs above."),
		h("p", {}, h("a", { href: address(sandbox, [sandbox ? "live" : "sandboxes"]) }, sandbox ? "Live" : "Sandboxes")),
	);

/** @param {string} title of the view */
export const notLoaded = (title) =>
	notice(
		`${title} could not be loaded`,
		h("p", {}, "The simulator does not answer; is it still running? The page retries."),
	);

/** @param {string} id */
export function noSandbox(id) {
	const offered = store.sandboxes
		.slice(0, OFFERED_MAX)
		.map((one) => h("li", {}, h("a", { href: address(one.id, ["live"]) }, one.id)));
	return notice(
		"There is no such sandbox",
		h("p", {}, h("q", {}, short(id)), " was deleted or never created; it appears when it is created."),
		offered.length > 0 && h("ul", {}, ...offered),
		h("p", {}, h("a", { href: address("", ["sandboxes"]) }, "all sandboxes")),
	);
}
