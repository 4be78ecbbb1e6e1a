// The scenario schema at a path of a scenario: its keys, values and words.

import { get } from "./api.js";

/** @typedef {Record<string, any>} Schema a node of it */

/** @type {Promise<Schema> | null} */
let read = null;

/** The schema of scenario files; read once. @returns {Promise<Schema>} */
export function scenarioSchema() {
	read ??= get("scenario.schema.json").catch((failure) => {
		read = null;
		throw failure;
	});
	return /** @type {Promise<Schema>} */ (read);
}

/** The node itself, with the description that stands beside a reference to it. @param {Schema} root @param {Schema} node @returns {Schema} */
export function resolved(root, node) {
	let found = node ?? {};
	while (found.$ref) found = { ...root.definitions[found.$ref.split("/").pop()], ...without(found) };
	return found;
}

/** @param {Schema} node */
function without(node) {
	const { ...others } = node;
	delete others.$ref;
	return others;
}

/** @param {Schema} node @returns {string[]} */
export const typesOf = (node) => [node.type ?? []].flat();

/** The node at a path of keys, with `[]` for an item; null without a node. @param {Schema} root @param {string[]} path @returns {Schema | null} */
export function nodeAt(root, path) {
	let node = resolved(root, root);
	for (const part of path) {
		const next = part === "[]" ? node.items : (node.properties?.[part] ?? node.additionalProperties);
		if (!next || typeof next !== "object") return null;
		node = resolved(root, next);
	}
	return node;
}

/** @typedef {"one" | "list" | "object"} Shape */

/** How a value may be written. @param {Schema} node @returns {Shape[]} */
export function shapesOf(node) {
	const types = typesOf(node);
	/** @type {Shape[]} */
	const shapes = [];
	if (node.enum || !types.length || types.some((type) => type !== "array" && type !== "object")) shapes.push("one");
	if (types.includes("array") && node.items) shapes.push("list");
	if (types.includes("object")) shapes.push(node.properties ? "object" : "one");
	return [...new Set(shapes)];
}

/** The words that may stand at a place. @param {Schema} node @returns {any[]} */
export function wordsOf(node) {
	if (node.enum) return node.enum;
	const examples = (node.examples ?? []).filter((/** @type {any} */ one) => typeof one !== "object");
	return !examples.length && typesOf(node).includes("boolean") ? [true, false] : examples;
}
