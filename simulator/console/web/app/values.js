// Values of a scenario as a line to show, and the text of a field as a value. YAML is read and written by the server.

const PLAIN = /^(?:[A-Za-z/](?:[A-Za-z0-9 ._/-]*[A-Za-z0-9])?|\d+(?:ms|[smhd]))$/;
// Words of YAML 1.1, since other programs may read the text so.
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|inf|nan)$/i;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const DIGITS_MAX = 15; // more are no exact number in a browser; an account of so many stays a text

/** A value on one line. @param {any} value @returns {string} */
export function flow(value) {
	if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
	if (!isObject(value)) return scalar(value);
	const inner = Object.entries(value).map(([key, one]) => `${scalar(key)}: ${flow(one)}`);
	return inner.length ? `{ ${inner.join(", ")} }` : "{}";
}

/** @param {any} value */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {any} value @returns {string} */
function scalar(value) {
	if (typeof value !== "string") return String(value ?? null);
	return PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
}

/** The text of a field as a value: JSON where it is JSON, or else the text itself. @param {string} text @returns {any} */
export function valueOf(text) {
	const trimmed = text.trim();
	if (/^[-\d]/.test(trimmed)) return NUMBER.test(trimmed) && trimmed.length <= DIGITS_MAX ? Number(trimmed) : trimmed;
	try {
		return JSON.parse(trimmed);
	} catch {
		return trimmed;
	}
}

/** The text of a field for a value: in quotes where it would be read as something else. @param {any} value */
export const fieldText = (value) =>
	typeof value === "string" && valueOf(value) === value ? value : JSON.stringify(value);
