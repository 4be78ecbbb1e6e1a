/** What the client reads of the control API's answers. Each answer is checked when it arrives, so that nothing behind it meets a
 * value of another kind. */

import { isObject, Kind, type Shape } from "./checking.js";
import { isSeed } from "./seeds.js";

const NUMBER_MAX = 1e18;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const BASE64_TEXT = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Half of a pair of surrogates is something that JSON can write and nobody can send or print. */
const isText = (value: unknown): value is string => typeof value === "string" && !/\p{Cs}/u.test(value);
const isNumber = (value: unknown): value is number => typeof value === "number" && Math.abs(value) < NUMBER_MAX;
const isMatch = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value);

const TEXT = new Kind("a text", isText);
const IDENTITY = new Kind("an id of letters and digits", isMatch(/^[A-Za-z0-9][A-Za-z0-9._~-]*$/));
const PART = new Kind("a name that a path can have", (value) => isText(value) && !/^\.{0,2}$/.test(value));
const HEADER = new Kind("a text that a header can have", isMatch(/^[\x20-\x7e]*$/));
const BASE64 = new Kind("Base64", isMatch(BASE64_TEXT));
const WHOLE = new Kind("a whole number", (value) => isNumber(value) && Number.isInteger(value));
const NUMBER = new Kind("a number", isNumber);
const SEED = new Kind("a seed from 0 to 2^63 - 1", isSeed);
const FLAG = new Kind("true or false", (value) => typeof value === "boolean");
const TIME = new Kind("a time with its UTC offset", (value) => isText(value) && ISO.test(value) && !Number.isNaN(Date.parse(value)));
const PAIR = new Kind("a pair of texts", (value) => Array.isArray(value) && value.length === 2 && value.every(isText));
const QUERY = new Kind("an object of texts", (value) => isObject(value) && Object.entries(value).flat().every(isText));
const CURSOR = new Kind("a text or a number", (value) => isText(value) || isNumber(value));
const ADDRESS = new Kind("an address of http or https", (value) => isText(value) && isAddress(value));
const OBJECT: Shape = {};
export const ANYTHING = new Kind("anything", () => true);

function isAddress(text: string): boolean {
  try {
    return /^https?:\/\//.test(text) && new URL(text).hostname !== "";
  } catch {
    return false;
  }
}

/** The first line of a server that is ready. */
export const READY: Shape = { url: ADDRESS, "control_token?": HEADER };
export const HEALTH: Shape = { status: new Kind("ok", (value) => value === "ok"), version: TEXT };
const CREDENTIALS = { "api_key?": HEADER, "api_secret?": BASE64, "username?": TEXT, "password?": TEXT };
export const CLOCK: Shape = { now: TIME, mode: TEXT, pending: WHOLE };
/** What has to be known of a new sandbox to delete it. */
export const MADE: Shape = { id: IDENTITY };
export const SANDBOX: Shape = {
  id: IDENTITY,
  scenario: TEXT,
  seed: SEED,
  url: ADDRESS,
  clock: { mode: TEXT, now: TIME, rate: NUMBER },
  resellers: [{ code: TEXT, balance: NUMBER, ...CREDENTIALS }],
};
export const SANDBOXES: Shape = { sandboxes: [SANDBOX] };
export const ADVANCED: Shape = { now: TIME, fired: [OBJECT], left_out: WHOLE, "idle?": FLAG, "reason?": TEXT };
export const MARK: Shape = { name: TEXT, n: WHOLE, at: TIME };
export const MADE_RULE: Shape = { id: PART };
export const ENTRY = { at: TIME, type: TEXT, amount: NUMBER, balance: NUMBER, "remarks?": TEXT };

export const REQUEST: Shape = {
  ...{ n: WHOLE, at: TIME, method: TEXT, path: TEXT, "query?": TEXT, "status?": WHOLE },
  ...{ "error?": TEXT, "rule?": TEXT, "fault?": TEXT, "diagnosis?": TEXT },
};
export const EXCHANGE: Shape = { "autopsy?": { mistakes: [TEXT], sentence: TEXT, fix: TEXT } };
export const PAYMENT = {
  ...{ trxid: PART, refid: TEXT, reseller: TEXT, product: TEXT, account: TEXT },
  ...{ amount: NUMBER, cost: NUMBER, status: TEXT, status_code: WHOLE, "rule?": TEXT },
};
const ENDED = { at: TIME, "ending?": TEXT, "status?": WHOLE, "error?": TEXT };
export const CALLBACK: Shape = { refid: TEXT, url: TEXT, payment_status: TEXT, attempt: WHOLE, ...ENDED };
const STATUS = {
  ...{ at: TIME, status: TEXT, status_code: WHOLE, cause: TEXT },
  ...{ "remarks?": TEXT, "sn?": TEXT, "pin?": TEXT, "voucherlink?": TEXT },
};
export const STORY: Shape = {
  ...PAYMENT,
  requests: [REQUEST],
  requests_left_out: WHOLE,
  statuses: [STATUS],
  entries: [ENTRY],
  callbacks: [{ state: TEXT, url: TEXT, payment_status: TEXT, "copy?": WHOLE, attempts: [{ number: WHOLE, ...ENDED }] }],
  callbacks_left_out: WHOLE,
  cases: [{ at: TIME, kind: TEXT, status: TEXT, message: TEXT, state: TEXT, "ended?": TIME }],
};
const OBLIGATION: Shape = {
  ...{ id: TEXT, section: TEXT, severity: TEXT, state: TEXT, title: TEXT, advice: TEXT, log: TEXT },
  ...{ violations: WHOLE, evidence: [WHOLE], findings: [TEXT] },
};
export const AUDIT: Shape = { obligations: [OBLIGATION] };
export const RECEIVED: Shape = {
  ...{ n: WHOLE, at: TIME, method: TEXT, query: QUERY, headers: [PAIR], body: TEXT, "status?": WHOLE },
};
export const RECEIVED_PAGE: Shape = { items: [RECEIVED] };
export const PAYMENTS_PAGE: Shape = { transactions: [PAYMENT] };

/** One page of a list. */
export function pageOf(member: string, row: Shape): Shape {
  return { [member]: [row], has_more: FLAG, "cursor?": CURSOR };
}
