/// <reference lib="esnext.disposable" preserve="true" />
/** A sandbox: a service of its own, with wallet, payments, keys and time, and what a test asks of it. */

import type { Shape } from "./checking.js";
import { PAGES_MAX, type Control, type Sent } from "./control.js";
import { environmentOf } from "./environment.js";
import { ExpectationFailed, SimulatorError } from "./errors.js";
import * as expectations from "./expectations.js";
import { Message } from "./messages.js";
import { type ForkFrom, type Moment, sentMoment } from "./moments.js";
import type {
  Advanced,
  Audit,
  CallbackRecord,
  Clock,
  InboxRecord,
  LedgerEntry,
  Mark,
  Reply,
  RequestRecord,
  Reseller,
  SandboxRecord,
  TransactionRecord,
} from "./records.js";
import { checkRequest, checkTarget } from "./requesting.js";
import * as shapes from "./shapes.js";
import { hmacHeaders } from "./signing.js";
import { checkCallbackStatus } from "./statuses.js";
import { Story } from "./story.js";
import { iso, seconds, WAIT_S_MAX, waitS } from "./time.js";
import type { AdvanceBy, CallbackFilters, CallbackWanted, PaymentFilters, RequestFilters, Rule } from "./wanted.js";

const LATE_S = 60; // what an answer may take beyond the wait that it was asked for

/** A sandbox of a running simulator. */
export class Sandbox {
  readonly id: string;
  /** Where its reseller API is: the base URL of the client that is tested. */
  readonly url: string;
  readonly controlUrl: string;
  readonly resellers: readonly Reseller[];
  readonly #control: Control;
  readonly #path: string;
  readonly #isOurs: boolean;

  /** `isOurs`: `await using` deletes it. */
  constructor(control: Control, record: SandboxRecord, isOurs = false) {
    this.#isOurs = isOurs;
    this.id = record.id;
    this.url = record.url;
    this.resellers = record.resellers;
    this.#control = control;
    this.#path = `/sandboxes/${encodeURIComponent(record.id)}`;
    this.controlUrl = `${control.url}${this.#path}`;
  }

  /** The first reseller's. */
  get apiKey(): string {
    return this.resellers[0]?.api_key ?? "";
  }
  get apiSecret(): string {
    return this.resellers[0]?.api_secret ?? "";
  }
  get username(): string {
    return this.resellers[0]?.username ?? "";
  }
  get password(): string {
    return this.resellers[0]?.password ?? "";
  }

  /** The variables that `reseller-sim exec` sets, for a program that reads its settings from its environment. */
  get environment(): Record<string, string> {
    return environmentOf(this, this.#control);
  }

  /** `fetch` to a path of the reseller API, such as `/v2/balance`, signed over the bytes that are sent. Text is sent as JSON
   * unless the headers say otherwise. A RangeError for a path that would not arrive as it is written. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    checkTarget(path);
    const request = new Request(`${this.url}${path}`, init);
    const body = new Uint8Array(await request.arrayBuffer());
    const headers = new Headers(request.headers);
    if (typeof init.body === "string" && !new Headers(init.headers).has("Content-Type")) {
      headers.set("Content-Type", "application/json");
    }
    const { method, url } = request;
    const { apiKey, apiSecret } = this;
    for (const [name, value] of Object.entries(hmacHeaders({ apiKey, apiSecret, method, url, body }))) {
      headers.set(name, value);
    }
    const { signal, redirect } = request;
    return fetch(url, { method, headers, signal, redirect, body: body.length > 0 ? body : null });
  }

  /** A signed request with a JSON body or none: `call("POST", "/v2/topup", { refid: "order-1", ... })`. */
  call(method: string, path: string, json?: unknown): Promise<Response> {
    return this.fetch(path, { method, body: json === undefined ? null : JSON.stringify(json) });
  }

  /** A request to the control API below this sandbox, for what has no method here. */
  ask<T = unknown>(method: string, path: string, sent: Sent = {}): Promise<T> {
    return this.#read(method, path, shapes.ANYTHING, sent);
  }

  /** Moves time on: `"90s"`, `90` seconds, or `{ to }` a time. Without an argument, what is due now happens. */
  advance(by: AdvanceBy = 0): Promise<Advanced> {
    const json = typeof by === "object" && by !== null ? { to: iso(by.to) } : { seconds: seconds(by) };
    return this.#read("POST", "/clock/advance", shapes.ADVANCED, { json });
  }

  /** Moves time on until nothing is left to happen. */
  runUntilIdle(): Promise<Advanced> {
    return this.#read("POST", "/clock/advance", shapes.ADVANCED, { json: { until: "idle" } });
  }

  /** Its time now. */
  async now(): Promise<Date> {
    return new Date((await this.#read<Clock>("GET", "/clock", shapes.CLOCK)).now);
  }

  /** Adds a rule, which comes before those that are there. `section`: `payments`, `voids`, `disputes`, `bills` or `faults`. */
  async rule(section: string, rule: object): Promise<Rule> {
    const { id } = await this.#read<{ id: string }>("POST", "/rules", shapes.MADE_RULE, { json: { section, rule } });
    return { id, remove: () => this.ask("DELETE", `/rules/${encodeURIComponent(id)}`) };
  }

  /** Adds a fault: `{ when: { path: "/v2/topup" }, times: 1, then: { status: 503 } }`. */
  fault(rule: object): Promise<Rule> {
    return this.rule("faults", rule);
  }

  /** Credits a wallet, by default the first reseller's. */
  deposit(amount: string | number, options: { reseller?: string; description?: string } = {}): Promise<LedgerEntry> {
    const { reseller = this.resellers[0]?.code ?? "", description } = options;
    const path = `/resellers/${encodeURIComponent(reseller)}/deposits`;
    return this.#read("POST", path, shapes.ENTRY, { json: { amount, description } });
  }

  /** The latest payment with this reference; null if there is none. */
  async transaction(refid: string): Promise<TransactionRecord | null> {
    const query = { refid, limit: 1 };
    const page = await this.#read<{ transactions: TransactionRecord[] }>("GET", "/transactions", shapes.PAYMENTS_PAGE, { query });
    return page.transactions[0] ?? null;
  }

  /** All payments, newest first. */
  transactions(filters: PaymentFilters = {}): Promise<TransactionRecord[]> {
    return this.#control.all(`${this.#path}/transactions`, "transactions", shapes.PAYMENT, { ...filters });
  }

  /** All that happened to the latest payment with this reference. */
  async story(refid: string): Promise<Story> {
    const payment = await this.transaction(refid);
    if (payment === null) throw await expectations.noPayment(this, refid);
    return new Story(await this.#read("GET", `/transactions/${encodeURIComponent(payment.trxid)}`, shapes.STORY));
  }

  /** The journal of requests, newest first. */
  requests(filters: RequestFilters = {}): Promise<RequestRecord[]> {
    return this.#control.all(`${this.#path}/requests`, "requests", shapes.REQUEST, { ...filters });
  }

  /** The requests that were refused, newest first: `status` is 400 or more. `diagnosis` says why. */
  async refused(): Promise<RequestRecord[]> {
    return (await this.requests()).filter(({ status }) => (status ?? 0) >= 400);
  }

  /** Every attempt of a callback, oldest first. */
  callbacks(filters: CallbackFilters = {}): Promise<CallbackRecord[]> {
    return this.#control.all(`${this.#path}/callbacks`, "callbacks", shapes.CALLBACK, { ...filters });
  }

  /** What the service asks of a client, and whether this one did it. */
  audit(): Promise<Audit> {
    return this.#read("GET", "/audit", shapes.AUDIT);
  }

  /** What an inbox received, oldest first. Callbacks go to `callbacks` until the client sets a URL of its own. */
  async inbox(name = "callbacks"): Promise<Message[]> {
    return (await this.#control.all<InboxRecord>(this.#inbox(name), "items", shapes.RECEIVED)).map((item) => new Message(item));
  }

  /** What an inbox replies: in this order, the last one again and again. */
  replies(name: string, replies: readonly Reply[]): Promise<void> {
    return this.#control.ask("PUT", this.#inbox(name), { json: { replies } });
  }

  /** The first callback of this payment, with this status, that an inbox received or receives in `timeoutS` seconds, by
   * default 10. */
  async waitForCallback(wanted: CallbackWanted = {}): Promise<Message> {
    const { refid, status, timeoutS = 10, inbox = "callbacks" } = wanted;
    checkCallbackStatus(status);
    const until = Date.now() + waitS(timeoutS) * 1000;
    for (let cursor = 0, late = 0; ; ) {
      const left = Math.max(0, (until - Date.now()) / 1000);
      const sent = { query: { cursor, wait_for: 1, timeout: left.toFixed(3) }, timeoutS: Math.min(left + LATE_S, WAIT_S_MAX) };
      const path = this.#inbox(inbox);
      const { items } = await this.#control.ask<{ items: InboxRecord[] }>("GET", path, sent, shapes.RECEIVED_PAGE);
      const found = items
        .map((item) => new Message(item))
        .find(({ data }) => (refid ?? data.refid) === data.refid && (status ?? data.status) === data.status);
      if (found) return found;
      const last = items.at(-1)?.n ?? cursor;
      if (items.length > 0 && last <= cursor) throw this.#control.wrongAnswer("GET", path, "it has the same messages again");
      cursor = last;
      if (Date.now() < until) continue;
      late += 1; // what has come already is read to its end
      if (items.length === 0 || late > PAGES_MAX) throw await this.#noCallback(wanted, timeoutS);
    }
  }

  /** Fails with the payment's story unless it has this status. */
  expectStatus(refid: string, status: string): Promise<void> {
    return expectations.expectStatus(this, refid, status);
  }

  /** The balance of a wallet, by default the first reseller's. */
  async balance(reseller?: string): Promise<number> {
    const { resellers } = await this.record();
    const found = reseller === undefined ? resellers[0] : resellers.find(({ code }) => code === reseller);
    if (found === undefined) throw new RangeError(`sandbox ${this.id} has no reseller ${reseller ?? ""}`);
    return found.balance;
  }

  /** Fails with the payments unless a wallet, by default the first reseller's, has this balance. */
  expectBalance(amount: string | number, reseller?: string): Promise<void> {
    return expectations.expectBalance(this, amount, reseller);
  }

  /** Fails with the payment's story unless a receiver has accepted such a callback, which is returned. Does not wait. */
  expectCallback(refid: string, wanted: { status?: string } = {}): Promise<CallbackRecord> {
    return expectations.expectCallback(this, refid, wanted);
  }

  /** Fails with the refused requests and their diagnoses if there are any. */
  expectNoRefusals(): Promise<void> {
    return expectations.expectNoRefusals(this);
  }

  /** Fails with the violations, and what to do about them, if the client did what the service forbids. Warnings are
   * allowed. */
  expectCleanAudit(): Promise<void> {
    return expectations.expectCleanAudit(this);
  }

  /** What it is like now: clock, resellers, balances. */
  record(): Promise<SandboxRecord> {
    return this.#read("GET", "", shapes.SANDBOX);
  }

  /** Returns to the state in which it began. */
  async reset(): Promise<void> {
    await this.ask("POST", "/reset");
  }

  /** Names the present, to return to it. */
  mark(name: string): Promise<Mark> {
    return this.#read("POST", "/marks", shapes.MARK, { json: { name } });
  }

  /** Returns to `{ mark }`, `{ to }` a time, or `{ n }` entries of its tape; what came later is gone. */
  async rewind(moment: Moment): Promise<void> {
    await this.ask("POST", "/rewind", { json: sentMoment(moment) });
  }

  /** A second sandbox that begins as this one is now, or was at a moment. */
  async fork(moment: ForkFrom = {}): Promise<Sandbox> {
    const { id, ...at } = moment;
    const json = { id, fork: { of: this.id, ...sentMoment(at) } };
    return new Sandbox(this.#control, await this.#control.ask("POST", "/sandboxes", { json }, shapes.SANDBOX), true);
  }

  async delete(): Promise<void> {
    await this.ask("DELETE", "");
  }

  /** Deletes it if it was created here and is still there. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOurs) return;
    await this.delete().catch((error: unknown) => {
      if (!(error instanceof SimulatorError && error.status === 404)) throw error;
    });
  }

  async #read<T>(method: string, path: string, shape: Shape, sent: Sent = {}): Promise<T> {
    checkRequest(method, path); // by itself, since "clock" would make another sandbox's name of this one's
    return this.#control.ask(method, `${this.#path}${path}`, sent, shape);
  }

  #inbox(name: string): string {
    return `${this.#path}/inbox/${encodeURIComponent(name)}`;
  }

  async #noCallback({ refid, status }: CallbackWanted, timeoutS: number): Promise<ExpectationFailed> {
    const what = ["no callback", refid && `for ${refid}`, status && `with the status ${status}`].filter(Boolean).join(" ");
    const { mode, pending } = await this.#read<Clock & { pending: number }>("GET", "/clock", shapes.CLOCK);
    const hint = mode === "manual" && pending > 0 ? "; time stands still: call advance() or runUntilIdle() first" : "";
    const evidence = refid === undefined ? "" : await expectations.storyOrRefusals(this, refid);
    return new ExpectationFailed(`${what} came in ${timeoutS} s${hint}`, evidence);
  }
}
