// What a function does not take is refused: unknown names, wrong types, undefined and one argument too many.
// @ts-nocheck these calls are wrong on purpose
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { evidence, hmacHeaders, judgeWebhook, Receiver, Sandbox, Simulator, SimulatorError, verifyWebhook } from "reseller-sim";
import { useSandbox } from "reseller-sim/node-test";

class Options {
  scenario = "bad-day";
}
let simulator, sandbox, receiver;
before(async () => {
  simulator = await Simulator.start({ clock: undefined, seed: undefined });
  sandbox = await simulator.sandbox({ scenario: undefined, audit: undefined });
  for (const refid of ["order-1", "order-2"]) {
    await sandbox.call("POST", "/v2/topup", { refid, product: "RELOAD", account: "0123456789", amount: 10 });
  }
  await sandbox.runUntilIdle();
  receiver = await Receiver.start();
});
after(async () => {
  await receiver.close();
  await simulator.close();
});

const order = { apiKey: "k", apiSecret: "bm90LWEtc2VjcmV0", method: "GET", url: "/v2/balance" };
const secret = "5f".repeat(32);

/** Each is a TypeError; the text is its message, or the end of it. */
const UNKNOWN = [
  ["statuss; did you mean status?", () => sandbox.expectCallback("order-2", { statuss: "Failed" })],
  ["state; did you mean status?", () => sandbox.expectCallback("order-2", { state: "failed" })],
  ["refId; did you mean refid?", () => sandbox.waitForCallback({ refId: "order-2" })],
  ["timeout; did you mean timeoutS?", () => sandbox.waitForCallback({ refid: "order-2", timeout: 1 })],
  ["timeoutMs; did you mean timeoutS?", () => receiver.waitFor(0, { timeoutMs: 5 })],
  ["statusCode; did you mean status?", () => sandbox.requests({ statusCode: 200 })],
  ["ref_id; did you mean refid?", () => sandbox.transactions({ ref_id: "order-1" })],
  ["trxId; did you mean trxid?", () => sandbox.callbacks({ trxId: "1" })],
  ["resellerr; did you mean reseller?", () => sandbox.deposit(10, { resellerr: "RS001" })],
  ["seconds; the options are to", () => sandbox.advance({ seconds: 5 })],
  ["name; the options are mark, to, n", () => sandbox.rewind({ name: "a" })],
  ["marks; did you mean mark?", () => sandbox.fork({ marks: "a" })],
  ["body; the options are query, json, timeoutS", () => sandbox.ask("POST", "/marks", { body: "{}" })],
  ["metod; did you mean method?", () => sandbox.fetch("/v2/topup", { metod: "POST" })],
  ["redirect; the options are method, headers, body", () => sandbox.fetch("/v2/balance", { redirect: "follow" })],
  ["scenarioo; did you mean scenario?", () => simulator.sandbox({ scenarioo: "stuck-processing" })],
  ["extends; the options are scenario, id, clock, start, seed, credentials, audit, tape, mark; a scenario's own keys go into scenario: { extends: … }", () => simulator.sandbox({ extends: "default" })],
  ["credential; did you mean credentials?", () => simulator.sandbox({ credential: "unique" })],
  ["scenarioo; did you mean scenario?", () => Simulator.start({ scenarioo: "stuck-processing" })],
  ["args; the options are scenario, clock, seed, command, arguments, timeoutS", () => Simulator.start({ args: [] })],
  ["uri; did you mean url?", () => new Simulator({ uri: simulator.url })],
  ["scenarioo; did you mean scenario?", () => useSandbox({ scenarioo: "stuck-processing" })],
  ["statuss; did you mean status?", () => receiver.reply({ statuss: 500 })],
  ["delay; did you mean delayS?", () => receiver.reply(200, { delay: 1 })],
  ["status; the options are delayS, disconnect, body, contentType", () => receiver.reply(200, { status: 500 })],
  ["secret; did you mean apiSecret?", () => hmacHeaders({ ...order, secret: "x" })],
  ["__proto; the options are refid, reseller", () => sandbox.transactions({ __proto: 1 })],
];

test("an unknown option is refused with the nearest right one", async () => {
  for (const [said, call] of UNKNOWN) {
    await assert.rejects(async () => call(), (error) => error instanceof TypeError && error.message.endsWith(`: unknown option ${said}`), said);
  }
});

/** Values that `JSON.stringify` would drop or write as `{}`, as null or as something else than what was meant. */
const NOT_JSON = [10n, () => 1, Symbol("x"), Promise.resolve("order-1"), new Map([["refid", "x"]]), new Set(["x"]), new URLSearchParams("refid=x"), new FormData(), /x/, new Error("x"), new Date(NaN), Buffer.from("{}")];

/** A function, and what it refuses with a TypeError that has this text. */
const WRONG = [
  [(value) => sandbox.waitForCallback(value), "wanted is ", [undefined, null, 5, ["order-1"], new Date(), new Map([["refid", "x"]]), true]],
  [(value) => sandbox.waitForCallback({ refid: value }), "refid is ", [undefined, null, 5, ["order-1"], {}, true]],
  [(value) => sandbox.waitForCallback({ status: value }), "status is ", [undefined, null, 20, ["Failed"]]],
  [(value) => sandbox.waitForCallback({ timeoutS: value }), "timeoutS is ", [undefined, null, "1", [1]]],
  [(value) => sandbox.waitForCallback({ inbox: value }), "inbox is ", [undefined, null, 5]],
  [(value) => sandbox.expectCallback("order-1", value), "wanted is ", [undefined, null, 20, ["Failed"]]],
  [(value) => sandbox.expectCallback(value), "refid is ", [undefined, null, 5, ["order-1"], { refid: "order-1" }]],
  [(value) => sandbox.expectStatus(value, "Succesful"), "refid is ", [undefined, null, 5, ["order-1"], { refid: "order-1" }]],
  [(value) => sandbox.expectStatus("order-1", value), "status is ", [undefined, null, 20, ["Succesful"], { status: "Succesful" }]],
  [(value) => sandbox.transaction(value), "refid is ", [undefined, null, 5, ["order-1"], { refid: "order-1" }]],
  [(value) => sandbox.story(value), "refid is ", [undefined, null, 5, ["order-1"]]],
  [(value) => sandbox.transactions(value), "filters is ", [undefined, null, "order-1", ["order-1"], 5]],
  [(value) => sandbox.transactions({ refid: value }), "refid is ", [undefined, null, ["order-1"], 5]],
  [(value) => sandbox.callbacks(value), "filters is ", [undefined, "order-1", ["order-1"]]],
  [(value) => sandbox.requests(value), "filters is ", [undefined, "order-1", "/v2/topup"]],
  [(value) => sandbox.requests({ status: value }), "status is ", [undefined, "200", [200]]],
  [(value) => sandbox.balance(value), "reseller is ", [undefined, null, 1, { reseller: "RS001" }]],
  [(value) => sandbox.expectBalance(value), "amount is ", [undefined, null, {}, [], true, 5n]],
  [(value) => sandbox.expectBalance(5000, value), "reseller is ", [undefined, null, 1, { reseller: "RS001" }]],
  [(value) => sandbox.deposit(value), "amount is ", [undefined, null, {}, [10], true]],
  [(value) => sandbox.deposit(10, value), "options is ", [undefined, null, 5, ["RS001"]]],
  [(value) => sandbox.advance(value), "by is ", [undefined, null, new Date(), ["1s"], true, 5n]],
  [(value) => sandbox.advance({ to: value }), "to is ", [undefined, null, 5, {}]],
  [(value) => sandbox.rule(value, {}), "section is ", [undefined, null, {}]],
  [(value) => sandbox.fault(value), "rule is ", [undefined, null, "x", [{}]]],
  [(value) => sandbox.replies("callbacks", value), "replies is ", [undefined, { status: 500 }, [500], 500]],
  [(value) => sandbox.replies(value, []), "name is ", [undefined, [{ status: 500 }]]],
  [(value) => sandbox.inbox(value), "name is ", [undefined, null, 5]],
  [(value) => sandbox.setCallback(value), "url is ", [undefined, null, 5, ["http://x/"]]],
  [(value) => sandbox.mark(value), "name is ", [undefined, null, { name: "a" }]],
  [(value) => sandbox.rewind(value), "moment is ", [undefined, null, 5, new Date()]],
  [(value) => sandbox.rewind({ n: value }), "n is ", [undefined, "1"]],
  [(value) => sandbox.fork(value), "moment is ", [undefined, null, "early"]],
  [(value) => sandbox.ask(value, "/clock"), "method is ", [undefined, null, 5]],
  [(value) => sandbox.ask("GET", value), "path is ", [undefined, null, 5]],
  [(value) => sandbox.ask("GET", "/requests", { query: value }), "query is ", [undefined, "limit=1", [["limit", 1]]]],
  [(value) => sandbox.call(value, "/v2/balance"), "method is ", [undefined, null, 5]],
  [(value) => sandbox.call("GET", value), "path is ", [undefined, null, 5, new URL("http://x/")]],
  [(value) => sandbox.fetch("/v2/topup", { method: "POST", body: value }), "body is ", [undefined, { refid: "x" }, ["x"], 5]],
  [(value) => sandbox.fetch("/v2/topup", value), "init is ", [undefined, "POST", new Request("http://x/")]],
  [(value) => simulator.open(value), "id is ", [undefined, null, 5, { id: "default" }]],
  [(value) => simulator.sandbox(value), "options is ", [null, 5, ["default"], true, new Options()]],
  [(value) => simulator.sandbox({ scenario: value }), "scenario is ", [null, 5, ["default"], true]],
  [(value) => simulator.sandbox({ clock: value }), "clock is ", [null, 60, { mode: "x60" }]],
  [(value) => simulator.sandbox({ start: value }), "start is ", [null, 5, {}]],
  [(value) => simulator.sandbox({ seed: value }), "seed is ", [null, "7", {}]],
  [(value) => simulator.sandbox({ audit: value }), "audit is ", [null, "no", 0]],
  [(value) => Simulator.start(value), "options is ", [null, 5, ["bad-day"]]],
  [(value) => Simulator.start({ scenario: value }), "scenario is ", [null, 5, {}]],
  [(value) => Simulator.start({ arguments: value }), "arguments is ", [null, "--verbose", [5]]],
  [(value) => Simulator.start({ timeoutS: value }), "timeoutS is ", [null, "5"]],
  [(value) => new Simulator(value), "options is ", [null, 5, ["http://127.0.0.1:1"]]],
  [(value) => new Simulator({ token: value }), "token is ", [null, 5]],
  [(value) => useSandbox(value), "options is ", [null, 5, ["bad-day"]]],
  [(value) => receiver.reply(value), "status is ", [undefined, null, "500", [500], true]],
  [(value) => receiver.reply(200, value), "behaviour is ", [undefined, null, 5, "yes"]],
  [(value) => receiver.verify(value), "secret is ", [undefined, null, 5]],
  [(value) => receiver.waitFor(value), "count is ", [undefined, null, "1", { count: 1 }]],
  [(value) => receiver.waitFor(0, value), "options is ", [undefined, null, 5, "5"]],
  [(value) => hmacHeaders(value), "request is ", [undefined, null, "GET"]],
  [(value) => hmacHeaders({ ...order, apiKey: value }), "apiKey is ", [undefined, null, 5]],
  [(value) => hmacHeaders({ ...order, body: value }), "body is ", [null, { refid: "x" }, 5]],
  [(value) => hmacHeaders({ ...order, timestamp: value }), "timestamp is ", [null, "1", new Date()]],
  [(value) => judgeWebhook(value, {}, ""), "secret is ", [undefined, null, 5]],
  [(value) => verifyWebhook(secret, value, ""), "headers is ", [undefined, null, "x"]],
  [(value) => verifyWebhook(secret, {}, value), "body is ", [undefined, null, { id: 1 }]],
  [(value) => verifyWebhook(secret, {}, "", value), "now is ", [undefined, null, 5]],
  [(value) => evidence(value), "sandbox is ", [undefined, null, "default", {}]],
  [(value) => sandbox.fetch("/v2/balance", { headers: value }), "headers is ", [undefined, null, "x", new Date(), Promise.resolve({})]],
  [(value) => sandbox.fetch("/v2/topup", { method: "POST", body: value }), "body is ", [undefined, {}, [], 5, new Date(), new Map(), new FormData(), new Error("x"), /x/, Promise.resolve("{}")]],
  [(value) => sandbox.call("POST", "/v2/topup", value), "json is ", NOT_JSON],
  [(value) => sandbox.call("POST", "/v2/topup", { refid: value }), "refid is ", NOT_JSON],
  [(value) => sandbox.ask("POST", "/marks", { json: value }), "json is ", NOT_JSON],
  [(value) => sandbox.fault({ when: { path: value }, then: { status: 503 } }), "path is ", [/topup/, Promise.resolve("/v2/topup"), () => "/v2/topup"]],
  [(value) => sandbox.replies("callbacks", [{ delay: value }]), "delay is ", [new Set([1]), Promise.resolve(1)]],
  [(value) => simulator.sandbox({ scenario: { extends: "default", seed: value } }), "seed is ", [Promise.resolve(1), () => 1]],
  [(value) => judgeWebhook(secret, value, ""), "headers is ", [undefined, null, "x", 5, new Date(), Promise.resolve({})]],
  [(value) => new Sandbox(value, {}), "new Sandbox: simulator.sandbox() creates", [undefined, null, {}, "default"]],
];

test("a value of a wrong type is refused with what to give", async () => {
  for (const [call, said, values] of WRONG) {
    for (const value of values) {
      const refused = (error) => error instanceof TypeError && error.message.includes(said) && /; give |simulator\.open/.test(error.message);
      await assert.rejects(async () => call(value), refused, `${call} of ${typeof value} ${JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}n` : one))}`);
    }
  }
});

test("a refused value is not shown where it is a secret", () => {
  const refused = [
    ["apiSecret is a text of 13 characters; give the secret in Base64", () => hmacHeaders({ ...order, apiSecret: "bm90LWEtc2Vj\n" })],
    ["secret is a text of 3 characters; give the hexadecimal secret", () => verifyWebhook("5f\n", {}, "")],
    ["token is a text of 4 characters; give a text that a header can have", () => new Simulator({ token: "5f5\n" })],
    ['options is "http://***@127.0.0.1:8080"; give a URL', () => new Simulator("http://me:5f5f@127.0.0.1:8080")],
    ['url is "http://***@127.0.0.1:8080"; give a URL', () => new Simulator({ url: "http://me:5f/5f@127.0.0.1:8080" })],
    ['url is "***@127.0.0.1:8080"; give a URL', () => new Simulator({ url: "me:5f5f@127.0.0.1:8080" })],
    ["token is a value of type number; give a text that a header can have", () => new Simulator({ token: 12345 })],
  ];
  for (const [said, call] of refused) assert.throws(call, (error) => error.message.includes(said), said);
});

test("a value that cannot be meant is refused", async () => {
  const waits = [NaN, -1, Infinity, 86_401].flatMap((timeoutS) => [
    () => sandbox.waitForCallback({ timeoutS }),
    () => receiver.waitFor(1, { timeoutS }),
    () => sandbox.ask("GET", "/clock", { timeoutS }),
    () => Simulator.start({ timeoutS, command: ["no-such-program"] }),
  ]);
  const undefineds = [
    () => sandbox.rule("payments", { when: { refid: undefined }, then: [{ status: "Failed" }] }),
    () => sandbox.fault({ when: { path: undefined }, then: { status: 503 } }),
    () => sandbox.replies("callbacks", [{ status: undefined }]),
    () => simulator.sandbox({ scenario: { extends: "default", payments: undefined } }),
  ];
  const requests = [
    () => sandbox.fetch("/v2/balance", { method: "G ET" }),
    () => sandbox.fetch("/v2/balance", { headers: { "X-Trace": undefined } }),
    () => sandbox.call("G:T", "/v2/balance"),
    () => sandbox.call("POST", "/v2/topup", { amount: NaN }),
    () => sandbox.call("POST", "/v2/topup", { amount: Infinity }),
    () => sandbox.ask("GET", "/requests", { query: { limit: Promise.resolve(1) } }),
    () => sandbox.ask("GET", "/requests", { query: { refid: null } }),
    () => sandbox.ask("GET", "/requests", { query: { limit: NaN } }),
    () => sandbox.ask("GET", "/clock", { timeoutS: 0 }),
    () => sandbox.inbox(""),
    () => sandbox.setCallback("callbacks"),
    () => sandbox.setCallback("http://"),
    () => sandbox.setCallback("inbox:a", "post"),
    () => sandbox.expectBalance("4980.5000000000000000001"),
    () => simulator.open(""),
    () => new Simulator(""),
    () => new Simulator({ url: "" }),
    () => new Simulator("http://a b"),
    () => new Simulator("http://me:secret@127.0.0.1:8080"),
    () => new Simulator("http://127.0.0.1:99999"),
    () => new Simulator("http://127.0.0.1:8080/?sandbox=x"),
    () => receiver.reply(200, { contentType: "" }),
    () => hmacHeaders({ ...order, apiKey: "k\nX: y" }),
    () => hmacHeaders({ ...order, apiSecret: "" }),
    () => hmacHeaders({ ...order, method: "G:T" }),
    () => hmacHeaders({ ...order, url: "" }),
    () => hmacHeaders({ ...order, url: "v2/balance" }),
    () => hmacHeaders({ ...order, url: "http://" }),
    () => hmacHeaders({ ...order, timestamp: Date.now() }),
    () => hmacHeaders({ ...order, timestamp: -5 }),
    () => hmacHeaders({ ...order, nonce: "" }),
    () => hmacHeaders({ ...order, nonce: "0123456789:abcdef" }),
  ];
  const texts = [
    () => sandbox.transaction(""),
    () => sandbox.expectBalance(""),
    () => sandbox.expectBalance("free"),
    () => sandbox.expectBalance(NaN),
    () => sandbox.deposit("RS001"),
    () => sandbox.rule("payment", {}),
    () => sandbox.advance({ to: "tomorrow" }),
    () => sandbox.advance({ to: new Date(NaN) }),
    () => sandbox.waitForCallback({ status: "Failure" }),
    () => sandbox.expectCallback("order-1", "failed"),
    () => sandbox.balance("RS999"),
    () => sandbox.expectBalance(5000, "RS999"),
    () => new Simulator("127.0.0.1:8080"),
    () => new Simulator({ url: "localhost:8080" }),
    () => hmacHeaders({ ...order, apiSecret: "not Base64!" }),
    () => receiver.verify("not hexadecimal"),
    () => simulator.sandbox({ credentials: "own" }),
    () => simulator.sandbox({ clock: "fast" }),
  ];
  for (const call of [...waits, ...undefineds, ...requests, ...texts]) await assert.rejects(async () => call(), RangeError, `${call}`);
  await assert.rejects(sandbox.rule("payment", {}), /^RangeError: sandbox\.rule: section is "payment"; did you mean payments\? Give one of payments, /);
  await assert.rejects(sandbox.balance("RS999"), /has no reseller RS999; did you mean RS001\?$/);
  await assert.rejects(sandbox.replies("callbacks", [500]), /^TypeError: .* replies is a list; give a list of objects such as \[\{ status: 500 \}\]/);
  await assert.rejects(simulator.sandbox("no-such-file.yaml"), /ENOENT.*no-such-file\.yaml/);
  for (const call of [() => sandbox.deposit(10, "RS01"), () => sandbox.transactions({ reseller: "RS01" }), () => sandbox.requests({ method: "get" })]) {
    await assert.rejects(call, SimulatorError);
  }
});

test("a header that the client writes itself is refused, and a receiver by new", async () => {
  for (const name of ["Host", "connection", "Content-Length", "transfer-encoding", "X-Api-Key", "x-signature"]) {
    await assert.rejects(sandbox.fetch("/v2/balance", { headers: { [name]: "5" } }), /^TypeError: sandbox\.fetch: it writes the header /);
  }
  assert.throws(() => new Receiver(), new TypeError("new Receiver: await Receiver.start() starts a receiver"));
});

test("JSON keeps what it has: a Date, an instance with members; what is undefined is left out", async () => {
  class Order {
    refid = "order-3";
    at = new Date(0);
    amount = 10;
    note = undefined;
  }
  await sandbox.call("POST", "/v2/topup", new Order());
  const [{ n }] = await sandbox.requests({ path: "/v2/topup" });
  const { request } = await sandbox.ask("GET", `/requests/${n}`);
  assert.equal(request.body, '{"refid":"order-3","at":"1970-01-01T00:00:00.000Z","amount":10}');
});

test("a variable that is no URL is named", () => {
  const { RESELLER_SIM_URL } = process.env;
  process.env["RESELLER_SIM_URL"] = "127.0.0.1:8080";
  try {
    assert.equal(new Simulator(new URL("http://127.0.0.1:1")).url, "http://127.0.0.1:1");
    for (const below of ["/s/default", "/v2", "/s/default/v2/topup"]) {
      assert.equal(new Simulator(`http://127.0.0.1:1${below}`).url, "http://127.0.0.1:1");
    }
    assert.throws(() => new Simulator(), new RangeError('RESELLER_SIM_URL is "127.0.0.1:8080"; give a URL such as http://127.0.0.1:8080'));
  } finally {
    delete process.env["RESELLER_SIM_URL"];
    Object.assign(process.env, RESELLER_SIM_URL && { RESELLER_SIM_URL });
  }
});

test("an argument too many is refused, as is one that is missing", async () => {
  const calls = [
    ["sandbox.runUntilIdle takes no arguments; it was given 1", () => sandbox.runUntilIdle("1h")],
    ["sandbox.expectNoRefusals takes no arguments; it was given 1", () => sandbox.expectNoRefusals("order-1")],
    ["sandbox.expectStatus takes at most 2 (refid, status); it was given 3", () => sandbox.expectStatus("order-1", "Succesful", "RS001")],
    ["sandbox.expectCallback takes at most 2 (refid, wanted); it was given 3", () => sandbox.expectCallback("order-1", "Succesful", 5)],
    ["sandbox.waitForCallback takes at most 1 (wanted); it was given 2", () => sandbox.waitForCallback("order-1", "Succesful")],
    ["Receiver.start takes no arguments; it was given 1", () => Receiver.start({ port: 8080 })],
    ["Simulator.start takes at most 1 (options); it was given 2", () => Simulator.start("default", { clock: "manual" })],
    ["new Simulator takes at most 1 (options); it was given 2", () => new Simulator(simulator.url, "token")],
    ["useSandbox takes at most 1 (options); it was given 2", () => useSandbox("default", { clock: "x60" })],
    ["receiver.reply: give one object with all options", () => receiver.reply({ status: 500 }, { delayS: 1 })],
    ["sandbox.story: refid is missing; give a text that is not empty", () => sandbox.story()],
    ["sandbox.expectStatus: status is missing; give one of Accepted, Processing, Succesful, Failed, Refund", () => sandbox.expectStatus("order-1")],
    ["hmacHeaders: url is missing; give a URL, or a path that begins with /", () => hmacHeaders({ apiKey: "k", apiSecret: "a2V5", method: "GET" })],
    ["sandbox.advance: to is missing; give a Date, or a text such as \"2027-01-01T00:00:00Z\"", () => sandbox.advance({})],
  ];
  for (const [message, call] of calls) await assert.rejects(async () => call(), new TypeError(message));
});

test("a text is what it can only mean: a refid, a status, a scenario, a mark, a reseller, a URL", async () => {
  assert.equal((await sandbox.waitForCallback("order-2")).data.refid, "order-2");
  assert.equal((await sandbox.expectCallback("order-2", "Succesful")).refid, "order-2");
  await assert.rejects(sandbox.expectCallback("order-2", "Failed"), /no callback with the status Failed for order-2 was accepted/);
  const other = await simulator.sandbox("stuck-processing");
  assert.equal((await other.record()).scenario, "stuck-processing");
  await sandbox.mark("paid");
  await sandbox.deposit("10.00", "RS001");
  await sandbox.rewind("paid");
  await sandbox.expectBalance("4980.5");
  assert.equal((await new Simulator(simulator.url).health()).status, "ok");
  const started = await Simulator.start("bad-day");
  assert.equal((await (await started.open("default")).record()).scenario, "bad-day");
  await started.close();
});
