/** What an inbox received: a callback or a webhook. */

import { checkArguments, guard } from "./arguments.js";
import { PAGES_MAX, type Control } from "./control.js";
import { steadyS } from "./machine.js";
import { MESSAGE } from "./parameters.js";
import type { InboxRecord } from "./records.js";
import { judgeWebhook, type Verdict } from "./webhooks.js";

const POLL_S_MAX = 300; // the longest that the control API waits
const LATE_S = 60; // what an answer may take beyond the wait that it was asked for

/** The payment that a callback is about, as far as it says. */
export interface CallbackData {
  refid?: string;
  status?: string;
  statusCode?: number;
  remarks?: string;
  balance?: number;
  [more: string]: unknown;
}

/** A message of an inbox. */
export class Message {
  readonly n: number;
  readonly at: string;
  readonly method: string;
  readonly query: Record<string, string>;
  /** By their names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: string;

  constructor(record: InboxRecord) {
    checkArguments("new Message", arguments, MESSAGE.constructor);
    ({ n: this.n, at: this.at, method: this.method, query: this.query, body: this.body } = record);
    this.headers = Object.fromEntries(record.headers.map(([name, value]) => [name.toLowerCase(), value]));
  }

  /** Its JSON: the body's or, of a callback by GET, that of the parameter `message`. Undefined when it has none. */
  json(): unknown {
    const text = this.method === "GET" ? this.query["message"] : this.body;
    try {
      return JSON.parse(text ?? "") as unknown;
    } catch {
      return undefined;
    }
  }

  /** What a callback says of its payment; empty for anything else. */
  get data(): CallbackData {
    const json = this.json();
    if (typeof json !== "object" || json === null) return {};
    const data = "data" in json ? json.data : json;
    const named = typeof data === "object" && data !== null ? (data as CallbackData) : {};
    return this.method === "GET" && this.query["refid"] ? { refid: this.query["refid"], ...named } : named;
  }

  /** Whether it is a webhook that was signed with this secret (`verified`), and if not why (`reason`). Callbacks of payments
   * are not signed. */
  verify(secret: string): Verdict {
    return judgeWebhook(secret, this.headers, this.body);
  }
}

guard(Message, "message", MESSAGE);

/** Return the first such message that an inbox received or receives in so many seconds; undefined if none comes. */
export async function firstMessage(
  control: Control,
  path: string,
  isWanted: (message: Message) => boolean,
  timeoutS: number,
): Promise<Message | undefined> {
  const until = steadyS() + timeoutS;
  for (let cursor = 0, late = 0; ; ) {
    const leftS = Math.max(0, until - steadyS());
    const askedS = Math.min(leftS, POLL_S_MAX);
    const sent = { query: { cursor, wait_for: 1, timeout: askedS.toFixed(3) }, timeoutS: askedS + LATE_S };
    const { items } = await control.ask<{ items: InboxRecord[] }>("GET", path, sent);
    const found = items.map((item) => new Message(item)).find(isWanted);
    if (found) return found;
    const last = items.at(-1)?.n ?? cursor;
    if (items.length > 0 && last <= cursor) throw control.wrongAnswer("GET", path, "it has the same messages again");
    cursor = last;
    if (steadyS() >= until) late += 1; // what has come already is read to its end
    const isOver = askedS === leftS || late > 0;
    if ((isOver && items.length === 0) || late > PAGES_MAX) return undefined;
  }
}
