// Every state of the page is an address: `/_sim/s/{sandbox}/{view}/{rest}?…`, and `/_sim/ui/{view}?sandbox=…` for the
// whole server, which names the sandbox that was shown before.

import { path, ROOT } from "./api.js";
import { changed } from "./store.js";

/**
 * @typedef {{ sandbox: string, view: string, rest: string[], query: URLSearchParams }} Place
 */

/** @type {Place} */
export const place = { sandbox: "", view: "", rest: [], query: new URLSearchParams() };

const DEFAULT_SANDBOX = "default";

/** The shown sandbox; on a page of the server, the sandbox that was shown before. */
export const latestSandbox = () => place.sandbox || place.query.get("sandbox") || DEFAULT_SANDBOX;

/** The address of a view of a sandbox, or of the server when `sandbox` is empty. @param {string} sandbox @param {string[]} parts @param {Record<string, string>} [query] */
export function address(sandbox, parts, query = {}) {
	const below = (sandbox ? ["s", sandbox, ...parts] : ["ui", ...parts]).filter(Boolean);
	const url = new URL(below.map(encodeURIComponent).join("/"), ROOT);
	for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
	if (!sandbox && latestSandbox() !== DEFAULT_SANDBOX) url.searchParams.set("sandbox", latestSandbox());
	return url.pathname + url.search;
}

/** The address of a view of the sandbox that is shown. @param {string[]} parts @param {Record<string, string>} [query] */
export const here = (parts, query) => address(place.sandbox, parts, query);

/** A path of the control API below the sandbox that is shown. @param {...(string | number)} parts */
export const sandboxPath = (...parts) => path("sandboxes", place.sandbox, ...parts);

/** `ask` is called before leaving a draft; the owner of the draft sets it. `left` is called as soon as the address names another view, so that the shown view does not continue with the new address. @type {{ ask: (() => Promise<boolean>) | null, left: () => void }} */
export const leaving = { ask: null, left: () => {} };

/** Go to an address of the page. @param {string} to @param {boolean} [replace] without a step to go back to */
export function go(to, replace = false) {
	if (to === location.pathname + location.search) return;
	if (leaving.ask) return void goIfLeft(leaving.ask, to, replace);
	moved(to, replace);
}

/** @param {() => Promise<boolean>} ask @param {string} to @param {boolean} replace */
async function goIfLeft(ask, to, replace) {
	if (await ask()) moved(to, replace);
}

/** @param {string} to @param {boolean} replace */
function moved(to, replace) {
	history[replace ? "replaceState" : "pushState"](null, "", to);
	read();
}

/** Change some of the query, without a step to go back to. @param {Record<string, string>} values empty ones are taken out */
export function setQuery(values) {
	const url = new URL(location.href);
	for (const [name, value] of Object.entries(values)) {
		if (value) url.searchParams.set(name, value);
		else url.searchParams.delete(name);
	}
	go(url.pathname + url.search, true);
}

function read() {
	const below = location.pathname.slice(ROOT.pathname.length).split("/").map(decoded).filter(Boolean);
	const [area, ...rest] = below;
	const { sandbox, view } = place;
	place.sandbox = area === "s" ? (rest.shift() ?? "") : "";
	place.view = rest.shift() ?? "";
	place.rest = rest;
	place.query = new URLSearchParams(location.search);
	if (place.sandbox !== sandbox || place.view !== view) leaving.left();
	changed("place");
}

/** @param {string} part */
function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** Begin: links of the page are followed here, without loading it again. */
export function begin() {
	addEventListener("popstate", read);
	document.addEventListener("click", (event) => {
		const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
		const isPlain =
			event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.defaultPrevented;
		if (!(link instanceof HTMLAnchorElement) || !isPlain || link.target || link.download) return;
		const areas = [new URL("s/", ROOT), new URL("ui/", ROOT)];
		if (!areas.some((area) => link.href.startsWith(area.href))) return;
		event.preventDefault();
		go(link.pathname + link.search);
	});
	read();
}
