/// <reference lib="esnext.disposable" preserve="true" />
/** A receiver of callbacks and webhooks on this machine, which answers as it is told to. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { TimedOut } from "./errors.js";
import { isGenuineWebhook } from "./webhooks.js";

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
export interface Received {
  method: string;
  /** With the query. */
  path: string;
  /** By their names in lower case. */
  headers: Record<string, string | undefined>;
  body: string;
  /** Whether the signature was right; undefined unless the receiver verifies. */
  verified: boolean | undefined;
  /** Its JSON; throws a SyntaxError if it has none. */
  json(): unknown;
}

/** A receiver on a free port of 127.0.0.1. */
export class Receiver {
  /** All that came, oldest first. */
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #behaviours: Behaviour[] = [];
  readonly #waiting = new Set<() => void>();
  #secret: string | undefined;

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
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Adds an answer: they are used in order, the last one again and again. Without any it is 200. */
  reply(status: number, behaviour?: Behaviour): this;
  reply(behaviour: Behaviour): this;
  reply(first: number | Behaviour, more: Behaviour = {}): this {
    this.#behaviours.push(typeof first === "number" ? { ...more, status: first } : first);
    return this;
  }

  /** From now on verifies the signature of webhooks, and answers 401 to a wrong one. */
  verify(secret: string): this {
    this.#secret = secret;
    return this;
  }

  /** Waits until `count` requests have come; returns all that have. */
  async waitFor(count: number, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<readonly Received[]> {
    const until = Date.now() + timeoutS * 1000;
    while (this.received.length < count) {
      const left = until - Date.now();
      if (left <= 0) throw new TimedOut(`${this.received.length} requests came in ${timeoutS} s, ${count} were expected`);
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
    const bytes = Buffer.concat(chunks);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
    const verified = this.#secret === undefined ? undefined : isGenuineWebhook(this.#secret, headers, bytes);
    const body = bytes.toString("utf8");
    const { method = "", url: path = "" } = request;
    this.received.push({ method, path, headers, body, verified, json: () => JSON.parse(body) as unknown });
    const behaviour = verified === false ? { status: 401 } : this.#next();
    for (const wake of [...this.#waiting]) wake();
    await answer(response, behaviour);
  }

  #next(): Behaviour {
    const next = this.#behaviours.length > 1 ? this.#behaviours.shift() : this.#behaviours[0];
    return next ?? { status: 200 };
  }
}

async function answer(response: ServerResponse, { status = 200, delayS = 0, disconnect, body = "" }: Behaviour): Promise<void> {
  if (delayS > 0) await sleep(delayS * 1000);
  if (disconnect) {
    response.socket?.destroy();
  } else {
    response.writeHead(status).end(body);
  }
}
