// What a test that has gone astray is told: the address that was meant, the inbox that was meant, a proxy in between.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { evidence, hmacHeaders, Simulator } from "reseller-sim";

/** @type {Simulator} */
let simulator;
before(async () => void (simulator = await Simulator.start()));
after(() => simulator.close());
const { HTTP_PROXY, NO_PROXY, no_proxy: lowerCase } = process.env;
afterEach(() => {
  for (const [name, value] of Object.entries({ HTTP_PROXY, NO_PROXY, no_proxy: lowerCase })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** A request that loses `/s/ID`, as `new URL("/v2/balance", sandbox.url)` does. @param {import("reseller-sim").Sandbox} sandbox */
function sendToRoot({ url, apiKey, apiSecret }, secret = apiSecret) {
  const address = new URL("/v2/balance", url);
  return fetch(address, { headers: hmacHeaders({ apiKey, apiSecret: secret, method: "GET", url: address }) });
}

test("the root address leads to the sandbox of the key, unless a test asks for the scenario's keys", async () => {
  const [one, other] = [await simulator.sandbox(), await simulator.sandbox("bad-day")];
  assert.notEqual(one.apiKey, other.apiKey);
  assert.equal((await sendToRoot(one)).headers.get("x-sim-sandbox"), one.id);
  assert.deepEqual((await one.requests()).map(({ path, status }) => [path, status]), [["/v2/balance", 200]]);
  const shared = await simulator.sandbox({ credentials: "scenario" });
  assert.equal(shared.apiKey, "test_key_RS001");
});

test("where no request came, the evidence asks for the address", async () => {
  const sandbox = await simulator.sandbox();
  const question = `None has reached the sandbox: does the code under test use ${sandbox.url}?`;
  assert.ok((await evidence(sandbox)).endsWith(question));
  await assert.rejects(sandbox.expectStatus("order-1", "Succesful"), /no payment has the refid order-1\nsandbox .*: 0 payments, 0 refused requests\nrequests:\n {2}None has reached /);
});

test("what a manual clock keeps is said where a test asserts by itself", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.call("POST", "/v2/topup", { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 });
  assert.match(await evidence(sandbox), /\nthe clock is manual and 1 is pending \(order-1 becomes Processing at .*\): call advance\("2s"\) or runUntilIdle\(\) first\n/);
  await sandbox.runUntilIdle();
  assert.doesNotMatch(await evidence(sandbox), /pending/);
});

test("the reason of a receiver comes before what is pending", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.setCallback("http://127.0.0.1:9/");
  await sandbox.call("POST", "/v2/topup", { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 });
  await sandbox.advance("2s");
  const said = /was accepted; the latest attempt: order-1: callback Processing to http:\/\/127\.0\.0\.1:9\/, attempt 1: .+; the clock is manual/;
  await assert.rejects(sandbox.expectCallback("order-1"), said);
});

test("an advance without a duration that does nothing is a warning", async (context) => {
  const sandbox = await simulator.sandbox();
  const warn = context.mock.method(process, "emitWarning", () => undefined);
  await sandbox.advance();
  assert.equal(warn.mock.callCount(), 0);
  await sandbox.call("POST", "/v2/topup", { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 });
  await sandbox.advance();
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /advance\(\) runs what is due now, and nothing is: to move time, give a duration/);
  await sandbox.advance(0);
  assert.equal(warn.mock.callCount(), 1);
});

test("an inbox that nothing is sent to is named with the one that was meant", async () => {
  const sandbox = await simulator.sandbox();
  const wait = (/** @type {string} */ inbox) => sandbox.waitForCallback({ inbox, timeoutS: 0 });
  await assert.rejects(wait("callback"), /^ExpectationFailed.*: no callback came in 0 s; nothing is sent to the inbox callback: did you mean callbacks\?/);
  await sandbox.call("POST", "/v2/callback-url?url=inbox:paid-orders&method=POST");
  await assert.rejects(wait("paid_order"), /did you mean paid-orders\?/);
  await sandbox.call("PUT", "/v2/balance-webhook", { url: `${simulator.controlUrl}/inbox/${sandbox.id}/deposits` });
  await assert.rejects(wait("deposit"), /did you mean deposits\?/);
});

test("a GET sends no body", async () => {
  const sandbox = await simulator.sandbox();
  assert.equal((await sandbox.call("GET", "/v2/balance", {})).status, 200);
  const [{ n } = { n: 0 }] = await sandbox.requests();
  const { request } = /** @type {any} */ (await sandbox.ask("GET", `/requests/${n}`));
  assert.equal(request.body_bytes, 0);
  await assert.rejects(sandbox.call("get", "/v2/balance", { page: 2 }), /^TypeError: sandbox\.call: a GET has no body; write its parameters into the path/);
});

test("the simulator's host is added to NO_PROXY of what a test starts, and a proxy is named where no request came", async () => {
  Object.assign(process.env, { HTTP_PROXY: "http://proxy.example:3128", NO_PROXY: "intern.example, 10.0.0.1", no_proxy: "10.0.0.1,other" });
  const sandbox = await simulator.sandbox();
  const bypass = "intern.example,10.0.0.1,other,127.0.0.1";
  assert.deepEqual([sandbox.environment["NO_PROXY"], sandbox.environment["no_proxy"]], [bypass, bypass]);
  assert.match(await evidence(sandbox), /\? HTTP_PROXY is set: does the HTTP client heed NO_PROXY\?$/);
  process.env["no_proxy"] = "*";
  assert.deepEqual([sandbox.environment["NO_PROXY"], sandbox.environment["no_proxy"]], ["*", "*"]);
  const code = 'console.log(JSON.stringify({ url: `http://${process.env.NO_PROXY}/`, control_token: null })); process.stdin.on("end", () => process.exit()).resume();';
  process.env["no_proxy"] = process.env["NO_PROXY"] = "";
  const started = await Simulator.start({ command: [process.execPath, "-e", code] });
  assert.equal(started.url, "http://127.0.0.1");
  await started.close();
});

test("a fault that no request meets is refused, and one that waits by the wall is a warning", async (context) => {
  const sandbox = await simulator.sandbox();
  const typo = { when: { path: "/v2/topups" }, then: { status: 500 } };
  await assert.rejects(sandbox.fault(typo), /has no path '\/v2\/topups' \(did you mean '\/v2\/topup'\?\)/);
  const warn = context.mock.method(process, "emitWarning", () => undefined);
  await sandbox.fault({ then: { delay: "30s" } });
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /each request waits 29 s of real time, although the clock is manual/);
  await sandbox.replies("callbacks", [{ delay: 20 }]);
  assert.match(String(warn.mock.calls[1]?.arguments[0]), /inboxes.callbacks.replies.*: each message waits 5 s of real time/);
});
