/// <reference lib="esnext.disposable" preserve="true" />
/** A sandbox: a service of its own, with wallet, payments, keys and time, and what a test asks of it. */

import { guard, nearest } from "./arguments.js";
import { checkRequest, Control, type Sent } from "./control.js";
import { SimulatorError } from "./errors.js";
import * as expectations from "./expectations.js";
import { encoded } from "./json.js";
import { firstMessage, Message } from "./messages.js";
import { SANDBOX } from "./parameters.js";
import type {
  AdvanceBy, Advanced, Audit, CallbackFilters, CallbackRecord, CallbackWanted, Clock, ForkFrom,
  InboxRecord, LedgerEntry, Mark, Moment, PaymentFilters, Reply, RequestFilters, RequestInit,
  RequestRecord, Reseller, Rule, SandboxRecord, TransactionRecord,
} from "./records.js";
import { signedFetch } from "./signed-requests.js";
import { Story } from "./story.js";
import { iso, seconds } from "./time.js";

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
  readonly #signsByItsClock: boolean;

  /** `isOurs`: `await using` deletes it. */
  constructor(control: Control, record: SandboxRecord, isOurs = false) {
    if (!(control instanceof Control)) throw new TypeError("new Sandbox: simulator.sandbox() creates a sandbox, and simulator.open() finds one");
    this.#isOurs = isOurs;
    this.#signsByItsClock = record.clock?.signature === "sandbox";
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
    const { url, apiKey, apiSecret, username, password, id } = this;
    const { url: controlUrl, token } = this.#control;
    return {
      RESELLER_BASE_URL: url,
      RESELLER_API_KEY: apiKey,
      RESELLER_API_SECRET: apiSecret,
      RESELLER_USERNAME: username,
      RESELLER_PASSWORD: password,
      RESELLER_SANDBOX: id,
      RESELLER_SIM_URL: controlUrl,
      RESELLER_SIM_KEY: apiKey,
      RESELLER_SIM_SECRET: apiSecret,
      ...(token ? { RESELLER_SIM_TOKEN: token, RESELLER_SIM_CONTROL_TOKEN: token } : {}),
    };
  }

  /** A request to a path of the reseller API, such as `/v2/balance`, signed over the bytes that are sent. Text is sent as JSON
   * unless the headers say otherwise. A RangeError for a path that would not arrive as it is written, a TypeError for a request
   * without a whole answer, as of `fetch`, which tests may mock: this is not it. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return signedFetch(this, path, init, this.#signsByItsClock ? await this.now() : undefined);
  }

  /** A signed request with a JSON body or none: `call("POST", "/v2/topup", { refid: "order-1", ... })`. */
  async call(method: string, path: string, json?: unknown): Promise<Response> {
    return this.fetch(path, { method, body: json === undefined ? null : encoded("sandbox.call", json) });
  }

  /** A request to the control API below this sandbox, for what has no method here. */
  async ask<T = unknown>(method: string, path: string, sent: Sent = {}): Promise<T> {
    if (sent.json !== undefined && sent.yaml !== undefined) throw new TypeError("sandbox.ask: give json or yaml, not both");
    return this.#read(method, path, sent);
  }

  /** Moves time on: `"90s"`, `90` seconds, or `{ to }` a time. Without an argument, what is due now happens. */
  async advance(by: AdvanceBy = 0): Promise<Advanced> {
    const json = typeof by === "object" && by !== null ? { to: iso(by.to) } : { seconds: seconds(by) };
    return this.#read("POST", "/clock/advance", { json });
  }

  /** Moves time on until nothing is left to happen. Fails, and says why, when something always is. */
  async runUntilIdle(): Promise<Advanced> {
    const done = await this.#read<Advanced>("POST", "/clock/advance", { json: { until: "idle" } });
    if (done.idle === false) throw await expectations.neverIdle(this, done);
    return done;
  }

  /** Its time now. */
  async now(): Promise<Date> {
    return new Date((await this.#read<Clock>("GET", "/clock")).now);
  }

  /** Adds a rule, which comes before those that are there. `section`: `payments`, `voids`, `disputes`, `bills` or `faults`. */
  async rule(section: string, rule: object): Promise<Rule> {
    const { id } = await this.#read<{ id: string }>("POST", "/rules", { json: { section, rule } });
    return { id, remove: () => this.ask("DELETE", `/rules/${encodeURIComponent(id)}`) };
  }

  /** Adds a fault: `{ when: { path: "/v2/topup" }, times: 1, then: { status: 503 } }`. */
  async fault(rule: object): Promise<Rule> {
    return this.rule("faults", rule);
  }

  /** Credits a wallet, by default the first reseller's. A text is the reseller. */
  async deposit(amount: string | number, options: string | { reseller?: string; description?: string } = {}): Promise<LedgerEntry> {
    const { reseller = this.resellers[0]?.code ?? "", description } = typeof options === "string" ? { reseller: options } : { description: undefined, ...options };
    await this.#wallet(reseller);
    const path = `/resellers/${encodeURIComponent(reseller)}/deposits`;
    return this.#read("POST", path, { json: { amount, description } });
  }

  /** The latest payment with this reference; null if there is none. */
  async transaction(refid: string): Promise<TransactionRecord | null> {
    const query = { refid, limit: 1 };
    const page = await this.#read<{ transactions: TransactionRecord[] }>("GET", "/transactions", { query });
    return page.transactions[0] ?? null;
  }

  /** All payments, newest first. */
  async transactions(filters: PaymentFilters = {}): Promise<TransactionRecord[]> {
    return this.#rows("transactions", filters);
  }

  /** All that happened to the latest payment with this reference. */
  async story(refid: string): Promise<Story> {
    const payment = await this.transaction(refid);
    if (payment === null) throw await expectations.noPayment(this, refid);
    return new Story(await this.#read("GET", `/transactions/${encodeURIComponent(payment.trxid)}`));
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

  /** What the service asks of a client, and whether this one did it. */
  async audit(): Promise<Audit> {
    return this.#read("GET", "/audit");
  }

  /** What an inbox received, oldest first. Callbacks go to `callbacks` until the client sets a URL of its own. */
  async inbox(name = "callbacks"): Promise<Message[]> {
    return (await this.#control.all<InboxRecord>(this.#inbox(name), "items")).map((item) => new Message(item));
  }

  /** What an inbox replies: in this order, the last one again and again. */
  async replies(name: string, replies: readonly Reply[]): Promise<void> {
    return this.#control.ask("PUT", this.#inbox(name), { json: { replies } });
  }

  /** The first callback of this payment, with this status, that an inbox received or receives in `timeoutS` seconds, by
   * default 10. */
  async waitForCallback(wanted: string | CallbackWanted = {}): Promise<Message> {
    const given: CallbackWanted = typeof wanted === "string" ? { refid: wanted } : wanted;
    const { refid, status, timeoutS = 10, inbox = "callbacks" } = given;
    const isWanted = ({ data }: Message) => (refid ?? data.refid) === data.refid && (status ?? data.status) === data.status;
    const found = await firstMessage(this.#control, this.#inbox(inbox), isWanted, timeoutS);
    if (found === undefined) throw await expectations.noCallback(this, given, timeoutS);
    return found;
  }

  /** Fails with the payment's story unless it has this status. */
  async expectStatus(refid: string, status: string): Promise<void> {
    return expectations.expectStatus(this, refid, status);
  }

  /** The balance of a wallet, by default the first reseller's. */
  async balance(reseller = this.resellers[0]?.code ?? ""): Promise<number> {
    return (await this.#wallet(reseller)).balance;
  }

  /** Fails with the payments unless a wallet, by default the first reseller's, has this balance. */
  async expectBalance(amount: string | number, reseller?: string): Promise<void> {
    return expectations.expectBalance(this, amount, reseller);
  }

  /** Fails with the payment's story unless a receiver has accepted such a callback, which is returned. Does not wait. A text is
   * the status. */
  async expectCallback(refid: string, wanted: string | { status?: string } = {}): Promise<CallbackRecord> {
    return expectations.expectCallback(this, refid, typeof wanted === "string" ? wanted : wanted.status);
  }

  /** Fails with the refused requests and their diagnoses if there are any. */
  async expectNoRefusals(): Promise<void> {
    return expectations.expectNoRefusals(this);
  }

  /** Fails with the violations, and what to do about them, if the client did what the service forbids. Warnings are
   * allowed. */
  async expectCleanAudit(): Promise<void> {
    return expectations.expectCleanAudit(this);
  }

  /** What it is like now: clock, resellers, balances. */
  async record(): Promise<SandboxRecord> {
    return this.#read("GET", "");
  }

  /** Returns to the state in which it began. */
  async reset(): Promise<void> {
    await this.ask("POST", "/reset");
  }

  /** Names the present, to return to it. */
  async mark(name: string): Promise<Mark> {
    return this.#read("POST", "/marks", { json: { name } });
  }

  /** Returns to `{ mark }`, `{ to }` a time, or `{ n }` entries of its tape; what came later is gone. A text is the mark. */
  async rewind(moment: string | Moment): Promise<void> {
    await this.ask("POST", "/rewind", { json: sentMoment(typeof moment === "string" ? { mark: moment } : moment) });
  }

  /** A second sandbox that begins as this one is now, or was at a moment. */
  async fork(moment: ForkFrom = {}): Promise<Sandbox> {
    const { id, ...at } = moment;
    return opened(this.#control, "POST", "/sandboxes", { json: { id, fork: { of: this.id, ...sentMoment(at) } } });
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

  async #read<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    checkRequest(method, path); // by itself, since "clock" would make another sandbox's name of this one's
    return this.#control.ask(method, `${this.#path}${path}`, sent);
  }

  /** All rows of a list. Nothing is of a reseller that there is not. */
  async #rows<T>(name: string, filters: PaymentFilters & RequestFilters): Promise<T[]> {
    if (filters.reseller !== undefined) await this.#wallet(filters.reseller);
    return this.#control.all(`${this.#path}/${name}`, name, { ...filters });
  }

  async #wallet(reseller: string): Promise<Reseller> {
    const { resellers } = await this.record();
    const found = resellers.find(({ code }) => code === reseller);
    if (found !== undefined) return found;
    const codes = resellers.map(({ code }) => code);
    throw new RangeError(`sandbox ${this.id} has no reseller ${reseller}; did you mean ${nearest(reseller, codes) ?? codes.join(", ")}?`);
  }

  #inbox(name: string): string {
    return `${this.#path}/inbox/${encodeURIComponent(name)}`;
  }
}

guard(Sandbox, "sandbox", SANDBOX);

/** The sandbox of an answer of the control API. One that was created is deleted at the end of `await using`. */
export async function opened(control: Control, method: "GET" | "POST", path: string, sent: Sent = {}): Promise<Sandbox> {
  const record = await control.ask<SandboxRecord | undefined>(method, path, sent);
  if (record?.id === undefined || !Array.isArray(record.resellers)) throw control.wrongAnswer(method, path, "it is no sandbox");
  return new Sandbox(control, record, method === "POST");
}

const sentMoment = (moment: Moment | object): object => ("to" in moment ? { ...moment, to: iso(moment.to as string | Date) } : moment);
