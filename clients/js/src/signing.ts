/** The signature of a request: HMAC-SHA256 over method, query and body, under a secret in Base64. */

import { createHash, createHmac, randomUUID } from "node:crypto";

import { checkArguments, inspected } from "./arguments.js";
import { wallMs } from "./machine.js";
import { FUNCTIONS } from "./parameters.js";

/** A request that is to be signed. */
export interface Signable {
  apiKey: string;
  /** In Base64, as the service hands it out. */
  apiSecret: string;
  method: string;
  /** The whole URL or its path; only the query is signed. */
  url: string | URL;
  /** The bytes that are sent, or their text; none for an empty body. */
  body?: string | Uint8Array | undefined;
  /** Unix time in seconds; by default the machine's, whatever a test has made of `Date`. */
  timestamp?: number | undefined;
  /** 16 to 128 letters, digits, `-` and `_`; by default a new one. */
  nonce?: string | undefined;
}

/** The four headers that sign a request, for any HTTP client. A request that is sent again has to be signed again. */
export function hmacHeaders(request: Signable): Record<string, string> {
  checkArguments("hmacHeaders", arguments, FUNCTIONS.hmacHeaders);
  const timestamp = request.timestamp ?? Math.floor(wallMs() / 1000);
  const nonce = request.nonce ?? randomUUID();
  const hash = createHash("sha256")
    .update(request.body ?? "")
    .digest("base64");
  const text = ["v1", timestamp, nonce, request.method.toUpperCase(), sortedQuery(request.url), hash].join(":");
  const key = Buffer.from(request.apiSecret, "base64");
  return {
    "X-Api-Key": request.apiKey,
    "X-Timestamp": `${timestamp}`,
    "X-Nonce": nonce,
    "X-Signature": `v1=${createHmac("sha256", key).update(text).digest("base64")}`,
  };
}

/** The query as it is sent, sorted by key; equal keys keep their order, and what has no `=` is not signed. */
function sortedQuery(url: string | URL): string {
  const key = (parameter: string) => parameter.slice(0, parameter.indexOf("="));
  return new URL(url, "http://localhost").search
    .slice(1)
    .split("&")
    .filter((parameter) => parameter.includes("="))
    .map((parameter) => ({ key: key(parameter), parameter }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ parameter }) => parameter)
    .join("&");
}

/** Throw a RangeError for a path of the reseller API that would not arrive as it is written: a URL escapes, cuts and resolves
 * without a word, and then something else is signed and sent. */
export function checkTarget(path: string): void {
  if (!path.startsWith("/")) {
    throw new RangeError(`${inspected(path)} is no path of the reseller API: begin it with /, as in /v2/balance`);
  }
  const { pathname, search } = new URL(`http://sandbox${path}`);
  if (path.split("?", 1)[0] === pathname && !/[\p{Cc}#]/u.test(path)) return; // blanks of a query are escaped, then signed
  const arrives = `${pathname}${search}`;
  throw new RangeError(`${inspected(path)} would not arrive as it is written, but as ${inspected(arrives)}: write it as it is sent, percent-encoded`);
}
