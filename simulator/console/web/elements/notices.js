// What stands in place of a view that cannot be shown: why, and where to go from here.

import { h } from "../app/dom.js";
import { short } from "../app/outside.js";
import { address, place } from "../app/router.js";
import { store } from "../app/store.js";

const NAMED_MAX = 8;

/** @param {string} title @param {...import("../app/dom.js").Child} children */
const notice = (title, ...children) =>
	h("section", { class: "notice", role: "alert" }, h("h2", {}, title), ...children);

/** The sandbox of the address is not there, or not any more. */
export function noSandbox() {
	const others = store.sandboxes.filter((one) => one.id !== place.sandbox).slice(0, NAMED_MAX);
	const view = place.view || "live";
	return notice(
		["There is no sandbox ", short(place.sandbox, 60)],
		h("p", {}, "It was deleted, it expired, or the simulator was started again without it."),
		others.length > 0 &&
			h("ul", {}, ...others.map(({ id }) => h("li", {}, h("a", { href: address(id, [view]) }, short(id, 60))))),
		h("p", {}, h("a", { href: address("", ["sandboxes"]) }, "All sandboxes"), ", and how to make one."),
	);
}

/** No view has the name that is in the address. */
export function noView() {
	return notice(["There is no view ", short(place.view, 60)], h("p", {}, "The views are above."));
}

/** The module of a view did not come. */
export function noModule() {
	return notice(
		"The simulator does not answer",
		h("p", {}, "Is it still running? This view is shown as soon as it answers."),
	);
}
