// Completions at the cursor: the path in a scenario by indentation and brackets, and its words.

import { nodeAt, wordsOf } from "./schema.js";
import { flow } from "./values.js";

/**
 * @typedef {{ path: string[], kind: "key" | "value", prefix: string }} Spot `path` has `[]` for an item of a list
 * @typedef {{ text: string, insert: string, hint: string }} Choice
 */

const LINE = /^(\s*)((?:-\s+|-$)*)(?:(["']?)([^"'\s{[#][^"':{[#]*)\3\s*:(?:\s+|$))?(.*)$/;
const CHOICES_MAX = 100;

/** @param {string} text @param {number} cursor @returns {Spot} */
export function spotAt(text, cursor) {
	const before = text.slice(0, cursor).split("\n");
	const current = before.pop() ?? "";
	const parts = parsed(current);
	/** @type {string[]} */
	const inside = [];
	if (parts.key) inside.push(parts.key);
	const { path: deeper, kind: flowKind } = flowPath(parts.rest);
	const kind = flowKind ?? (parts.key ? "value" : "key");
	const path = [...above(before, parts), ...parts.dashes.map(() => "[]"), ...inside, ...deeper];
	return { path, kind, prefix: /[^\s,:{}[\]"']*$/.exec(current)?.[0] ?? "" };
}

/** @param {string} line */
function parsed(line) {
	const found = /** @type {RegExpExecArray} */ (LINE.exec(line));
	const [, margin, marks, , key, rest] = found;
	const dashes = [...marks].flatMap((mark, index) => (mark === "-" ? [margin.length + index] : []));
	return { column: margin.length + marks.length, dashes, key: key?.trim() ?? "", rest };
}

/** The keys and items that a line stands in. @param {string[]} lines above it @param {{ column: number, dashes: number[] }} of @returns {string[]} */
function above(lines, of) {
	/** @type {string[]} */
	const path = [];
	let [limit, dash] = of.dashes.length ? [of.dashes[0] + 0.5, of.dashes[0]] : [of.column, -1];
	for (const line of lines.reverse()) {
		if (!line.trim() || /^\s*#/.test(line) || limit === 0) continue;
		const one = parsed(line);
		if (one.key && !one.rest.trim() && one.column < limit) {
			path.unshift(one.key);
			[limit, dash] = [one.column, -1];
		}
		for (const column of one.dashes.reverse()) {
			if (column >= limit || column === dash) continue;
			path.unshift("[]");
			[limit, dash] = [column + 0.5, column];
		}
	}
	return path;
}

/** The path within brackets. @param {string} text @returns {{ path: string[], kind: "key" | "value" | null }} */
function flowPath(text) {
	/** @type {{ isObject: boolean, key: string }[]} */
	const open = [];
	let word = "";
	for (const token of text.match(/"(?:[^"\\]|\\.)*"?|'[^']*'?|[{}[\],:]|[^\s"'{}[\],:]+|\s+/g) ?? []) {
		const last = open.at(-1);
		if (token === "{" || token === "[") open.push({ isObject: token === "{", key: "" });
		else if (token === "}" || token === "]") open.pop();
		else if (token === "," && last) last.key = "";
		else if (token === ":" && last?.isObject && !last.key) last.key = word;
		else if (token.trim()) word = token.replace(/^["']|["']$/g, "");
	}
	const last = open.at(-1);
	const path = open.flatMap((one) => (one.isObject ? (one.key ? [one.key] : []) : ["[]"]));
	return { path, kind: !last ? null : last.isObject && !last.key ? "key" : "value" };
}

/** @param {import("./schema.js").Schema} root @param {Spot} spot @param {Record<string, string[]>} more words by the last key @returns {Choice[]} */
export function choicesAt(root, spot, more = {}) {
	const node = nodeAt(root, spot.path);
	if (!node) return [];
	const all = spot.kind === "key" ? keys(node) : words(node, more[spot.path.at(-1) ?? ""] ?? []);
	const start = spot.prefix.toLowerCase();
	const found = all.filter((one) => one.text.toLowerCase().startsWith(start));
	return found.length === 1 && found[0].text === spot.prefix ? [] : found.slice(0, CHOICES_MAX);
}

/** @param {import("./schema.js").Schema} node @returns {Choice[]} */
function keys(node) {
	return Object.entries(node.properties ?? {}).map(([text, one]) => ({
		text,
		insert: `${text}: `,
		hint: one.description ?? "",
	}));
}

/** @param {import("./schema.js").Schema} node @param {string[]} more @returns {Choice[]} */
function words(node, more) {
	const all = [...new Set([...wordsOf(node).map((one) => flow(one)), ...more])];
	return all.map((text) => ({ text, insert: text, hint: "" }));
}
