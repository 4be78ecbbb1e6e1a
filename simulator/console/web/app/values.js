// Values as YAML in the form of the bundled scenarios: each part on one line when it fits, and quoted what could be misread.

const LINE_CHARS_MAX = 100;
const LEVELS_MAX = 2;
const PLAIN = /^(?:[A-Za-z/](?:[A-Za-z0-9 ._/-]*[A-Za-z0-9])?|\d+(?:ms|[smhd]))$/;
// Of YAML 1.1, which other programs may read the text as.
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|inf|nan)$/i;

/** A value as a block of lines; members that are undefined are left out. @param {any} value @returns {string} */
export const toYaml = (value) => `${block(value, 0).join("\n")}\n`;

/** A value on one line. @param {any} value @returns {string} */
export function flow(value) {
	if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
	if (!isObject(value)) return scalar(value);
	const inner = members(value).map(([key, one]) => `${scalar(key)}: ${flow(one)}`);
	return inner.length ? `{ ${inner.join(", ")} }` : "{}";
}

/** @param {any} value */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {any} value @returns {[string, any][]} */
const members = (value) => Object.entries(value).filter(([, one]) => one !== undefined);

/** @param {any} value @returns {string} */
function scalar(value) {
	if (typeof value !== "string") return String(value ?? null);
	return PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
}

/** @param {any} value @param {number} indent @returns {string[]} */
function block(value, indent) {
	const margin = " ".repeat(indent);
	if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, indent));
	return members(value).flatMap(([key, one]) => {
		const name = `${margin}${scalar(key)}:`;
		const short = onOneLine(`${name} `, one);
		return short === null ? [name, ...block(one, indent + 2)] : [short];
	});
}

/** @param {any} item @param {number} indent @returns {string[]} */
function itemLines(item, indent) {
	const before = `${" ".repeat(indent)}- `;
	const short = onOneLine(before, item);
	if (short !== null) return [short];
	const [first, ...rest] = block(item, indent + 2);
	return [before + first.slice(indent + 2), ...rest];
}

/** @param {string} before @param {any} value @returns {string | null} */
function onOneLine(before, value) {
	const isCollection = Array.isArray(value) || isObject(value);
	if (!isShallow(value, LEVELS_MAX)) return null;
	const line = before + flow(value);
	return line.length <= LINE_CHARS_MAX || !isCollection || Object.keys(value).length === 0 ? line : null;
}

/** @param {any} value @param {number} levels @returns {boolean} */
function isShallow(value, levels) {
	if (!Array.isArray(value) && !isObject(value)) return true;
	return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}
