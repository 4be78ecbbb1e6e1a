// Keys for everything: single ones, and sequences such as `g p`. In a field only Escape is ours.

/** @type {Set<Key[]>} */
const all = new Set();
const SEQUENCE_MS = 1200;
let before = "";
let beforeAt = 0;

/** @param {Key[]} keys @returns {() => void} takes them out again */
export function addKeys(keys) {
	all.add(keys);
	return () => all.delete(keys);
}

/** The keys that work now, the latest element's first. @returns {Key[]} */
export function keysNow() {
	return [...all].reverse().flat();
}

/** @param {KeyboardEvent} event */
function pressed(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
	const target = event.target instanceof Element ? event.target : document.body;
	if (target.closest("dialog[open]")) return;
	const inField = target.closest("input, textarea, select");
	if (inField && event.key !== "Escape") return;
	const isButton = event.target instanceof Element && event.target.closest("button, a, summary, [role=tab]");
	if (isButton && (event.key === "Enter" || event.key === " ")) return;
	const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${event.key}` : "";
	const found = keysNow();
	const key = found.find((one) => one.key === sequence) ?? found.find((one) => one.key === event.key);
	[before, beforeAt] = [event.key, event.timeStamp];
	if (!key) return;
	event.preventDefault();
	before = "";
	key.run(event);
}

addEventListener("keydown", pressed);
