/** What each public function takes, as a table. */

import { isDate, isUint8Array } from "node:util/types";

import { isObject, type Kind, type Signature } from "./arguments.js";
import { WAIT_S_MAX } from "./time.js";

const SEED_MAX = 2n ** 63n - 1n;
const STATUS_MIN = 200;
const STATUS_MAX = 599;
const UNIX_S_END = 1e11; // so that milliseconds are refused

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

/** Kinds of values. */
const text = (wanted: string, pattern: RegExp): Kind => ({ wanted, isType: isText, isInRange: (value: string) => pattern.test(value) });
const number = (wanted: string, isInRange: (value: number) => boolean): Kind => ({ wanted, isType: isNumber, isInRange });
const choice = (choices: readonly string[]): Kind => ({ wanted: `one of ${choices.join(", ")}`, isType: isText, choices });
const either = (one: Kind, other: Kind): Kind => ({ ...other, ...one, wanted: `${one.wanted} or ${other.wanted}` });
const unset = (kind: Kind): Kind => ({ ...kind, isUnset: true });

function options(members: Signature): Kind {
  const names = Object.keys(members).join(", ").replaceAll("?", "");
  return { wanted: `an object with ${names}`, isType: isObject, options: members };
}

/** Options in which undefined is the same as leaving one out. */
function settings(members: Signature): Kind {
  return unset(options(Object.fromEntries(Object.entries(members).map(([name, kind]) => [name, unset(kind)]))));
}

/** What the control API answers about something, with these lists. */
function record(what: string, ...lists: string[]): Kind {
  const isType = (value: unknown) => isObject(value) && lists.every((name) => Array.isArray(value[name]));
  return { wanted: `what the control API says of ${what}`, isType };
}

/** Whether it is the address of a server, which has no query. */
export function isHttpUrl(value: string): boolean {
  return /^https?:\/\/[^\s?#]+$/i.test(value) && URL.canParse(value);
}

/** Whether no member is undefined, at any depth: such a condition would be left out, and its rule apply to everything. */
function isDefined(value: unknown): boolean {
  let found = true;
  JSON.stringify(value, (_, member: unknown) => {
    found &&= member !== undefined;
    return typeof member === "bigint" ? 0 : member;
  });
  return found;
}

const classOf = (value: unknown) => Object.prototype.toString.call(value).slice("[object ".length, -1);

const ANY_TEXT = text("a text", /^/);
const TEXT = text("a text that is not empty", /./s);
const DATA: Kind = { wanted: "an object without undefined members", isType: isObject, isInRange: isDefined };
const isScalar = (value: unknown) => ["string", "bigint", "boolean", "undefined"].includes(typeof value) || Number.isFinite(value);
const QUERY: Kind = {
  wanted: "an object of texts, numbers and booleans",
  isType: isObject,
  isInRange: (value: object) => Object.values(value).every(isScalar),
};
const FLAG: Kind = { wanted: "true or false", isType: (value) => typeof value === "boolean" };
const LIST: Kind = { wanted: "a list of objects without undefined members", isType: (value) => Array.isArray(value) && value.every(isObject), isInRange: isDefined };
const WORDS: Kind = { wanted: "a list of texts", isType: isTexts };
const JSON_VALUE: Kind = { wanted: "JSON", isType: () => true, isUnset: true }; // its members are checked when it is encoded
const BYTES: Kind = { wanted: "a text or bytes", isType: (value) => isText(value) || isUint8Array(value) };
const COUNT = number("a count: 0, 1, 2, …", (value) => Number.isSafeInteger(value) && value >= 0);
const WAIT_S = number(`seconds from 0 to ${WAIT_S_MAX}`, (value) => value >= 0 && value <= WAIT_S_MAX);
const ANSWER_S = number(`seconds above 0, ${WAIT_S_MAX} at most`, (value) => value > 0 && value <= WAIT_S_MAX);
const AMOUNT: Kind = {
  wanted: `an amount such as 10 or "10.50"`,
  isType: (value) => isText(value) || isNumber(value),
  isInRange: (value: unknown) => (isText(value) ? /^-?\d{1,12}(\.\d{1,4})?$/.test(value) : Number.isFinite(value)),
};
const TIME: Kind = {
  wanted: `a Date, or a text such as "2027-01-01T00:00:00Z"`,
  isType: (value) => isText(value) || isDate(value),
  isInRange: (value: string | Date) => !Number.isNaN(isText(value) ? Date.parse(value) : value.getTime()),
};
const DURATION: Kind = { wanted: `a duration such as 90 or "1h30m"`, isType: (value) => isText(value) || isNumber(value) };
const SEED: Kind = {
  wanted: `a whole number from 0 to ${SEED_MAX}, as a bigint beyond ${Number.MAX_SAFE_INTEGER}`,
  isType: (value) => isNumber(value) || typeof value === "bigint",
  isInRange: (value: number | bigint) => (isNumber(value) ? Number.isSafeInteger(value) : value <= SEED_MAX) && value >= 0,
};
const HEX = text("the hexadecimal secret that PUT /v2/balance-webhook showed", /^([0-9a-f]{2})+$/i);
const BASE64 = text("the secret in Base64", /^(?=.)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
const URL_TEXT: Kind = { wanted: "a URL such as http://127.0.0.1:8080", isType: isText, isInRange: isHttpUrl };
const METHOD = text("a method in capitals, such as GET", /^[A-Z]+$/);
const VERB = text("a method such as POST", /^[A-Za-z]+$/);
const JOURNAL_STATUS = number("a status such as 400, or 0 for no answer", (value) => value === 0 || (Number.isInteger(value) && value >= 100 && value <= STATUS_MAX));
const STATUS = number(`a number from ${STATUS_MIN} to ${STATUS_MAX}`, (value) => Number.isInteger(value) && value >= STATUS_MIN && value <= STATUS_MAX);
const PAYMENT_STATUS = choice(["Accepted", "Processing", "Succesful", "Failed", "Refund"]);
const CALLBACK_STATUS = choice(["Processing", "Succesful", "Failed"]);
const SECTION = choice(["payments", "voids", "disputes", "bills", "faults"]);
const ADDRESS: Kind = {
  wanted: "a URL, or a path that begins with /",
  isType: (value) => isText(value) || value instanceof URL,
  isInRange: (value: string | URL) => /^(https?:\/)?\//i.test(`${value}`) && URL.canParse(value, "http://localhost"),
};
const COMMAND: Kind = {
  wanted: "a text or a list of texts that begins with a program",
  isType: (value) => isText(value) || isTexts(value),
  isInRange: (value: string | string[]) => (isText(value) ? value : (value[0] ?? "")).trim() !== "",
};
const BODIES = ["ArrayBuffer", "Blob", "File", "FormData", "ReadableStream", "URLSearchParams"];
const BODY: Kind = {
  wanted: "what fetch sends, such as a text: JSON.stringify an object, or use call()",
  isType: (value) => value === null || isText(value) || ArrayBuffer.isView(value) || BODIES.includes(classOf(value)),
};
const SIGNAL: Kind = { wanted: "an AbortSignal", isType: (value) => value === null || value instanceof AbortSignal };
const HEADERS: Kind = {
  wanted: "an object of headers, or Headers",
  isType: (value) => isObject(value) || (typeof value === "object" && value !== null && Symbol.iterator in value),
};
const SENT_HEADERS: Kind = {
  ...HEADERS,
  wanted: "an object of headers with texts, or Headers",
  isInRange: (value: object) => !isObject(value) || Object.values(value).every(isText),
};
const SANDBOX_ITSELF: Kind = { wanted: "a sandbox", isType: (value) => typeof (value as { story?: unknown } | null)?.story === "function" };

/** What is chosen by a text alone where that means one thing. */
const SCENARIO: Kind = {
  wanted: "a scenario's name, file, YAML text or object without undefined members",
  isType: (value) => isText(value) || isObject(value),
  isInRange: isDefined,
};
const SANDBOX_OPTIONS = settings({
  "scenario?": SCENARIO,
  "id?": ANY_TEXT,
  "clock?": text("manual, real, or one such as x60", /^(manual|real|x[0-9.]+)$/),
  "start?": TIME,
  "seed?": SEED,
  "credentials?": choice(["scenario", "unique"]),
  "audit?": FLAG,
});
const SCENARIO_OR_OPTIONS = either(TEXT, SANDBOX_OPTIONS);
const START_OPTIONS = settings({ "scenario?": TEXT, "clock?": TEXT, "seed?": SEED, "command?": COMMAND, "arguments?": WORDS, "timeoutS?": ANSWER_S });
const MOMENT = { "mark?": TEXT, "to?": TIME, "n?": COUNT };
const WANTED = { "refid?": TEXT, "status?": CALLBACK_STATUS, "timeoutS?": WAIT_S, "inbox?": TEXT };
const PAYMENT_FILTERS = options({ "refid?": TEXT, "reseller?": TEXT });
const CALLBACK_FILTERS = options({ "refid?": TEXT, "trxid?": TEXT });
const REQUEST_FILTERS = options({
  ...{ "method?": METHOD, "path?": TEXT, "status?": JOURNAL_STATUS, "reseller?": TEXT, "trxid?": TEXT, "refid?": TEXT, "rule?": TEXT },
  ...{ "error?": TEXT, "limit?": COUNT },
});
const BEHAVIOUR = {
  "delayS?": WAIT_S,
  "disconnect?": FLAG,
  "body?": BYTES,
  "contentType?": text("printable ASCII such as text/plain", /^[\x20-\x7e]+$/),
};

export const SIMULATOR = {
  constructor: { "options?": either(URL_TEXT, settings({ "url?": URL_TEXT, "token?": text("a text that a header can have", /^[\x20-\x7e]*$/) })) },
  start: { "options?": either(TEXT, START_OPTIONS) },
  health: {},
  sandboxes: {},
  sandbox: { "options?": SCENARIO_OR_OPTIONS },
  open: { id: TEXT },
  close: {},
};

export const SANDBOX = {
  fetch: { path: ANY_TEXT, "init?": options({ "method?": VERB, "headers?": SENT_HEADERS, "body?": BODY, "signal?": SIGNAL }) },
  call: { method: VERB, path: ANY_TEXT, "json?": JSON_VALUE },
  ask: { method: ANY_TEXT, path: ANY_TEXT, "sent?": options({ "query?": QUERY, "json?": JSON_VALUE, "yaml?": TEXT, "timeoutS?": ANSWER_S }) },
  advance: { "by?": either(DURATION, options({ to: TIME })) },
  runUntilIdle: {},
  now: {},
  rule: { section: SECTION, rule: DATA },
  fault: { rule: DATA },
  deposit: { amount: AMOUNT, "options?": either(TEXT, options({ "reseller?": TEXT, "description?": ANY_TEXT })) },
  transaction: { refid: TEXT },
  transactions: { "filters?": PAYMENT_FILTERS },
  story: { refid: TEXT },
  requests: { "filters?": REQUEST_FILTERS },
  refused: {},
  callbacks: { "filters?": CALLBACK_FILTERS },
  audit: {},
  inbox: { "name?": TEXT },
  replies: { name: TEXT, replies: LIST },
  waitForCallback: { "wanted?": either(TEXT, options(WANTED)) },
  expectStatus: { refid: TEXT, status: PAYMENT_STATUS },
  balance: { "reseller?": TEXT },
  expectBalance: { amount: AMOUNT, "reseller?": TEXT },
  expectCallback: { refid: TEXT, "wanted?": either(CALLBACK_STATUS, options({ "status?": CALLBACK_STATUS })) },
  expectNoRefusals: {},
  expectCleanAudit: {},
  record: {},
  reset: {},
  mark: { name: TEXT },
  rewind: { moment: either(TEXT, options(MOMENT)) },
  fork: { "moment?": options({ "id?": TEXT, ...MOMENT }) },
  delete: {},
};

export const RECEIVER = {
  start: {},
  reply: { status: either(STATUS, options({ "status?": STATUS, ...BEHAVIOUR })), "behaviour?": options(BEHAVIOUR) },
  verify: { secret: HEX },
  clear: {},
  waitFor: { count: COUNT, "options?": options({ "timeoutS?": WAIT_S }) },
  close: {},
};

export const MESSAGE = { constructor: { record: record("an inbox", "headers") }, json: {}, verify: { secret: HEX } };
export const STORY = { constructor: { data: record("a payment", "requests", "statuses", "entries", "callbacks", "cases") }, toString: {} };
export const VERDICT = { constructor: { verified: FLAG, reason: ANY_TEXT }, toString: {} };
export const RECEIVED = { constructor: { at: TIME, method: TEXT, path: TEXT, headers: HEADERS, bytes: BYTES, secrets: WORDS }, json: {} };

const SIGNED = { secret: HEX, headers: HEADERS, body: BYTES, "now?": TIME };
export const FUNCTIONS = {
  evidence: { sandbox: SANDBOX_ITSELF },
  hmacHeaders: {
    request: options({
      ...{ apiKey: text("the key as a header has it", /^[\x21-\x7e]+$/), apiSecret: BASE64, method: VERB, url: ADDRESS, "body?": unset(BYTES) },
      ...{ "timestamp?": unset(number("Unix time in seconds", (value) => Number.isInteger(value) && value >= 0 && value < UNIX_S_END)),
      "nonce?": unset(text("16 to 128 letters, digits, - and _", /^[\w-]{16,128}$/)) },
    }),
  },
  judgeWebhook: SIGNED,
  verifyWebhook: SIGNED,
  useSandbox: { "options?": SCENARIO_OR_OPTIONS },
};
