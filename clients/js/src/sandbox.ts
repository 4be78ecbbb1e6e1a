/// <reference lib="esnext.disposable" preserve="true" />
/** A sandbox: a service of its own, with wallet, payments, keys and time, and what a test asks of it. */

import { checkPath, guard, HOLD, iso, nearest, SANDBOX, seconds, sentMoment } from "./arguments.js";
import { Control, encoded, ExpectationFailed, SimulatorError, type Sent } from "./control.js";
import * as evidence from "./evidence.js";
import { proxyBypass } from "./machine.js";
import { firstMessage, LATE_S, Message } from "./receiver.js";
import type {
  AdvanceBy, Advanced, Audit, CallbackFilters, CallbackRecord, CallbackWanted, Clock, ForkFrom, Held, InboxRecord, LedgerEntry, Mark,
  Moment, PaymentFilters, Reply, RequestFilters, RequestInit, RequestRecord, Reseller, Rule, SandboxRecord, TransactionRecord,
} from "./records.js";
import { signedFetch } from "./signing.js";
import { Story } from "./story.js";

const LONG_S = 600; // for an answer that comes when all that was due has happened
const NOTHING_DUE = 'advance() runs what is due now, and nothing is: to move time, give a duration such as advance("5s")';

/** Answers and deliveries that rules hold with `hold: NAME`, until the test releases them. The end of `await using` releases all of them. */
export class Hold {
  constructor(private readonly sandbox: Sandbox, readonly name: string) {}

  /** The items that are held now. */
  async waiting(): Promise<Held[]> {
    return (await this.sandbox.ask<{ holds: Held[] }>("GET", "/holds", { query: { name: this.name } })).holds;
  }

  /** Waits until `count` items are held, by default 1, and returns them. Fails when that takes longer than `timeoutS`, by default 10 seconds. */
  async wait(count = 1, { timeoutS = 10 }: { timeoutS?: number } = {}): Promise<Held[]> {
    const query = { name: this.name, wait_for: count, timeout: timeoutS };
    const sent = { query, timeoutS: timeoutS + LATE_S };
    const { holds, complete } = await this.sandbox.ask<{ holds: Held[]; complete: boolean }>("GET", "/holds", sent);
    if (complete) return holds;
    throw new ExpectationFailed(`${holds.length} of ${count} were held in ${this.name} within ${timeoutS} s`, "", holds.length, count);
  }

  /** Releases the first `count` items, by default all, and returns how many were released. */
  async release(count?: number): Promise<number> {
    const path = `/holds/${encodeURIComponent(this.name)}/release`;
    return (await this.sandbox.ask<{ released: number }>("POST", path, { json: { count } })).released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

guard(Hold, "hold", HOLD);

/** A sandbox of a running simulator. */
export class Sandbox {
  readonly id: string;
  /** Where its reseller API is: the base URL of the client that is tested. */
  readonly url: string;
  readonly controlUrl: string;
  readonly resellers: readonly Reseller[];
  /** The credentials belong to the first reseller. */
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly username: string;
  readonly password: string;
  readonly #control: Control;
  readonly #path: string;
  readonly #isOurs: boolean;
  readonly #signsByItsClock: boolean;

  /** `isOurs`: `await using` deletes it. */
  constructor(control: Control, record: SandboxRecord, isOurs = false) {
    if (!(control instanceof Control)) throw new TypeError("new Sandbox: simulator.sandbox() creates a sandbox, and simulator.open() finds one");
    ({ id: this.id, url: this.url, resellers: this.resellers } = record);
    const { api_key, api_secret, username, password } = record.resellers[0] ?? {};
    [this.apiKey, this.apiSecret, this.username, this.password] = [api_key ?? "", api_secret ?? "", username ?? "", password ?? ""];
    this.#control = control;
    this.#path = `/sandboxes/${encodeURIComponent(record.id)}`;
    this.controlUrl = `${control.url}${this.#path}`;
    this.#isOurs = isOurs;
    this.#signsByItsClock = record.clock.signature === "sandbox";
  }

  /** The variables that `reseller-sim exec` sets, for a program that reads its settings from its environment. */
  get environment(): Record<string, string> {
    const { url, token } = this.#control;
    return {
      ...{ RESELLER_BASE_URL: this.url, RESELLER_API_KEY: this.apiKey, RESELLER_API_SECRET: this.apiSecret },
      ...{ RESELLER_USERNAME: this.username, RESELLER_PASSWORD: this.password, RESELLER_SANDBOX: this.id },
      ...{ RESELLER_SIM_URL: url, RESELLER_SIM_KEY: this.apiKey, RESELLER_SIM_SECRET: this.apiSecret },
      ...(token && { RESELLER_SIM_TOKEN: token, RESELLER_SIM_CONTROL_TOKEN: token }),
      ...proxyBypass(process.env, this.url),
    };
  }

  /** A request to a path of the reseller API, such as `/v2/balance`, signed over the bytes that are sent. Text is sent as JSON unless the
   * headers say otherwise. A TypeError for a request without a whole answer, as of `fetch`. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return signedFetch(this, path, init, this.#signsByItsClock ? await this.now() : undefined);
  }

  /** A signed request with a JSON body or none: `call("POST", "/v2/topup", { refid: "order-1", ... })`. A GET sends no body, even with `{}`. */
  async call(verb: string, path: string, json?: unknown): Promise<Response> {
    const [method, body] = [verb.toUpperCase(), json === undefined ? null : encoded("sandbox.call", json)];
    if (method !== "GET" || body === null) return this.fetch(path, { method, body });
    if (body === "{}") return this.fetch(path);
    throw new TypeError("sandbox.call: a GET has no body; write its parameters into the path, as in /v2/history?page=2, or use fetch()");
  }

  /** A request to the control API below this sandbox, for what has no method here. */
  async ask<T = unknown>(method: string, path: string, sent: Omit<Sent, "yaml"> = {}): Promise<T> {
    return this.#ask(method, path, sent);
  }

  /** Moves time on: `"90s"`, `90` seconds, or `{ to }` a time. Without an argument, what is due now happens. */
  async advance(by?: AdvanceBy): Promise<Advanced> {
    const json = typeof by === "object" ? { to: iso(by.to) } : { seconds: seconds(by ?? 0) };
    const advanced = await this.#ask<Advanced>("POST", "/clock/advance", { json, timeoutS: LONG_S });
    if (by === undefined && advanced.fired.length === 0 && !advanced.idle) process.emitWarning(NOTHING_DUE);
    return advanced;
  }

  /** Moves time on until nothing is left to happen. Fails, and says why, when something always is. */
  async runUntilIdle(): Promise<Advanced> {
    const advanced = await this.#ask<Advanced>("POST", "/clock/advance", { json: { until: "idle" }, timeoutS: LONG_S });
    if (!advanced.idle) throw await evidence.failed(this, `the sandbox is not idle: ${advanced.reason}`);
    return advanced;
  }

  /** Its time now. */
  async now(): Promise<Date> {
    return new Date((await this.#ask<Clock>("GET", "/clock")).now);
  }

  /** Adds a rule, which comes before the existing rules, with a process warning for findings of `check`. `section`: `payments`, `voids`, `disputes`, `bills` or `faults`. */
  async rule(section: string, rule: object): Promise<Rule> {
    const { id } = await this.#ask<{ id: string }>("POST", "/rules", { json: { section, rule } });
    return { id, remove: () => this.ask("DELETE", `/rules/${encodeURIComponent(id)}`) };
  }

  /** Adds a fault: `{ when: { path: "/v2/topup" }, times: 1, then: { status: 503 } }`. */
  async fault(rule: object): Promise<Rule> {
    return this.rule("faults", rule);
  }

  /** The hold of this name, which keeps answers, callbacks and webhooks of rules: `then: { hold: name }`. `await using` releases the rest. */
  hold(name: string): Hold {
    return new Hold(this, name);
  }

  /** Credits a wallet, by default the first reseller's. A text is the reseller. */
  async deposit(amount: string | number, options: string | { reseller?: string; description?: string } = {}): Promise<LedgerEntry> {
    const { reseller = this.resellers[0]?.code ?? "", description = undefined } = typeof options === "string" ? { reseller: options } : options;
    return this.#ask("POST", `/resellers/${encodeURIComponent(reseller)}/deposits`, { json: { amount, description } });
  }

  /** The latest payment with this reference; null without such a payment. */
  async transaction(refid: string): Promise<TransactionRecord | null> {
    const query = { refid, limit: 1 };
    return (await this.#ask<{ transactions: TransactionRecord[] }>("GET", "/transactions", { query })).transactions[0] ?? null;
  }

  /** All payments, newest first. */
  async transactions(filters: PaymentFilters = {}): Promise<TransactionRecord[]> {
    return this.#rows("transactions", filters);
  }

  /** All that happened to the latest payment with this reference. */
  async story(refid: string): Promise<Story> {
    const payment = await this.transaction(refid);
    if (payment === null) throw await evidence.noPayment(this, refid);
    return new Story(await this.#ask("GET", `/transactions/${encodeURIComponent(payment.trxid)}`));
  }

  /** The journal of requests, newest first. */
  async requests(filters: RequestFilters = {}): Promise<RequestRecord[]> {
    return this.#rows("requests", filters);
  }

  /** The requests that were refused, newest first: `status` is 400 or more. `diagnosis` says why. */
  async refused(): Promise<RequestRecord[]> {
    return (await this.requests()).filter(({ status }) => (status ?? 0) >= 400);
  }

  /** Every attempt of a callback, oldest first. */
  async callbacks(filters: CallbackFilters = {}): Promise<CallbackRecord[]> {
    return this.#rows("callbacks", filters);
  }

  /** The obligations of a client, each with its verdict for this client. */
  async audit(): Promise<Audit> {
    return this.#ask("GET", "/audit");
  }

  /** The messages of an inbox, oldest first. Callbacks go to `callbacks` until the client sets a URL of its own. */
  async inbox(name = "callbacks"): Promise<Message[]> {
    const items = await this.#control.all<InboxRecord>(this.#inbox(name), "items");
    return items.map((item) => new Message(item));
  }

  /** Sends the first reseller's callbacks to a URL of yours, or to `inbox:NAME`. */
  async setCallback(url: string | URL, method = "POST"): Promise<void> {
    const answer = await this.call("POST", `/v2/callback-url?${new URLSearchParams({ url: `${url}`, method })}`);
    if (!answer.ok) throw new RangeError(`sandbox.setCallback: ${answer.status} ${await answer.text()}`);
  }

  /** Sets the replies of an inbox: in this order, then the last repeatedly. */
  async replies(name: string, replies: readonly Reply[]): Promise<void> {
    await this.#control.ask("PUT", this.#inbox(name), { json: { replies } });
  }

  /** The first callback of this payment, with this status, that an inbox received or receives in `timeoutS` seconds, by default 10. */
  async waitForCallback(wanted: string | CallbackWanted = {}): Promise<Message> {
    const filter: CallbackWanted = typeof wanted === "string" ? { refid: wanted } : wanted;
    const { refid, status, timeoutS = 10, inbox = "callbacks" } = filter;
    const isWanted = ({ data }: Message) => (refid ?? data.refid) === data.refid && (status ?? data.status) === data.status;
    const message = await firstMessage(this.#control, this.#inbox(inbox), isWanted, timeoutS);
    if (message === undefined) throw await evidence.noCallback(this, filter, timeoutS);
    return message;
  }

  /** Fails with the payment's story unless it has this status. */
  async expectStatus(refid: string, status: string): Promise<void> {
    const payment = await this.transaction(refid);
    if (payment === null) throw await evidence.noPayment(this, refid);
    if (payment.status !== status) throw await evidence.failed(this, `payment ${refid} is ${payment.status}, expected ${status}`, refid, payment.status, status);
  }

  /** The balance of a wallet, by default the first reseller's. */
  async balance(reseller = this.resellers[0]?.code ?? ""): Promise<number> {
    const { resellers } = await this.record();
    const found = resellers.find(({ code }) => code === reseller);
    if (found !== undefined) return found.balance;
    const codes = resellers.map(({ code }) => code);
    throw new RangeError(`sandbox ${this.id} has no reseller ${reseller}; did you mean ${nearest(reseller, codes) ?? codes.join(", ")}?`);
  }

  /** Fails with the payments unless a wallet, by default the first reseller's, has this balance. */
  async expectBalance(amount: string | number, reseller?: string): Promise<void> {
    const balance = await (reseller === undefined ? this.balance() : this.balance(reseller));
    if (balance !== Number(amount)) throw await evidence.failed(this, `the balance is ${balance}, expected ${amount}`, undefined, balance, Number(amount));
  }

  /** Fails with the payment's story unless a receiver has accepted such a callback, which is returned. Does not wait. A text is the status. */
  async expectCallback(refid: string, wanted: string | { status?: string } = {}): Promise<CallbackRecord> {
    const status = typeof wanted === "string" ? wanted : wanted.status;
    const accepted = (await this.callbacks({ refid })).filter(evidence.isAccepted);
    const callback = accepted.find(({ payment_status }) => (status ?? payment_status) === payment_status);
    if (callback !== undefined) return callback;
    const what = status === undefined ? "callback" : `callback with the status ${status}`;
    throw await evidence.failed(this, `no ${what} for ${refid} was accepted${await evidence.attemptHint(this, refid)}`, refid);
  }

  /** Fails with the refused requests and their diagnoses if there are any. */
  async expectNoRefusals(): Promise<void> {
    const lines = await evidence.refusalLines(this, await this.refused());
    if (lines.length > 0) throw new ExpectationFailed(evidence.counted(lines.length, "refused request"), lines.join("\n"), lines.length, 0);
  }

  /** Fails with the violations, and what to do about them, if the client did what the service forbids. Warnings are allowed. */
  async expectCleanAudit(): Promise<void> {
    const { obligations } = await this.audit();
    const violated = obligations.filter(({ state, severity }) => state === "violated" && severity !== "warning");
    const ids = violated.map(({ id }) => id);
    if (ids.length > 0) throw new ExpectationFailed(`violated: ${ids.join(", ")}`, violated.map(evidence.violationLine).join("\n"), ids, []);
  }

  /** Its current state: clock, resellers, balances. */
  async record(): Promise<SandboxRecord> {
    return this.#ask("GET", "");
  }

  /** Returns to its initial state. */
  async reset(): Promise<void> {
    await this.ask("POST", "/reset");
  }

  /** Names the present, to return to it. */
  async mark(name: string): Promise<Mark> {
    return this.#ask("POST", "/marks", { json: { name } });
  }

  /** Returns to `{ mark }`, `{ to }` a time, or `{ n }` entries of its tape; what came later is gone. A text is the mark. */
  async rewind(moment: string | Moment): Promise<void> {
    await this.ask("POST", "/rewind", { json: sentMoment(typeof moment === "string" ? { mark: moment } : moment), timeoutS: LONG_S });
  }

  /** Creates a copy of this sandbox as it is now, or was at a moment. */
  async fork({ id, ...moment }: ForkFrom = {}): Promise<Sandbox> {
    return opened(this.#control, "POST", "/sandboxes", { json: { id, fork: { of: this.id, ...sentMoment(moment) } }, timeoutS: LONG_S });
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

  async #ask<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    if (path !== "") checkPath("control API", path); // by itself, since "clock" would make another sandbox's name of this one's
    return this.#control.ask(method, `${this.#path}${path}`, sent);
  }

  async #rows<T>(name: string, filters: PaymentFilters & RequestFilters): Promise<T[]> {
    return this.#control.all(`${this.#path}/${name}`, name, { ...filters });
  }

  #inbox(name: string): string {
    return `${this.#path}/inbox/${encodeURIComponent(name)}`;
  }
}

guard(Sandbox, "sandbox", SANDBOX);

/** The sandbox of an answer of the control API. One that was created is deleted at the end of `await using`. */
export async function opened(control: Control, method: "GET" | "POST", path: string, sent: Sent = {}): Promise<Sandbox> {
  const record = await control.ask<SandboxRecord>(method, path, sent);
  if (!Array.isArray(record.resellers)) throw control.wrongAnswer(method, path, "the answer describes no sandbox");
  return new Sandbox(control, record, method === "POST");
}
