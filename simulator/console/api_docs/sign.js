// Signs requests of the reseller API, as docs/signing.md says.

const encoder = new TextEncoder();

/** @param {ArrayBuffer | Uint8Array} bytes */
function base64(bytes) {
	return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

/** The part of a query that is signed: parameters with `=`, sorted by name.
 * @param {string} query as sent, without `?` */
export function canonicalQuery(query) {
	const name = (/** @type {string} */ part) => part.slice(0, part.indexOf("="));
	return query
		.split("&")
		.filter((part) => part.includes("="))
		.sort((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0))
		.join("&");
}

/** The four headers of a request.
 * @param {{key: string, secret: string, method: string, url: string, body?: string, timestamp?: number, nonce?: string}} request
 * @returns {Promise<Record<string, string>>} */
export async function signed({ key, secret, method, url, body = "", timestamp, nonce }) {
	const { subtle } = globalThis.crypto;
	if (!subtle) throw new Error("the browser signs only on https or localhost: open this page there");
	const seconds = String(timestamp ?? Math.floor(Date.now() / 1000));
	const once = nonce ?? crypto.randomUUID().replaceAll("-", "");
	const hash = base64(await subtle.digest("SHA-256", encoder.encode(body)));
	const query = url.split("#")[0].split("?").slice(1).join("?");
	const text = `v1:${seconds}:${once}:${method.toUpperCase()}:${canonicalQuery(query)}:${hash}`;
	const raw = Uint8Array.from(atob(secret), (char) => char.charCodeAt(0));
	const hmac = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
	const signature = base64(await subtle.sign("HMAC", hmac, encoder.encode(text)));
	return { "X-Api-Key": key, "X-Timestamp": seconds, "X-Nonce": once, "X-Signature": `v1=${signature}` };
}
