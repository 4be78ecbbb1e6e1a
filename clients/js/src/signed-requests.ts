/** Signed requests to the reseller API, with the bytes that are signed. */

import { isUint8Array } from "node:util/types";

import { exchange, Unanswered } from "./exchange.js";
import type { RequestInit } from "./records.js";
import { checkTarget, hmacHeaders } from "./signing.js";

const ANSWER_S = 300;
const OWN_HEADERS = ["Host", "Connection", "Content-Length", "Transfer-Encoding", "X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature"];

/** Who signs, and where its API is. */
interface Account {
  id: string;
  url: string;
  apiKey: string;
  apiSecret: string;
}

/** Send a request signed at a time, by default now; see `Sandbox.fetch`. */
export async function signedFetch({ id, url: base, apiKey, apiSecret }: Account, path: string, init: RequestInit, at?: Date): Promise<Response> {
  checkTarget(path);
  if (!apiKey || !apiSecret) {
    throw new RangeError(`sandbox.fetch: sandbox ${id} shows no API key and secret to sign with; a control token that only reads sees none`);
  }
  const { method = "GET", body = null, signal = null } = init;
  const url = new URL(`${base}${path}`);
  const { bytes, type } = await contentOf(body);
  const given = new Headers(init.headers);
  const ours = OWN_HEADERS.find((name) => given.has(name));
  if (ours !== undefined) {
    throw new TypeError(`sandbox.fetch: it writes the header ${ours} itself; leave it out, or sign by hmacHeaders() for another HTTP client`);
  }
  if (type && !given.has("Content-Type")) given.set("Content-Type", type);
  const timestamp = at && Math.floor(at.getTime() / 1000);
  const headers = { ...Object.fromEntries(given), ...hmacHeaders({ apiKey, apiSecret, method, url, body: bytes, timestamp }) };
  const sent = { method: method.toUpperCase(), headers, body: bytes, signal };
  const answer = await exchange(url, sent, ANSWER_S).catch((error: unknown) => {
    throw error instanceof Unanswered ? new TypeError(`fetch failed: ${error.message}`, { cause: error.cause }) : error;
  });
  const { status } = answer;
  return new Response([204, 205, 304].includes(status) ? null : answer.bytes, { status, headers: answer.headers });
}

/** The bytes of a body, and the type that `fetch` gives them; a text is JSON. */
async function contentOf(body: RequestInit["body"]): Promise<{ bytes: Uint8Array; type?: string }> {
  if (typeof body === "string") return { bytes: Buffer.from(body), type: "application/json" };
  if (!body || isUint8Array(body)) return { bytes: body || new Uint8Array() };
  const content = new Response(body);
  return { bytes: new Uint8Array(await content.arrayBuffer()), type: content.headers.get("Content-Type") ?? "" };
}
