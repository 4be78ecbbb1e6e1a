// Orders, and what becomes of them: paid once each, asked about until their status is final.

import { once, EventEmitter } from "node:events";
import { Unanswered } from "./client.js";
import { sen, text } from "./money.js";

// The service spells it with one s. "Refund" is what a payment becomes that was voided.
const FINAL = new Set(["Succesful", "Failed", "Refund"]);
const POLL_MS = 5_000;
const LONGEST_MS = 60_000;

/** What a customer buys. The refid is drawn once and names the payment for ever; `amount` is in sen. */
export class Order {
  status = "new";
  remarks = "";
  cost = 0n;
  asked = 0;
  failures = 0;
  askAt = 0; // null: nothing to ask
  politeAt = 0; // not to be asked about before

  constructor(refid, product, account, amount, extras = undefined) {
    Object.assign(this, { refid, product, account, amount, extras });
  }

  /** The body of every POST /v2/topup for this order: the same one, or it would be another order. */
  request() {
    const { refid, product, account, extras } = this;
    return { refid, product, account, amount: text(this.amount), extras };
  }
}

/**
 * The orders, in memory here: yours are rows of a table, written before anything is sent.
 * `speed` is for clocks that run faster.
 */
export class Shop {
  orders = new Map();
  events = new EventEmitter(); // "callback", and "webhook" with a verified event, each once

  constructor(client, speed = 1) {
    Object.assign(this, { client, speed });
  }

  /** Store an order and pay it. */
  async place(order) {
    this.orders.set(order.refid, order);
    await this.#ask(order);
  }

  /** Ask until every order has its final status: when a callback says so, and every five seconds anyway. */
  async settle(withinMs) {
    const end = performance.now() + withinMs;
    for (;;) {
      const waiting = [...this.orders.values()].filter((order) => order.askAt !== null);
      if (waiting.length === 0) return;
      const next = waiting.reduce((first, order) => (order.askAt < first.askAt ? order : first));
      if (performance.now() > end) throw new Error(`${next.refid} is still ${next.status}`);
      const wait = next.askAt - performance.now();
      if (wait <= 0) await this.#ask(next);
      else await once(this.events, "callback", { signal: AbortSignal.timeout(Math.ceil(wait)) }).catch(() => {});
    }
  }

  /** A callback is no proof, since it is not signed. It is a reason to ask now. */
  hear(order, status) {
    if (!FINAL.has(status) || status === order.status) return;
    order.askAt = Math.max(performance.now(), order.politeAt);
    this.events.emit("callback");
  }

  /** Pay, or ask again, which is the same request: the service pays a refid once. */
  async #ask(order) {
    order.asked += 1;
    let answer;
    try {
      answer = await this.client.call("POST", "/v2/topup", {}, order.request());
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      // It may have been paid: the same refid again, with doubled waits. A new refid would pay twice.
      order.failures += 1;
      order.askAt = performance.now() + Math.min(1000 * 2 ** order.failures, LONGEST_MS) / this.speed;
      return;
    }
    const payment = answer.json.data;
    order.failures = 0;
    order.remarks = payment.remarks;
    if (answer.status === 400) {
      Object.assign(order, { status: "refused", askAt: null });
      return;
    }
    Object.assign(order, { status: payment.status, cost: sen(payment.cost) });
    if (FINAL.has(order.status)) {
      order.askAt = null;
    } else {
      order.askAt = performance.now() + POLL_MS / this.speed;
      order.politeAt = order.asked === 1 && order.status === "Accepted" ? 0 : order.askAt;
    }
  }
}
