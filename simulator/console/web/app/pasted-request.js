// A request as it was pasted: with the line ends that a text area would change, and as the control API takes it.

/** The pasted text of an area, until it is edited. @type {WeakMap<HTMLTextAreaElement, string>} */
const raw = new WeakMap();

/** @param {string} text as a text area has it */
const unified = (text) => text.replace(/\r\n?/g, "\n");

/** Remember the line ends of what is pasted into an area. @param {HTMLTextAreaElement} area @returns {() => void} ends it */
export function keepEnds(area) {
	const pasted = (/** @type {ClipboardEvent} */ event) => {
		const text = event.clipboardData?.getData("text/plain") ?? "";
		const { selectionStart: from, selectionEnd: to } = area;
		if (from === 0 && to === area.value.length) raw.set(area, text);
	};
	area.addEventListener("paste", pasted);
	return () => area.removeEventListener("paste", pasted);
}

/** The text of an area with its pasted line ends; an edited text has line feeds. @param {HTMLTextAreaElement} area */
export function endsOf(area) {
	const kept = raw.get(area) ?? "";
	return unified(kept) === area.value ? kept : area.value;
}

/**
 * A curl command, or a request in HTTP's form with its body preserved byte for byte.
 * @param {string} pasted @returns {Record<string, any>} Throws what to write instead.
 */
export function requestOf(pasted) {
	const text = pasted.trimStart();
	if (/^(\$\s*)?curl\b/.test(text)) return { curl: text.replace(/^\$\s*/, "").trimEnd() };
	const blank = /\r?\n\r?\n/.exec(text);
	const head = blank ? text.slice(0, blank.index) : text.trimEnd();
	const body = blank ? text.slice(blank.index + blank[0].length) : "";
	const [first, ...lines] = head.split(/\r?\n/);
	const [method, target] = first.split(/\s+/);
	if (!target) throw new Error("paste a curl command, or begin with a method and a path such as GET /v2/balance");
	const headers = lines.map((line) => {
		const colon = line.indexOf(":");
		if (colon < 1) throw new Error(`the line '${line.slice(0, 60)}' is no header: write Name: value`);
		return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
	});
	return { method, path: target, headers, ...(body && { body }) };
}
