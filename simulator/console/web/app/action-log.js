// The actions of the page, each in the words of the command line, with a line to copy. The page stores the latest actions.

import { change } from "./api.js";
import { cliLine, curlLine } from "./commands.js";
import { changed } from "./store.js";

/** @typedef {{ text: string, cli: string, curl: string, at: Date }} Action */

/** @type {Action[]} the latest last */
export const said = [];
const SAID_MAX = 50;

/**
 * Do something by the control API, and say it.
 * @typedef {{ method: string, path: string, body?: any, type?: string }} Sent
 * @param {Sent & { after?: Sent[], cli?: string[], says: string | ((answer: any) => string) }} action
 *   `after` are requests that belong to it, `cli` are the words of its verb; `says` is what has been done, in a sentence
 * @returns {Promise<any>} the answer. Throws `Refused`, for who asked to show where it was asked.
 */
export async function act({ method, path, body, type, after = [], cli, says }) {
	const answer = await change(method, path, body, type);
	for (const one of after) await change(one.method, one.path, one.body);
	const curls = [{ method, path, body, type }, ...after].map((one) =>
		curlLine(one.method, one.path, one.body, one.type),
	);
	say(typeof says === "string" ? says : says(answer), cli ? cliLine(cli) : "", curls.join(" && "));
	return answer;
}

/** @param {string} text @param {string} [cli] @param {string} [curl] */
export function say(text, cli = "", curl = "") {
	said.push({ text, cli, curl, at: new Date() });
	said.splice(0, said.length - SAID_MAX);
	changed("said");
}

/** Copy a text, and say so. @param {string} text @param {string} what @param {{ cli?: string, curl?: string }} [kept] lines that stay at hand */
export async function copy(text, what, { cli, curl } = {}) {
	try {
		await navigator.clipboard.writeText(text);
		say(`copied ${what}`, cli, curl);
	} catch {
		say(`the browser did not allow copying; here is ${what}`, text);
	}
}
