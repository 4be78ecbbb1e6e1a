// An action as lines to paste: the verb of the command line, and curl to the control API.

import { ROOT, wantsToken } from "./api.js";
import { place } from "./router.js";

// The command line reads the token from this variable; no line that may be pasted into a ticket contains the token itself.
const BEARER = '"Authorization: Bearer $RESELLER_SIM_CONTROL_TOKEN"';
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** A word as a POSIX shell reads it. @param {string} word */
export const quoted = (word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** `reseller-sim advance 1m`, with the sandbox and address where they are not the usual ones. @param {string[]} words */
export function cliLine(words) {
	const all = ["reseller-sim", ...words];
	if (place.sandbox && place.sandbox !== "default") all.push("--sandbox", place.sandbox);
	const server = ROOT.href.replace(/\/_sim\/$/, "");
	if (server !== "http://127.0.0.1:8080") all.push("--url", server);
	return all.map(quoted).join(" ");
}

/** @param {string} method @param {string} path below `/_sim/` @param {any} [body] @param {string} [type] of a body that is no JSON */
export function curlLine(method, path, body, type) {
	const all = ["curl"];
	if (method !== "GET" && !(method === "POST" && body !== undefined)) all.push("-X", method);
	all.push(new URL(path, ROOT).href);
	if (type) all.push("-H", `Content-Type: ${type}`);
	if (body !== undefined)
		all.push(type ? "--data-binary" : "-d", typeof body === "string" ? body : JSON.stringify(body));
	return [...all.map(quoted), ...(wantsToken() ? ["-H", BEARER] : [])].join(" ");
}
