/// <reference lib="esnext.disposable" preserve="true" />
/** A receiver of callbacks and webhooks on this machine, which answers as it is told to. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { ExpectationFailed } from "./errors.js";
import { verifyWebhook } from "./webhooks.js";

/** How a request is answered. */
export interface Behaviour {
  status?: number;
  /** Seconds before the answer, of wall time. */
  delayS?: number;
  /** Close the connection instead of answering. */
  disconnect?: boolean;
  body?: string;
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
  ) {}

  get body(): string {
    return Buffer.from(this.bytes).toString("utf8");
  }

  /** Its JSON; throws a SyntaxError if it has none. */
  json(): unknown {
    return JSON.parse(this.body) as unknown;
  }

  /** True for a webhook that was signed with a secret that the receiver was told. */
  get verified(): boolean {
    return this.secrets.some((secret) => verifyWebhook(secret, this.headers, this.bytes, this.at));
  }
}

/** A receiver on a free port of 127.0.0.1. */
export class Receiver {
  /** All that came, oldest first. */
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #behaviours: Behaviour[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #secrets: string[] = [];
  #last: Behaviour = {};

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on("request", (request, response) => void receiver.#receive(request, response));
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

  /** Adds an answer: they are used in order, the last one again and again. Without any it is 200. */
  reply(status: number, behaviour?: Behaviour): this;
  reply(behaviour: Behaviour): this;
  reply(first: number | Behaviour, more: Behaviour = {}): this {
    this.#behaviours.push(typeof first === "number" ? { ...more, status: first } : first);
    return this;
  }

  /** Judges webhooks, earlier ones too, by this secret: see `verified` of what came. After several calls each is right. */
  verify(secret: string): this {
    this.#secrets.push(secret);
    return this;
  }

  /** Waits until `count` requests have come; returns all that have. */
  async waitFor(count: number, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<readonly Received[]> {
    const until = Date.now() + timeoutS * 1000;
    while (this.received.length < count) {
      const left = until - Date.now();
      if (left <= 0) {
        const came = this.received.map(({ method, path, body }) => `${method} ${path} ${body.slice(0, 200)}`).join("\n");
        throw new ExpectationFailed(`${this.received.length} requests came in ${timeoutS} s, expected ${count}`, came);
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.#waiting.add(wake);
      });
    }
    return this.received;
  }

  /** Closes its connections and its port. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
    } catch {
      return; // the sender has gone
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
    const { method = "", url = "" } = request;
    this.received.push(new Received(new Date(), method, url, headers, Buffer.concat(chunks), this.#secrets));
    this.#last = this.#behaviours.shift() ?? this.#last;
    for (const wake of [...this.#waiting]) wake();
    await answer(response, this.#last);
  }
}

async function answer(response: ServerResponse, { status = 200, delayS = 0, disconnect, body = "" }: Behaviour): Promise<void> {
  if (delayS > 0) await sleep(delayS * 1000, undefined, { ref: false });
  if (disconnect) {
    response.socket?.destroy();
  } else {
    response.writeHead(status).end(body);
  }
}
