// The one module that speaks to `/_sim`: requests, and the control token, asked for once and kept in this tab.

/** The address of the control API, with the prefix of a proxy. It ends in `/_sim/`. */
export const ROOT = new URL("../../", import.meta.url);

const TOKEN = "reseller-sim control token";

/** Said where a request got no answer at all. The bar takes it back when the simulator answers again. */
export const UNANSWERED = "the simulator does not answer; is it still running?";

/** A refusal of the control API: its sentence, and the path of the mistake. */
export class Refused extends Error {
	/** @param {number} status @param {{ message?: string, path?: string }} said */
	constructor(status, said) {
		super(said.message ?? `the simulator answered ${status}`);
		this.status = status;
		this.path = said.path ?? "";
	}
}

const TOO_LONG = 431; // said of a token that no header has room for

/** The characters of a header, and so of a token. */
const TOKEN_CHARS = /^[ -~]+$/;

/** Whether a text can be a token at all. @param {string | null} text @returns {text is string} */
export const canBeToken = (text) => text !== null && TOKEN_CHARS.test(text);

/** The token that requests have. The tab keeps it once the server took it. @type {string} */
let current = kept();

function kept() {
	const found = sessionStorage.getItem(TOKEN);
	return canBeToken(found) ? found : "";
}

/** Asks the person for the token; set by the page. @type {{ ask: ((retry: string) => Promise<string>) | null }} */
export const token = { ask: null };
/** @type {Promise<string> | null} */
let asking = null;

/** Whether this simulator wants its control token, as far as the tab knows. */
export const wantsToken = () => current !== "";

/** @returns {Record<string, string>} */
const authorization = () => (current ? { Authorization: `Bearer ${current}` } : {});

/**
 * Send a request; ask for the control token if required, and then retry.
 * @param {string} method @param {string} path below `/_sim/` @param {BodyInit | null} [body] @param {Record<string, string>} [headers] @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function ask(method, path, body = null, headers = {}, signal) {
	for (;;) {
		const sent = current;
		const answer = await send(method, path, body, headers, signal);
		if (answer.ok) keep(sent);
		const isRefused = answer.status === 401 || (answer.status === TOO_LONG && sent !== "");
		if (!isRefused || !token.ask) return answer;
		if (current === sent) await newToken(whyAgain(sent));
	}
}

/** @param {string} sent which the server took */
function keep(sent) {
	if (sent && sent !== sessionStorage.getItem(TOKEN)) sessionStorage.setItem(TOKEN, sent);
}

/** It is kept no longer. @param {string} sent which the server refused */
function whyAgain(sent) {
	if (!sent) return "";
	const wasTaken = sent === sessionStorage.getItem(TOKEN);
	sessionStorage.removeItem(TOKEN);
	return wasTaken ? "The simulator's token has changed." : "That is not this simulator's token.";
}

/** @param {string} said */
async function newToken(said) {
	if (!token.ask) return;
	asking ??= token.ask(said).finally(() => {
		asking = null;
	});
	current = await asking;
}

/** @param {string} method @param {string} path @param {BodyInit | null} body @param {Record<string, string>} headers @param {AbortSignal} [signal] */
async function send(method, path, body, headers, signal) {
	try {
		const all = { ...headers, ...authorization() };
		return await fetch(new URL(path, ROOT), { method, body, headers: all, signal, cache: "no-store" });
	} catch (failure) {
		if (signal?.aborted) throw failure;
		throw new Refused(0, { message: UNANSWERED });
	}
}

/** The body of an answer; the connection may break. @param {Response} answer @returns {Promise<string>} Throws `Refused`. */
const textOf = (answer) =>
	answer.text().catch((failure) => {
		throw failure.name === "AbortError" ? failure : new Refused(0, { message: UNANSWERED });
	});

/** @param {Response} answer @returns {Promise<any>} the JSON, null without a body. Throws `Refused`. */
async function read(answer) {
	const text = await textOf(answer);
	let said = null;
	try {
		said = text ? JSON.parse(text) : null;
	} catch {
		if (answer.ok) return text;
	}
	if (!answer.ok) throw new Refused(answer.status, said ?? {});
	return said;
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
	return read(await ask("GET", path, null, {}, signal));
}

/** The pages of a list, one after the other. @param {string} where @param {Record<string, any>} [asked] @param {AbortSignal} [signal] @returns {AsyncGenerator<any>} */
export async function* pages(where, asked = {}, signal) {
	/** @type {string | null} */
	let cursor = "";
	while (cursor !== null) {
		const page = await get(where + query({ ...asked, cursor }), signal);
		yield page;
		cursor = page.has_more ? String(page.cursor) : null;
	}
}

/** A text as it is, such as a curl command. @param {string} path @returns {Promise<string>} */
export async function getText(path) {
	const answer = await ask("GET", path);
	if (!answer.ok) return read(answer);
	return textOf(answer);
}

/** @param {string} method @param {string} path @param {any} [body] sent as JSON, or as it is with a `type` @param {string} [type] @returns {Promise<any>} */
export async function change(method, path, body, type) {
	const sent = body === undefined ? null : type ? body : JSON.stringify(body);
	return read(await ask(method, path, sent, sent === null ? {} : { "Content-Type": type ?? "application/json" }));
}

/** A path below `/_sim/` from parts that are encoded here. @param {...(string | number)} parts */
export function path(...parts) {
	return parts.map((part) => encodeURIComponent(part)).join("/");
}

/** A query from those values that are there, with its question mark. @param {Record<string, any>} values */
export function query(values) {
	const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
	const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
	return text && `?${text}`;
}
