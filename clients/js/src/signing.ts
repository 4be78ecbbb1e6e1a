/** Signatures: of requests, HMAC-SHA256 over method, query and body under a secret in Base64; of webhooks, as Standard Webhooks
 * describes them. Callbacks of payments are unsigned. */

import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";

import { checkArguments, checkPath, FUNCTIONS } from "./arguments.js";
import { exchange, Unanswered, wallMs } from "./machine.js";
import type { Options, RequestInit } from "./records.js";
import type { Sandbox } from "./sandbox.js";

const ANSWER_S = 300;
const TOLERANCE_S = 300;
const OWN_HEADERS = ["Host", "Connection", "Content-Length", "Transfer-Encoding", "X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature"];
const WEBHOOK_HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/** A request that is to be signed. `apiSecret` is in Base64, as the service hands it out; of `url`, the whole one or its path, only the query
 * is signed; `body` is what is sent. `timestamp` is Unix time in seconds, by default the machine's, even if a test replaces `Date`;
 * `nonce` has 16 to 128 letters, digits, `-` and `_`, and is by default a new one. */
export type Signable = { apiKey: string; apiSecret: string; method: string; url: string | URL } & Options<Signed>;
type Signed = { body: string | Uint8Array; timestamp: number; nonce: string };

/** The four headers that sign a request, for any HTTP client. A request that is sent again has to be signed again. */
export function hmacHeaders(request: Signable): Record<string, string> {
  checkArguments("hmacHeaders", arguments, FUNCTIONS.hmacHeaders);
  const { timestamp = Math.floor(wallMs() / 1000), nonce = randomUUID(), body = "" } = request;
  const hash = createHash("sha256").update(body).digest("base64");
  const text = ["v1", timestamp, nonce, request.method.toUpperCase(), sortedQuery(request.url), hash].join(":");
  const signature = createHmac("sha256", Buffer.from(request.apiSecret, "base64")).update(text).digest("base64");
  return { "X-Api-Key": request.apiKey, "X-Timestamp": `${timestamp}`, "X-Nonce": nonce, "X-Signature": `v1=${signature}` };
}

/** The query as it is sent, sorted by key; equal keys keep their order, and what has no `=` is not signed. */
function sortedQuery(url: string | URL): string {
  const parameters = new URL(url, "http://localhost").search.slice(1).split("&").filter((parameter) => parameter.includes("="));
  const keyOf = (parameter: string) => parameter.slice(0, parameter.indexOf("="));
  return parameters.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0)).join("&");
}

/** Send a request signed at a time, by default now; see `Sandbox.fetch`. */
export async function signedFetch({ id, url: base, apiKey, apiSecret }: Sandbox, path: string, init: RequestInit, at?: Date): Promise<Response> {
  checkPath("reseller API", path);
  if (!apiKey || !apiSecret) throw new RangeError(`sandbox.fetch: sandbox ${id} shows no API key and secret to sign with, as to a token that only reads`);
  const { method = "GET", body } = init;
  const url = new URL(`${base}${path}`);
  const fields = new Headers(init.headers);
  const ours = OWN_HEADERS.find((name) => fields.has(name));
  if (ours !== undefined) throw new TypeError(`sandbox.fetch: it writes the header ${ours} itself; leave it out, or use hmacHeaders() and another HTTP client`);
  if (typeof body === "string" && !fields.has("Content-Type")) fields.set("Content-Type", "application/json");
  const timestamp = at && Math.floor(at.getTime() / 1000);
  const headers = { ...Object.fromEntries(fields), ...hmacHeaders({ apiKey, apiSecret, method, url, body: body ?? "", timestamp }) };
  const answer = await exchange(url, { method: method.toUpperCase(), headers, body: body ?? "" }, ANSWER_S).catch((error: unknown) => {
    throw error instanceof Unanswered ? new TypeError(`fetch failed: ${error.message}`, { cause: error.cause }) : error;
  });
  const { status } = answer;
  return new Response([204, 205, 304].includes(status) ? null : answer.bytes, { status, headers: answer.headers });
}

/** Headers of a received request: `Headers`, or an object of them. */
export type ReceivedHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/** Whether a signature is right, and if not why. */
export class Verdict {
  /** `reason` is empty when it is right. */
  constructor(readonly verified: boolean, readonly reason: string) {}

  toString(): string {
    return this.verified ? "verified" : `not verified: ${this.reason}`;
  }
}

/** True if a webhook is genuine: see `judgeWebhook`, which says why not. */
export function verifyWebhook(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now?: string | Date): boolean {
  checkArguments("verifyWebhook", arguments, FUNCTIONS.verifyWebhook);
  return fault(secret, headers, body, now) === "";
}

/** Whether a webhook was signed with this secret, of 64 hexadecimal digits, less than five minutes from `now`. `body` has the bytes
 * as they came. Signatures are compared in constant time. A RangeError for a secret that is not hexadecimal. */
export function judgeWebhook(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now?: string | Date): Verdict {
  checkArguments("judgeWebhook", arguments, FUNCTIONS.judgeWebhook);
  const reason = fault(secret, headers, body, now);
  return new Verdict(reason === "", reason);
}

/** The problem of a webhook's signature; empty for a genuine webhook. */
function fault(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now: string | Date = new Date(wallMs())): string {
  const pairs = Symbol.iterator in headers ? [...(headers as Headers)] : Object.entries(headers);
  const values = new Map(pairs.map(([name, value]) => [name.toLowerCase(), `${value ?? ""}`]));
  const missing = WEBHOOK_HEADERS.filter((name) => !values.get(name));
  if (missing.length > 0) return `it has no ${missing.join(", ")}`;
  const [id = "", timestamp = "", signatures = ""] = WEBHOOK_HEADERS.map((name) => values.get(name));
  if (!/^\d+$/.test(timestamp)) return `webhook-timestamp is not Unix seconds: '${timestamp}'`;
  const mac = createHmac("sha256", Buffer.from(secret, "hex")).update(`${id}.${timestamp}.`).update(body).digest();
  const candidates = signatures.split(" ").filter((signature) => signature.startsWith("v1,"));
  const bytes = candidates.map((signature) => Buffer.from(signature.slice("v1,".length), "base64"));
  if (!bytes.some((signature) => signature.length === mac.length && timingSafeEqual(signature, mac))) {
    return "the signature does not match this id, timestamp, body and secret";
  }
  const ageS = new Date(now).getTime() / 1000 - Number(timestamp);
  if (Math.abs(ageS) <= TOLERANCE_S) return "";
  return `webhook-timestamp is ${Math.abs(ageS).toFixed(0)} s ${ageS > 0 ? "old" : "ahead"}; ${TOLERANCE_S} are allowed`;
}
