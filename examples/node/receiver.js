// Receives callbacks of payments and webhooks: checks, hands over to the shop, and answers at once.

import { once } from "node:events";
import { createServer } from "node:http";
import { sen } from "./money.js";
import { isGenuine } from "./webhooks.js";

const LARGEST = 64 * 1024;

/** Listens on the loopback address. Let the proxy in front of yours admit the service's addresses only. */
export class Receiver {
  secret = ""; // from PUT /v2/balance-webhook
  seen = new Set(); // ids of events: yours are in a table

  constructor(shop) {
    this.shop = shop;
    this.server = createServer((request, response) => {
      this.#status(request)
        .catch(() => 400) // not what the service sends
        .then((status) => response.writeHead(status).end());
    });
  }

  /** Its address, once it listens. */
  async listen() {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }

  async #status(request) {
    const url = new URL(request.url, "http://receiver");
    const parts = [];
    let size = 0;
    for await (const part of request) {
      size += part.length;
      if (size > LARGEST) return 413;
      parts.push(part);
    }
    const body = Buffer.concat(parts);
    switch (`${request.method} ${url.pathname}`) {
      case "POST /callbacks":
        return this.#callback(JSON.parse(body).data);
      case "GET /callbacks":
        return this.#callback(JSON.parse(url.searchParams.get("message")));
      case "POST /webhooks":
        return this.#webhook(request.headers, body);
      default:
        return 404;
    }
  }

  /** What we do not know, or ordered otherwise, the service did not send. */
  #callback({ refid, product, account, amount, status }) {
    const order = this.shop.orders.get(refid);
    if (order === undefined) return 404;
    if (product !== order.product || account !== order.account || sen(amount) !== order.amount) return 400;
    this.shop.hear(order, status);
    return 200;
  }

  /** An event comes again after a lost answer: it counts once. */
  #webhook(headers, body) {
    if (!this.secret || !isGenuine(this.secret, headers, body)) return 401;
    const event = JSON.parse(body);
    if (!this.seen.has(event.id)) {
      this.seen.add(event.id);
      this.shop.events.emit("webhook", event);
    }
    return 204;
  }
}
