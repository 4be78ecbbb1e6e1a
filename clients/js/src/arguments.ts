/** Checks of what public functions are given: a name or a type that a function does not have is a TypeError, which names the nearest
 * right one; a value of the right type that cannot be meant is a RangeError. The table at the end lists the arguments of each function. */

import { isDate, isUint8Array } from "node:util/types";

const SHOWN_CHARS_MAX = 60;
const LIKENESS_MIN = 0.4;
const DAY_S = 86_400;
const STATUS_MIN = 200;
const STATUS_MAX = 599;
const DURATION_S_MAX = 3660 * DAY_S;
const MICROSECONDS: Record<string, number> = { ms: 1e3, s: 1e6, m: 60e6, h: 3_600e6, d: DAY_S * 1e6 };
const DURATION_PATTERN = /^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}$/; // as scenarios write them, but never below 0

/** Values that a parameter or an option takes: in words, by their type, and by what can be meant; an object's options; whether
 * undefined means the same as leaving it out; and whether messages must not show it. */
interface Kind {
  readonly wanted: string;
  readonly isType: (value: any) => boolean;
  readonly isInRange?: (value: any) => boolean;
  readonly choices?: readonly string[];
  readonly options?: Signature;
  readonly isUnset?: boolean;
  readonly isSecret?: boolean;
}

/** The parameters of a function in order, or the options of an object. A name that ends in `?` may be left out. */
type Signature = { readonly [name: string]: Kind };

/** Throw for the first argument that the function does not take. */
export function checkArguments(of: string, values: ArrayLike<unknown>, signature: Signature): void {
  const names = Object.keys(signature);
  if (values.length > names.length) {
    const takes = names.length === 0 ? "no arguments" : `at most ${names.length} (${names.map(bare).join(", ")})`;
    throw new TypeError(`${of} takes ${takes}; it was given ${values.length}`);
  }
  for (const [position, [name, kind]] of Object.entries(signature).entries()) {
    if (position < values.length) checkValue(of, bare(name), values[position], kind);
    else if (!name.endsWith("?")) throw new TypeError(`${of}: ${name} is missing; give ${kind.wanted}`);
  }
}

/** Make every method of a class, and its static functions, check its arguments. One that returns a promise rejects it. */
export function guard(type: { prototype: object; name: string }, of: string, signatures: { readonly [method: string]: Signature }): void {
  for (const owner of [type, type.prototype]) {
    for (const [name, { value: method, ...descriptor }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (typeof method !== "function" || name === "constructor") continue;
      const label = `${owner === type ? type.name : of}.${name}`;
      const plain = function (this: unknown, ...values: unknown[]): unknown {
        checkArguments(label, values, signatures[name] ?? {});
        return method.apply(this, values);
      };
      const promising = async function (this: unknown, ...values: unknown[]): Promise<unknown> {
        return plain.apply(this, values);
      };
      const value = method.constructor.name === "AsyncFunction" ? promising : plain;
      Object.defineProperty(owner, name, { ...descriptor, value });
    }
  }
}

function checkValue(of: string, name: string, value: unknown, kind: Kind): void {
  if (value === undefined && kind.isUnset) return;
  if (kind.options !== undefined && isObject(value)) return checkOptions(of, value, kind.options);
  const { wanted, isType, isInRange, choices, isSecret } = kind;
  const problem = `${of}: ${name} is ${isSecret ? described(value) : inspected(value)}`;
  if (!isType(value)) throw new TypeError(`${problem}; give ${wanted}`);
  if (choices?.includes(value as string) ?? isInRange?.(value) ?? true) return;
  const near = choices && nearest(value as string, choices);
  throw new RangeError(`${problem}; ${near ? `did you mean ${near}? Give` : "give"} ${wanted}`);
}

function checkOptions(of: string, values: Record<string, unknown>, options: Signature): void {
  const names = Object.keys(options).map(bare);
  for (const [name, value] of Object.entries(values)) {
    if (!names.includes(name)) {
      const near = nearest(name, names);
      const inScenario = options["scenario?"]?.isType({}) ? `; a scenario's own keys go into scenario: { ${name}: … }` : "";
      const advice = near === undefined ? `the options are ${names.join(", ")}${inScenario}` : `did you mean ${near}?`;
      throw new TypeError(`${of}: unknown option ${inspected(name).slice(1, -1)}; ${advice}`);
    }
    checkValue(of, name, value, (options[name] ?? options[`${name}?`]) as Kind);
  }
  for (const [name, { wanted }] of Object.entries(options)) {
    if (!name.endsWith("?") && !Object.hasOwn(values, name)) throw new TypeError(`${of}: ${name} is missing; give ${wanted}`);
  }
}

const bare = (name: string) => name.replace(/\?$/, "");

/** Whether it is an object such as `{ refid: "order-1" }`, and no list, Date, Map or other class's. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // also the Object of another realm, as in Jest
}

/** The pairs of neighbouring letters in a name, in any case and spelling. */
const pairsOf = (name: string): string[] => {
  const letters = [...name.toLowerCase().replace(/[-_ ]/g, "")];
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
};

/** The likeliest of these names that was meant, if one shares enough pairs of letters with it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = pairsOf(name);
  const likeness = (right: string) => (2 * pairsOf(right).filter((pair) => wrong.includes(pair)).length) / (pairsOf(right).length + wrong.length || 1);
  const [best = ""] = [...known].sort((one, other) => likeness(other) - likeness(one));
  return likeness(best) >= LIKENESS_MIN ? best : undefined;
}

/** A value as a message shows it: a text in quotes, of an address without its user and password, of an object only its class. */
export function inspected(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.replace(/^(https?:\/\/)?.*@/is, "$1***@").slice(0, SHOWN_CHARS_MAX));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value) + (typeof value === "bigint" ? "n" : "");
  return Array.isArray(value) ? "a list" : isObject(value) ? "an object" : `a ${value.constructor?.name || "value"}`;
}

/** A secret as a message describes it. */
function described(value: unknown): string {
  if (typeof value === "string") return `a text of ${value.length} characters`;
  return value == null ? String(value) : `a value of type ${typeof value}`;
}

/** The seconds of `90`, `"90s"`, `"250ms"`, `"1h30m"` or `"1.5d"`; a RangeError for anything else, and for what is below 0 or more
 * than 3660 days. */
export function seconds(duration: string | number): number {
  const parts = [...`${duration}`.matchAll(/([0-9.]+)([a-z]+)/g)].map(([, count, unit = ""]) => Number(count) * (MICROSECONDS[unit] ?? 0));
  const written = DURATION_PATTERN.test(`${duration}`) ? parts.reduce((sum, part) => sum + Math.round(part), 0) / 1e6 : NaN;
  const total = typeof duration === "number" ? duration : written;
  if (total >= 0 && total <= DURATION_S_MAX) return total;
  throw new RangeError(`${inspected(duration)} is no duration such as "90s", "1h30m", "1.5d" or "500ms", from 0 to 3660 days`);
}

/** A time as ISO 8601. */
export const iso = (time: string | Date): string => (typeof time === "string" ? time : time.toISOString());

/** A moment whose time is ISO 8601. */
export const sentMoment = (moment: object): object => ("to" in moment ? { ...moment, to: iso(moment.to as string | Date) } : moment);

/** Throw a RangeError for a path that would not arrive as it is written: a URL escapes, cuts and resolves without an error, and then
 * something else is signed and sent. */
export function checkPath(api: string, path: string): void {
  if (!path.startsWith("/")) throw new RangeError(`${inspected(path)} is no path of the ${api}: begin it with /`);
  const { pathname, search } = new URL(`http://sandbox${path}`);
  if (path.split("?", 1)[0] === pathname && !/[\p{Cc}#]/u.test(path)) return; // blanks of a query are escaped, then signed
  const arrives = inspected(`${pathname}${search}`);
  throw new RangeError(`${inspected(path)} would not arrive as it is written, but as ${arrives}: write it as it is sent, percent-encoded`);
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isTextOrNumber = (value: unknown) => isText(value) || typeof value === "number";
const isScalar = (value: unknown) => ["string", "boolean", "undefined"].includes(typeof value) || Number.isFinite(value);
const isHeaders = (value: unknown) => isObject(value) || (typeof value === "object" && value !== null && Symbol.iterator in value);

const kind = (wanted: string, isType: Kind["isType"], isInRange: Kind["isType"] = () => true): Kind => ({ wanted, isType, isInRange });
const text = (wanted: string, pattern: RegExp): Kind => kind(wanted, isText, (value: string) => pattern.test(value));
const number = (wanted: string, isInRange: (value: number) => boolean): Kind => kind(wanted, (value) => typeof value === "number", isInRange);
const choice = (choices: readonly string[]): Kind => ({ ...kind(`one of ${choices.join(", ")}`, isText), choices });
const either = (one: Kind, other: Kind): Kind => ({ ...other, ...one, wanted: `${one.wanted} or ${other.wanted}` });
const unset = (one: Kind): Kind => ({ ...one, isUnset: true });
const secret = (one: Kind): Kind => ({ ...one, isSecret: true });
const options = (members: Signature): Kind => ({ ...kind(`an object with ${Object.keys(members).map(bare).join(", ")}`, isObject), options: members });
/** Options without the undefined ones. */
const settings = (members: Signature): Kind => unset(options(Object.fromEntries(Object.entries(members).map(([name, one]) => [name, unset(one)]))));

/** Whether it is the address of a server, which has no user and no query. */
export const isHttpUrl = (value: string): boolean => /^https?:\/\/[^\s?#@/]+(\/[^\s?#]*)?$/i.test(value) && URL.canParse(value);

/** Whether no member is undefined, at any depth: such a condition would be left out, and its rule apply to everything. */
function isDefined(value: unknown): boolean {
  let found = true;
  JSON.stringify(value, (_, member: unknown) => {
    found &&= member !== undefined;
    return typeof member === "bigint" ? 0 : member;
  });
  return found;
}

const ANY_TEXT = text("a text", /^/);
const TEXT = text("a text that is not empty", /./s);
const FLAG = kind("true or false", (value) => typeof value === "boolean");
const WORDS = kind("a list of texts", isTexts);
const JSON_VALUE = unset(kind("JSON", () => true)); // its members are checked when it is encoded
const BYTES = kind("a text or bytes", (value) => isText(value) || isUint8Array(value));
const DATA = kind("an object without undefined members", isObject, isDefined);
const LIST = kind("a list of objects such as [{ status: 500 }], without undefined members", (value) => Array.isArray(value) && value.every(isObject), isDefined);
const QUERY = kind("an object of texts, numbers and booleans", isObject, (value: object) => Object.values(value).every(isScalar));
const COUNT = number("a count: 0, 1, 2, …", (value) => Number.isSafeInteger(value) && value >= 0);
const WAIT_S = number(`seconds from 0 to ${DAY_S}`, (value) => value >= 0 && value <= DAY_S);
const ANSWER_S = number(`seconds above 0, ${DAY_S} at most`, (value) => value > 0 && value <= DAY_S);
const UNIX_S = number("Unix time in seconds", (value) => Number.isInteger(value) && value >= 0 && value < 1e11); // so that milliseconds are refused
const STATUS = number(`a number from ${STATUS_MIN} to ${STATUS_MAX}`, (value) => Number.isInteger(value) && value >= STATUS_MIN && value <= STATUS_MAX);
const isAmount = (value: string | number) => (isText(value) ? /^-?\d{1,12}(\.\d{1,4})?$/.test(value) : Number.isFinite(value));
const AMOUNT = kind(`an amount such as 10 or "10.50"`, isTextOrNumber, isAmount);
const isTime = (value: string | Date) => !Number.isNaN(isText(value) ? Date.parse(value) : value.getTime());
const TIME = kind(`a Date, or a text such as "2027-01-01T00:00:00Z"`, (value) => isText(value) || isDate(value), isTime);
const DURATION = kind(`a duration such as 90 or "1h30m"`, isTextOrNumber);
const SEED = number(`a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`, (value) => Number.isSafeInteger(value) && value >= 0);
const CLOCK = text("manual, real, or one such as x60", /^(manual|real|x\d{1,9}(\.\d{1,9})?)$/);
const HEX = secret(text("the hexadecimal secret that PUT /v2/balance-webhook showed", /^([0-9a-f]{2})+$/i));
const BASE64 = secret(text("the secret in Base64", /^(?=.)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/));
const TOKEN = secret(text("a text that a header can have", /^[\x20-\x7e]*$/));
const SERVER = kind("a URL such as http://127.0.0.1:8080", (value) => isText(value) || value instanceof URL, (value: string | URL) => isHttpUrl(`${value}`));
const TARGET = kind("a URL, or inbox:NAME", (value) => isText(value) || value instanceof URL, (value: string | URL) => /^(https?:\/\/|inbox:)./.test(`${value}`));
const isAddress = (value: string | URL) => /^(https?:\/)?\//i.test(`${value}`) && URL.canParse(value, "http://localhost");
const ADDRESS = kind("a URL, or a path that begins with /", (value) => isText(value) || value instanceof URL, isAddress);
const COMMAND = kind("a text or a list of texts that begins with a program", (value) => isText(value) || isTexts(value));
const VERB = text("a method such as POST", /^[A-Za-z]+$/);
const BODY = kind("a text or bytes: JSON.stringify an object, or use call()", (value) => value === null || isText(value) || isUint8Array(value));
const HEADERS = kind("an object of headers, or Headers", isHeaders);
const SENT_HEADERS = kind("an object of headers with texts, or Headers", isHeaders, (value) => !isObject(value) || isTexts(Object.values(value)));
const PAYMENT_STATUS = choice(["Accepted", "Processing", "Succesful", "Failed", "Refund"]);
const CALLBACK_STATUS = choice(["Processing", "Succesful", "Failed"]);

/** Options that a text alone may select. */
const SCENARIO = kind("a scenario's name, file, YAML text or object without undefined members", (value) => isText(value) || isObject(value), isDefined);
const SANDBOX_OPTIONS = either(
  TEXT,
  settings({ "scenario?": SCENARIO, "id?": ANY_TEXT, "clock?": CLOCK, "start?": TIME, "seed?": SEED, "credentials?": choice(["scenario", "unique"]), "audit?": FLAG, "tape?": TEXT, "mark?": TEXT }),
);
const START_OPTIONS = settings({ "scenario?": TEXT, "clock?": TEXT, "seed?": SEED, "command?": COMMAND, "arguments?": WORDS, "timeoutS?": ANSWER_S });
const MOMENT = { "mark?": TEXT, "to?": TIME, "n?": COUNT };
const PAYMENTS = { "refid?": TEXT, "reseller?": TEXT };
const COMPARED = ["method", "path", "reseller", "trxid", "refid", "rule", "fault", "error", "status"]; // also with _not
const FILTERS = [...COMPARED.flatMap((name) => [name, `${name}_not`]), "trace_id", "status_min", "status_max", "limit"];
const REQUESTS = Object.fromEntries(FILTERS.map((name) => [`${name}?`, /^(status|limit)/.test(name) ? COUNT : ANY_TEXT]));
const BEHAVIOUR = { "delayS?": WAIT_S, "disconnect?": FLAG, "body?": BYTES, "contentType?": text("printable ASCII such as text/plain", /^[\x20-\x7e]+$/) };

export const SIMULATOR = {
  constructor: { "options?": either(SERVER, settings({ "url?": SERVER, "token?": TOKEN })) },
  start: { "options?": either(TEXT, START_OPTIONS) },
  sandbox: { "options?": SANDBOX_OPTIONS },
  open: { id: TEXT },
};

export const SANDBOX = {
  fetch: { path: ANY_TEXT, "init?": options({ "method?": VERB, "headers?": SENT_HEADERS, "body?": BODY }) },
  call: { method: VERB, path: ANY_TEXT, "json?": JSON_VALUE },
  ask: { method: choice(["GET", "POST", "PUT", "PATCH", "DELETE"]), path: ANY_TEXT, "sent?": options({ "query?": QUERY, "json?": JSON_VALUE, "timeoutS?": ANSWER_S }) },
  advance: { "by?": either(DURATION, options({ to: TIME })) },
  rule: { section: choice(["payments", "voids", "disputes", "bills", "faults"]), rule: DATA },
  fault: { rule: DATA },
  hold: { name: TEXT },
  deposit: { amount: AMOUNT, "options?": either(TEXT, options({ "reseller?": TEXT, "description?": ANY_TEXT })) },
  transaction: { refid: TEXT },
  transactions: { "filters?": options(PAYMENTS) },
  story: { refid: TEXT },
  requests: { "filters?": options(REQUESTS) },
  callbacks: { "filters?": options({ "refid?": TEXT, "trxid?": TEXT }) },
  inbox: { "name?": TEXT },
  replies: { name: TEXT, replies: LIST },
  setCallback: { url: TARGET, "method?": choice(["POST", "GET"]) },
  waitForCallback: { "wanted?": either(TEXT, options({ "refid?": TEXT, "status?": CALLBACK_STATUS, "timeoutS?": WAIT_S, "inbox?": TEXT })) },
  expectStatus: { refid: TEXT, status: PAYMENT_STATUS },
  balance: { "reseller?": TEXT },
  expectBalance: { amount: AMOUNT, "reseller?": TEXT },
  expectCallback: { refid: TEXT, "wanted?": either(CALLBACK_STATUS, options({ "status?": CALLBACK_STATUS })) },
  mark: { name: TEXT },
  rewind: { moment: either(TEXT, options(MOMENT)) },
  fork: { "moment?": options({ "id?": TEXT, ...MOMENT }) },
};

export const HOLD = {
  wait: { "count?": COUNT, "options?": options({ "timeoutS?": WAIT_S }) },
  release: { "count?": COUNT },
};

export const RECEIVER = {
  reply: { status: either(STATUS, options({ "status?": STATUS, ...BEHAVIOUR })), "behaviour?": options(BEHAVIOUR) },
  verify: { secret: HEX },
  waitFor: { count: COUNT, "options?": options({ "timeoutS?": WAIT_S }) },
};

const SIGNED = { secret: HEX, headers: HEADERS, body: BYTES, "now?": TIME };
export const FUNCTIONS = {
  evidence: { sandbox: kind("a sandbox", (value) => typeof (value as { story?: unknown } | null)?.story === "function") },
  hmacHeaders: {
    request: options({
      ...{ apiKey: text("the key as a header has it", /^[\x21-\x7e]+$/), apiSecret: BASE64, method: VERB, url: ADDRESS, "body?": unset(BYTES) },
      ...{ "timestamp?": unset(UNIX_S), "nonce?": unset(text("16 to 128 letters, digits, - and _", /^[\w-]{16,128}$/)) },
    }),
  },
  judgeWebhook: SIGNED,
  verifyWebhook: SIGNED,
  useSandbox: { "options?": SANDBOX_OPTIONS },
};
