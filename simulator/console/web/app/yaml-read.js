// Reads the YAML that people write rules in: blocks, flow, quotes and comments. What it does not know it refuses by name.

const CHARS_MAX = 100_000;
const LEVELS_MAX = 40;
const DIGITS_MAX = 15; // more are no exact number in a browser; an account of so many stays a text
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const KEY =
	/^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#{}[\],&*!|>%@`-][^#{}[\],]*?|-[^\s#{}[\],][^#{}[\],]*?)\s*:(?=\s|$)/;
const ESCAPES = /** @type {Record<string, string>} */ ({ n: "\n", t: "\t", r: "\r", 0: "\0", e: "\u001b" });

/** What is wrong, and in which line. */
export class Misread extends Error {
	/** @param {string} message @param {number} line */
	constructor(message, line) {
		super(`line ${line}: ${message}`);
		this.line = line;
	}
}

/** @typedef {{ indent: number, text: string, line: number }} Line */

/** @param {string} text @returns {any} null for an empty text. Throws `Misread`. */
export function fromYaml(text) {
	if (text.length > CHARS_MAX) throw new Misread("this is too long for the form", 1);
	const lines = linesOf(text);
	if (!lines.length) return null;
	const reader = new Reader(lines);
	const value = reader.block(lines[0].indent, 0);
	if (reader.at < lines.length)
		throw new Misread("this is indented otherwise than what is above", lines[reader.at].line);
	return value;
}

/** Lines without comments and blank ones; a flow that goes on stands in one. @param {string} text @returns {Line[]} */
function linesOf(text) {
	/** @type {Line[]} */
	const lines = [];
	let open = 0;
	for (const [index, raw] of text.split(/\r?\n/).entries()) {
		const { bare, depth } = scanned(raw);
		if (/^\s*\t/.test(bare)) throw new Misread("indent with blanks, not with tabs", index + 1);
		if (!bare.trim() || /^---\s*$/.test(bare)) continue;
		const last = lines.at(-1);
		if (open > 0 && last) last.text += ` ${bare.trim()}`;
		else lines.push({ indent: bare.length - bare.trimStart().length, text: bare.trim(), line: index + 1 });
		open += depth;
	}
	return lines;
}

/** A line without its comment, and by how many brackets it opens more than it closes. @param {string} raw */
function scanned(raw) {
	let depth = 0;
	for (const found of raw.matchAll(/"(?:[^"\\]|\\.)*"|(?<=^|[\s,:{[])'(?:[^']|'')*'|(?<=^|\s)#|[{}[\]]/g)) {
		if (found[0] === "#") return { bare: raw.slice(0, found.index), depth };
		if (found[0].length === 1) depth += "{[".includes(found[0]) ? 1 : -1;
	}
	return { bare: raw, depth };
}

class Reader {
	/** @param {Line[]} lines */
	constructor(lines) {
		this.lines = lines;
		this.at = 0;
	}

	/** What begins at this line and stands at this column. @param {number} indent @param {number} level @returns {any} */
	block(indent, level) {
		const first = this.lines[this.at];
		if (level > LEVELS_MAX) throw new Misread("this is too deep", first.line);
		if (isItem(first.text)) return this.list(indent, level);
		if (KEY.test(first.text)) return this.object(indent, level);
		this.at++;
		return new Flow(first.text, first.line).whole();
	}

	/** @param {number} indent @param {number} level */
	list(indent, level) {
		const items = [];
		for (let here = this.lines[this.at]; here?.indent === indent && isItem(here.text); here = this.lines[this.at]) {
			const rest = here.text.slice(1).trimStart();
			if (rest) {
				this.lines[this.at] = { ...here, indent: indent + here.text.length - rest.length, text: rest };
				items.push(this.block(this.lines[this.at].indent, level + 1));
			} else items.push(this.below(indent, level));
		}
		return items;
	}

	/** @param {number} indent @param {number} level */
	object(indent, level) {
		const object = Object.create(null);
		for (let here = this.lines[this.at]; here?.indent === indent; here = this.lines[this.at]) {
			const found = KEY.exec(here.text);
			if (!found) {
				if (isItem(here.text)) break;
				throw new Misread("a key with a colon and a blank is wanted here", here.line);
			}
			const key = String(new Flow(found[1], here.line).whole(true));
			if (key in object) throw new Misread(`${key} is there twice`, here.line);
			const rest = here.text.slice(found[0].length).trim();
			if (rest) {
				this.at++;
				object[key] = new Flow(rest, here.line).whole();
			} else object[key] = this.below(indent, level, true);
		}
		return object;
	}

	/** The value that stands below a key or a dash. @param {number} indent @param {number} level @param {boolean} [isKey] */
	below(indent, level, isKey = false) {
		const next = this.lines[++this.at];
		const isBelow = next && (next.indent > indent || (isKey && next.indent === indent && isItem(next.text)));
		return isBelow ? this.block(next.indent, level + 1) : null;
	}
}

/** @param {string} text */
const isItem = (text) => text === "-" || text.startsWith("- ");

/** A value on one line. */
class Flow {
	/** @param {string} text @param {number} line */
	constructor(text, line) {
		this.text = text;
		this.line = line;
		this.at = 0;
	}

	/** @param {boolean} [isText] a key, which is no number @returns {any} */
	whole(isText = false) {
		const value = this.value("", 0, isText);
		this.blanks();
		if (this.at < this.text.length) this.fail(`there is more than a value: ${this.text.slice(this.at, this.at + 20)}`);
		return value;
	}

	/** @param {string} message @returns {never} */
	fail(message) {
		throw new Misread(message, this.line);
	}

	blanks() {
		while (/\s/.test(this.text[this.at] ?? "")) this.at++;
	}

	/** @param {string} until characters that end a plain text @param {number} level @param {boolean} [isText] @returns {any} */
	value(until, level, isText = false) {
		this.blanks();
		if (level > LEVELS_MAX) this.fail("this is too deep");
		const first = this.text[this.at] ?? "";
		if (first === "{") return this.object(level);
		if (first === "[") return this.list(level);
		if (first === '"' || first === "'") return this.quoted(first);
		if (first && "&*!|>%@`".includes(first))
			this.fail(`the form does not read what begins with ${first}; put quotes around it`);
		const start = this.at;
		while (
			this.at < this.text.length &&
			!until.includes(this.text[this.at]) &&
			!(until && /^:(\s|$)/.test(this.text.slice(this.at)))
		)
			this.at++;
		const plain = this.text.slice(start, this.at).trim();
		if (!until && !isText && /:\s/.test(plain)) this.fail("put quotes around a text with a colon");
		return isText ? plain : typed(plain);
	}

	/** @param {number} level */
	object(level) {
		const object = Object.create(null);
		this.each("}", () => {
			const key = String(this.value(",}:", level + 1, true));
			if (key in object) this.fail(`${key} is there twice`);
			this.blanks();
			const hasValue = this.text[this.at] === ":";
			if (hasValue) this.at++;
			object[key] = hasValue ? this.value(",}", level + 1) : null;
		});
		return object;
	}

	/** @param {number} level */
	list(level) {
		/** @type {any[]} */
		const items = [];
		this.each("]", () => items.push(this.value(",]", level + 1)));
		return items;
	}

	/** @param {string} end @param {() => void} one */
	each(end, one) {
		for (this.at++; ;) {
			this.blanks();
			if (this.at >= this.text.length) this.fail(`a ${end} is missing`);
			if (this.text[this.at] === end) break;
			one();
			this.blanks();
			if (this.text[this.at] === ",") this.at++;
			else if (this.text[this.at] !== end) this.fail(`a comma or ${end} is missing`);
		}
		this.at++;
	}

	/** @param {string} mark */
	quoted(mark) {
		const pattern = mark === '"' ? /"((?:[^"\\]|\\.)*)"/y : /'((?:[^']|'')*)'/y;
		pattern.lastIndex = this.at;
		const found = pattern.exec(this.text) ?? this.fail("a quote is not closed");
		this.at = pattern.lastIndex;
		if (mark === "'") return found[1].replaceAll("''", "'");
		return found[1].replace(/\\(?:x(..)|u(....)|(.))/g, (_, x, u, other) =>
			other ? (ESCAPES[other] ?? other) : String.fromCharCode(parseInt(x ?? u, 16)),
		);
	}
}

/** A plain text as the simulator reads it: NO, 010, 12:30 and dates are texts. @param {string} text */
export function typed(text) {
	if (text === "true" || text === "false") return text === "true";
	if (text === "" || text === "null") return null;
	return NUMBER.test(text) && text.length <= DIGITS_MAX ? Number(text) : text;
}

/** A value on one line, as in a field of a form. @param {string} text @returns {any} Throws `Misread`. */
export const flowValue = (text) => new Flow(text, 1).whole();
