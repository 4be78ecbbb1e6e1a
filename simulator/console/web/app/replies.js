// The program of an inbox's replies as a person writes it: `500, 200:1.5, disconnect`.

const REPLY = /^(disconnect|\d{1,3})(?::([0-9.]+(?:ms|s|m|h)?))?$/;

/** One reply as the control API takes it. @param {string} text @returns {Record<string, any>} Throws what to write instead. */
function reply(text) {
	const found = REPLY.exec(text);
	if (!found)
		throw new Error(`“${text}” is not a reply: write a status such as 500, 200:1.5 to wait 1.5 s, or disconnect`);
	const [, what, wait] = found;
	const delay = wait === undefined ? {} : { delay: /[a-z]/.test(wait) ? wait : Number(wait) };
	return { ...(what === "disconnect" ? { disconnect: true } : { status: Number(what) }), ...delay };
}

/** The body of a PUT to an inbox. @param {Record<string, string>} written replies, repeat, body */
export function programOf({ replies, repeat, body }) {
	const texts = replies.split(",").map((one) => one.trim());
	const all = texts.filter(Boolean).map((text) => {
		const one = reply(text);
		return one.disconnect || !body ? one : { ...one, body };
	});
	if (!all.length) throw new Error("write at least one reply, such as 500, 500, 200");
	return { replies: all, ...(repeat === "all" && { repeat: true }) };
}

/** `503 after 1.5 s`. @param {any} one */
const said = (one) => {
	const p99 = one.p99 ? ` (99 of 100 at most ${one.p99} s)` : "";
	const delay = one.delay ? ` after ${one.delay} s${p99}` : "";
	return `${one.disconnect ? "disconnect" : one.status}${delay}${one.body ? " with a body" : ""}`;
};

/** When a window lasts. @param {any} one */
function when({ time, weekday, since, until }) {
	const words = [];
	if (weekday) words.push(weekday.join(", "));
	if (time) words.push(`${time.from}–${time.to}`);
	if (since !== undefined) words.push(`from ${since} s`);
	if (until !== undefined) words.push(`until ${until} s`);
	return words.join(" ");
}

/** The next replies of an inbox in a sentence. @param {any} left the control API's `replies` of an inbox */
export function programText({ replies, count, repeat, during: windows }) {
	const each = replies.map(said);
	if (count > replies.length) each.push(`${count - replies.length} more`);
	const end = each.length === 0 ? "200" : each.join(", then ");
	const again = each.length === 0 ? "" : repeat ? ", then all repeat" : ", then the last repeats";
	return [...windows.map((/** @type {any} */ one) => `${when(one)}: ${said(one)}`), `next: ${end}${again}`].join("; ");
}
