/// <reference lib="esnext.disposable" preserve="true" />
/** Callbacks and webhooks that came: to an inbox of the simulator, or to a receiver on this machine, which answers as a test wants. */

import { once } from "node:events";
import { createServer, Server, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { guard, RECEIVER } from "./arguments.js";
import { ExpectationFailed, type Control } from "./control.js";
import { after, sleep, steadyS, wallMs } from "./machine.js";
import type { InboxRecord } from "./records.js";
import { judgeWebhook, Verdict } from "./signing.js";

const MESSAGES_MAX = 10_000;
const BODY_BYTES_MAX = 1 << 20;
const CONNECTIONS_MAX = 256;
const REQUEST_MS = 30_000;
const TOO_LARGE = 413;
const POLL_S_MAX = 300; // the longest that the control API waits
export const LATE_S = 60; // what an answer may take beyond the wait that it was asked for

/** The payment that a callback is about, as far as it says. */
export type CallbackData = { refid?: string; status?: string; statusCode?: number; remarks?: string; balance?: number; [more: string]: unknown };

/** A message of an inbox. */
export class Message {
  readonly n: number;
  readonly at: string;
  readonly method: string;
  readonly query: Record<string, string>;
  readonly body: string;
  /** By their names in lower case. */
  readonly headers: Record<string, string>;

  constructor(record: InboxRecord) {
    ({ n: this.n, at: this.at, method: this.method, query: this.query, body: this.body } = record);
    this.headers = Object.fromEntries(record.headers.map(([name, value]) => [name.toLowerCase(), value]));
  }

  /** Its JSON: of the body or, for a callback by GET, of the parameter `message`. Undefined without JSON. */
  json(): unknown {
    const text = this.method === "GET" ? this.query["message"] : this.body;
    try {
      return JSON.parse(text ?? "") as unknown;
    } catch {
      return undefined;
    }
  }

  /** The payment data of a callback; empty for other messages. */
  get data(): CallbackData {
    const json = this.json();
    if (typeof json !== "object" || json === null) return {};
    const data = (("data" in json ? json.data : json) ?? {}) as CallbackData;
    return this.method === "GET" && this.query["refid"] ? { refid: this.query["refid"], ...data } : data;
  }

  /** Whether it is a webhook that was signed with this secret (`verified`), and if not why (`reason`). Callbacks are not signed. */
  verify(secret: string): Verdict {
    return judgeWebhook(secret, this.headers, this.body);
  }
}

/** Return the first such message that an inbox received or receives in so many seconds; undefined if none comes. */
export async function firstMessage(control: Control, path: string, isMeant: (message: Message) => boolean, timeoutS: number): Promise<Message | undefined> {
  const until = steadyS() + timeoutS;
  for (let cursor = 0; ; ) {
    const leftS = Math.max(0, until - steadyS());
    const waitS = Math.min(leftS, POLL_S_MAX);
    const query = { cursor, wait_for: 1, timeout: waitS.toFixed(3) };
    const { items } = await control.ask<{ items: InboxRecord[] }>("GET", path, { query, timeoutS: waitS + LATE_S });
    const message = items.map((item) => new Message(item)).find(isMeant);
    if (message !== undefined || (items.length === 0 && waitS === leftS)) return message;
    cursor = items.at(-1)?.n ?? cursor;
  }
}

/** How a request is answered: by a status from 200 to 599, after seconds of wall time, a day at most, by a closed connection instead of an
 * answer, with a body of a type, by default `text/plain`. */
export type Behaviour = { status?: number; delayS?: number; disconnect?: boolean; body?: string | Uint8Array; contentType?: string };

/** A request that a receiver got. */
export class Received {
  /** `path` has the query; `headers` are by their names in lower case. */
  constructor(
    readonly at: Date,
    readonly method: string,
    readonly path: string,
    readonly headers: Record<string, string | undefined>,
    readonly bytes: Uint8Array,
    private readonly secrets: readonly string[],
  ) {}

  get body(): string {
    return Buffer.from(this.bytes).toString("utf8");
  }

  /** Its JSON; throws a SyntaxError if the body is no JSON. */
  json(): unknown {
    return JSON.parse(this.body) as unknown;
  }

  /** The verdict on its signature, by the secrets of the receiver: `verified`, and if not the `reason`. */
  get signature(): Verdict {
    if (this.headers["webhook-signature"] === undefined) return new Verdict(false, "it has no header webhook-signature; transaction callbacks are unsigned");
    const verdicts = this.secrets.map((secret) => judgeWebhook(secret, this.headers, this.bytes, this.at));
    return verdicts.find(({ verified }) => verified) ?? verdicts.at(-1) ?? new Verdict(false, "no secret was given; name it with verify(secret)");
  }

  /** True for a webhook that was signed with a secret of the receiver. */
  get verified(): boolean {
    return this.signature.verified;
  }
}

/** A receiver on a free port of 127.0.0.1. It keeps the latest 10,000 requests; a body of more than one is answered 413. */
export class Receiver {
  /** The stored messages, oldest first. */
  readonly received: Received[] = [];
  /** How many requests came and are not kept. */
  leftOut = 0;
  readonly #server: Server;
  readonly #behaviours: Readonly<Behaviour>[] = [];
  readonly #closed = new AbortController();
  readonly #secrets: string[] = [];
  #last: Readonly<Behaviour> = {};

  private constructor(server: Server) {
    if (!(server instanceof Server)) throw new TypeError("new Receiver: await Receiver.start() starts a receiver");
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 });
    server.maxConnections = CONNECTIONS_MAX;
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      receiver.#receive(request, response).catch(() => response.destroy()); // a client that went away is no news
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    server.unref(); // a test that fails before `close` does not keep the process
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds an answer: they are used in order, the last one again and again. Without any it is 200. */
  reply(status: number, behaviour?: Omit<Behaviour, "status">): this;
  reply(behaviour: Behaviour): this;
  reply(first: number | Behaviour, more?: Omit<Behaviour, "status">): this {
    if (typeof first === "object" && more !== undefined) throw new TypeError("receiver.reply: give one object with all options");
    this.#behaviours.push(typeof first === "object" ? { ...first } : { ...more, status: first });
    return this;
  }

  /** Judges webhooks, earlier ones too, by this secret: see `verified` of what came. After several calls each is right. */
  verify(secret: string): this {
    this.#secrets.push(secret);
    return this;
  }

  /** Forgets what came and which answers were added. Secrets stay. */
  clear(): void {
    this.received.length = this.#behaviours.length = 0;
    this.#last = {};
    this.leftOut = 0;
  }

  /** Waits until `count` requests have come since the beginning or the latest `clear`; returns the stored requests. */
  async waitFor(count: number, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<readonly Received[]> {
    const until = steadyS() + timeoutS;
    this.#server.ref(); // the process waits
    try {
      while (this.received.length + this.leftOut < count) {
        const leftS = until - steadyS();
        const lines = this.received.map(({ method, path, body }) => `${method} ${path} ${body.slice(0, 200)}`).join("\n");
        if (leftS <= 0) throw new ExpectationFailed(`${this.received.length + this.leftOut} requests came in ${timeoutS} s, expected ${count}`, lines);
        const waiting = new AbortController();
        after(leftS, () => waiting.abort());
        await once(this.#server, "arrival", waiting).catch(() => undefined);
      }
    } finally {
      this.#server.unref();
    }
    return this.received;
  }

  /** Closes its connections and its port. */
  async close(): Promise<void> {
    this.#closed.abort();
    if (!this.#server.listening) return;
    this.#server.close().closeAllConnections();
    await once(this.#server, "close");
  }

  [Symbol.asyncDispose] = (): Promise<void> => this.close();

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new Date(wallMs());
    const bytes = await bodyOf(request);
    if (bytes === undefined) {
      this.leftOut += 1;
      this.#server.emit("arrival");
      return answer(response, { status: TOO_LARGE }, this.#closed.signal);
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
    this.received.push(new Received(at, request.method ?? "", request.url ?? "", headers, bytes, this.#secrets));
    if (this.received.length > MESSAGES_MAX) this.leftOut += this.received.splice(0, 1).length;
    this.#last = this.#behaviours.shift() ?? this.#last;
    this.#server.emit("arrival");
    await answer(response, this.#last, this.#closed.signal);
  }
}

guard(Receiver, "receiver", RECEIVER);

/** The whole body; undefined for a body that is too large, which is not stored. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks);
}

async function answer(response: ServerResponse, behaviour: Behaviour, closed: AbortSignal): Promise<void> {
  const { status = 200, delayS = 0, disconnect, body = "", contentType = "text/plain" } = behaviour;
  if (delayS > 0) await sleep(delayS, closed);
  if (disconnect) response.socket?.destroy();
  else response.writeHead(status, { "Content-Type": contentType }).end(body);
}
