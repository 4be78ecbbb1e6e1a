/// <reference lib="esnext.disposable" preserve="true" />
/** A receiver of callbacks and webhooks on this machine, which answers as it is told to. */

import { createServer, Server, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { checkArguments, guard } from "./arguments.js";
import { ExpectationFailed } from "./errors.js";
import { after, sleep, steadyS, wallMs } from "./machine.js";
import { RECEIVED, RECEIVER } from "./parameters.js";
import { judgeWebhook, UNCHECKED, UNSIGNED, Verdict } from "./webhooks.js";

const MESSAGES_MAX = 10_000;
const BODY_BYTES_MAX = 1 << 20;
const BYTES_MAX = 64 << 20;
const CONNECTIONS_MAX = 256;
const REQUESTS_OF_CONNECTION_MAX = 1_000; // so that one who never waits for answers does not fill the memory
const DISCARDED_BYTES_MAX = 16 << 20; // of a body that is too large; then it is answered, and its connection ends
const REQUEST_MS = 30_000;
const LINGER_S = 1;
const TOO_LARGE = 413;

/** How a request is answered. */
export interface Behaviour {
  /** From 200 to 599. */
  status?: number;
  /** Seconds before the answer, of wall time; a day at most. */
  delayS?: number;
  /** Close the connection instead of answering. */
  disconnect?: boolean;
  body?: string | Uint8Array;
  /** `text/plain` by default. */
  contentType?: string;
}

/** A request that came. */
export class Received {
  constructor(
    readonly at: Date,
    readonly method: string,
    /** With the query. */
    readonly path: string,
    /** By their names in lower case. */
    readonly headers: Record<string, string | undefined>,
    readonly bytes: Uint8Array,
    private readonly secrets: readonly string[],
  ) {
    checkArguments("new Received", arguments, RECEIVED.constructor);
  }

  get body(): string {
    return Buffer.from(this.bytes).toString("utf8");
  }

  /** Its JSON; throws a SyntaxError if it has none. */
  json(): unknown {
    return JSON.parse(this.body) as unknown;
  }

  /** What is known of its signature, by the secrets that the receiver was told: `verified`, and if not the `reason`. */
  get signature(): Verdict {
    if (this.headers["webhook-signature"] === undefined) return new Verdict(false, UNSIGNED);
    const verdicts = this.secrets.map((secret) => judgeWebhook(secret, this.headers, this.bytes, this.at));
    return verdicts.find(({ verified }) => verified) ?? verdicts.at(-1) ?? new Verdict(false, UNCHECKED);
  }

  /** True for a webhook that was signed with a secret that the receiver was told. */
  get verified(): boolean {
    return this.signature.verified;
  }
}

/**
 * A receiver on a free port of 127.0.0.1. It keeps the latest 10,000 requests, at most 64 MiB of them. A body of more than one
 * MiB is answered 413 and not kept.
 */
export class Receiver {
  /** What came and was kept, oldest first. */
  readonly received: Received[] = [];
  /** How many requests came and are not kept. */
  leftOut = 0;
  readonly #server: Server;
  readonly #behaviours: Readonly<Behaviour>[] = [];
  readonly #closed = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #secrets: string[] = [];
  #last: Readonly<Behaviour> = {};
  #bytes = 0;
  #count = 0;

  private constructor(server: Server) {
    if (!(server instanceof Server)) throw new TypeError("new Receiver: await Receiver.start() starts a receiver");
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 };
    const server = createServer(limits);
    server.maxConnections = CONNECTIONS_MAX;
    server.maxRequestsPerSocket = REQUESTS_OF_CONNECTION_MAX;
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      receiver.#receive(request, response).catch(() => response.destroy()); // a client that went away is no news
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    server.unref(); // a test that fails before `close` does not keep the process
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds an answer: they are used in order, the last one again and again. Without any it is 200. A RangeError for what cannot be
   * answered: a status outside 200 to 599, a delay of more than a day, a bad content type. */
  reply(status: number, behaviour?: Omit<Behaviour, "status">): this;
  reply(behaviour: Behaviour): this;
  reply(first: number | Behaviour, more?: Omit<Behaviour, "status">): this {
    if (typeof first === "object" && more !== undefined) throw new TypeError("receiver.reply: give one object with all options");
    const behaviour = typeof first === "object" ? first : { ...more, status: first };
    const { body = "" } = behaviour;
    this.#behaviours.push({ ...behaviour, body: typeof body === "string" ? body : Uint8Array.from(body) });
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
    this.#bytes = this.#count = this.leftOut = 0;
  }

  /** Waits until `count` requests have come since the beginning or the latest `clear`; returns those that are kept. */
  async waitFor(count: number, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<readonly Received[]> {
    const until = steadyS() + timeoutS;
    this.#server.ref(); // the process waits
    try {
      while (this.#count < count) {
        const leftS = until - steadyS();
        if (leftS <= 0) {
          const came = this.received.map(({ method, path, body }) => `${method} ${path} ${body.slice(0, 200)}`).join("\n");
          throw new ExpectationFailed(`${this.#count} requests came in ${timeoutS} s, expected ${count}`, came);
        }
        await this.#next(leftS);
      }
    } finally {
      this.#server.unref();
    }
    return this.received;
  }

  /** Closes its connections and its port. */
  async close(): Promise<void> {
    this.#closed.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Wait until a request comes, but no longer than this. */
  #next(timeoutS: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const wake = (): void => {
        cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      const cancel = after(timeoutS, wake);
      this.#waiting.add(wake);
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === "gone") return;
    if (body === "endless") {
      this.leftOut += 1;
      // To close at once would reset the connection, and the sender might never read why.
      response.writeHead(TOO_LARGE, { Connection: "close", "Content-Length": 0 }).flushHeaders();
      await sleep(LINGER_S, this.#closed.signal);
      response.end();
      return;
    }
    if (body === "too large") {
      this.leftOut += 1;
      await answer(response, { status: TOO_LARGE }, this.#closed.signal);
      return;
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
    const { method = "", url = "" } = request;
    this.#keep(new Received(new Date(wallMs()), method, url, headers, body, this.#secrets));
    this.#last = this.#behaviours.shift() ?? this.#last;
    for (const wake of [...this.#waiting]) wake();
    await answer(response, this.#last, this.#closed.signal);
  }

  #keep(message: Received): void {
    this.received.push(message);
    this.#count += 1;
    this.#bytes += sizeOf(message);
    while (this.received.length > MESSAGES_MAX || this.#bytes > BYTES_MAX) {
      this.#bytes -= sizeOf(this.received.shift() as Received);
      this.leftOut += 1;
    }
  }
}

guard(Receiver, "receiver", RECEIVER);
guard(Received, "received", RECEIVED);

function sizeOf({ bytes, headers }: Received): number {
  return Object.entries(headers).reduce((sum, [name, value = ""]) => sum + name.length + value.length, bytes.length);
}

/** The body as it came, to its end; of one that is too large nothing is kept, and of an endless one no more is read. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | "too large" | "endless" | "gone"> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop does not end the connection, on which the refusal is yet to be sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += (chunk as Uint8Array).length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk as Uint8Array);
      else chunks.length = 0;
      if (size > DISCARDED_BYTES_MAX) return "endless";
    }
  } catch {
    return "gone"; // the sender ended before its body did
  }
  return size > BODY_BYTES_MAX ? "too large" : Buffer.concat(chunks);
}

async function answer(response: ServerResponse, behaviour: Behaviour, closed: AbortSignal): Promise<void> {
  const { status = 200, delayS = 0, disconnect, body = "", contentType = "text/plain" } = behaviour;
  if (delayS > 0) await sleep(delayS, closed);
  if (disconnect) {
    response.socket?.destroy();
  } else {
    response.setTimeout(REQUEST_MS, () => response.destroy()); // whoever does not read its answer
    response.writeHead(status, { "Content-Type": contentType }).end(body);
  }
}
