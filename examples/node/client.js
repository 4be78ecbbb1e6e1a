// Talks to the service.

import { signedHeaders } from "./signing.js";

// The service answers within 29 seconds, or with a 504.
const TIMEOUT_MS = 35_000;

/** No answer, or one that says nothing: the request may have been processed, and may not. */
export class Unanswered extends Error {}

/** The service takes no request of this kind from us: somebody has to look at it, and a retry changes nothing. */
export class Rejected extends Error {}

/** Signed requests with an API key. */
export class Client {
  constructor(url, key, secret) {
    Object.assign(this, { url, key, secret });
  }

  /** Send one request; `status`, 200 or 400, and the JSON of the answer as `json`. */
  async call(method, path, parameters = {}, content = undefined) {
    // Percent-encoded, since a blank as + is signed otherwise than it is meant.
    const query = Object.keys(parameters)
      .sort()
      .map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(parameters[name])}`)
      .join("&");
    const body = content === undefined ? "" : JSON.stringify(content);
    const headers = signedHeaders(this.key, this.secret, method, query, body);
    headers["Content-Type"] = "application/json";
    let status, answered;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const address = `${this.url}${path}${query && `?${query}`}`;
      const answer = await fetch(address, { method, headers, body: body || undefined, signal, redirect: "manual" });
      status = answer.status;
      answered = await answer.text();
    } catch (error) {
      throw new Unanswered(`${method} ${path}: ${error.cause ?? error}`);
    }
    if (status >= 500 || status === 429) throw new Unanswered(`${method} ${path}: ${status}`);
    if (status !== 200 && status !== 400) throw new Rejected(`${method} ${path} was answered ${status}: ${answered}`);
    try {
      return { status, json: JSON.parse(answered) };
    } catch {
      throw new Unanswered(`${method} ${path}: no JSON`);
    }
  }

  /** The JSON of a GET, or of a change of settings. */
  async accepted(method, path, parameters = {}, content = undefined) {
    const { status, json } = await this.call(method, path, parameters, content);
    if (status !== 200) throw new Rejected(`${method} ${path} was answered ${status}: ${JSON.stringify(json)}`);
    return json;
  }
}
