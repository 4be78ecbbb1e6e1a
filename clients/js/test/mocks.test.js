// A test that freezes time or cuts off the network for its own code: the client keeps the clocks, timers and network of the machine.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import { after, afterEach, before, mock, test } from "node:test";
import { evidence, hmacHeaders, judgeWebhook, Receiver, Sandbox, Simulator } from "reseller-sim";

/** @type {Simulator} */
let simulator;
/** @type {Sandbox} */
let sandbox;
before(async () => {
  simulator = process.env["RESELLER_SIM_URL"] ? new Simulator() : await Simulator.start();
  sandbox = await simulator.sandbox("default");
});
after(() => simulator.close());

const START = "2027-01-15T00:00:00.000Z";
const real = { fetch: globalThis.fetch, request: http.request, get: http.get, ClientRequest: http.ClientRequest, connect: net.Socket.prototype.connect };
const order = { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 };

/** The package as it is when it is imported now. @returns {typeof import("reseller-sim")} */
function imported() {
  const require = createRequire(import.meta.url);
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  return require("reseller-sim");
}

/** Everything that node:test mocks, and what Jest's and Vitest's fake timers mock besides. */
function freeze() {
  mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval", "setImmediate"], now: new Date(START) });
  mock.method(performance, "now", () => 0);
  mock.method(process, "hrtime", () => [0, 0]);
  mock.method(globalThis, "queueMicrotask", () => undefined);
}

/** As nock, MSW, undici's MockAgent and tests that replace `fetch` do. */
function cutOff() {
  const refuse = () => {
    throw new Error("not mocked");
  };
  Object.assign(globalThis, { fetch: refuse });
  Object.assign(http, { request: refuse, get: refuse, ClientRequest: refuse });
  net.Socket.prototype.connect = refuse;
}

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  globalThis.fetch = real.fetch;
  Object.assign(http, { request: real.request, get: real.get, ClientRequest: real.ClientRequest });
  net.Socket.prototype.connect = real.connect;
});

test("a wait with a bound ends when time is frozen", async () => {
  const receiver = await Receiver.start();
  freeze();
  await assert.rejects(sandbox.waitForCallback({ refid: "none", timeoutS: 0.2 }), /no payment has the refid none/);
  await assert.rejects(receiver.waitFor(1, { timeoutS: 0.2 }), /0 requests came in 0\.2 s, expected 1/);
  await assert.rejects(Simulator.start({ command: [process.execPath, "-e", "setInterval(() => {}, 9)"], timeoutS: 0.2 }), /was not ready in 0\.2 s/);
  await receiver.close();
});

test("a frozen clock neither delays nor drops what a receiver gets, and signatures are right", async () => {
  freeze();
  const receiver = (await Receiver.start()).reply(200, { delayS: 0.02 });
  const secret = "5f".repeat(32);
  const slow = await simulator.sandbox({ scenario: "default" });
  await slow.call("POST", `/v2/callback-url?url=${encodeURIComponent(receiver.url)}&method=POST`);
  assert.equal((await slow.call("POST", "/v2/topup", order)).status, 200);
  await slow.runUntilIdle();
  assert.equal((await receiver.waitFor(2)).length, 2);
  assert.ok((receiver.received[0]?.at.getTime() ?? 0) < Date.parse(START));
  assert.ok(Math.abs(Number(hmacHeaders({ apiKey: "k", apiSecret: "a2V5", method: "GET", url: "/" })["X-Timestamp"]) - Date.parse(START) / 1000) > 3600);
  assert.match(judgeWebhook(secret, { "webhook-id": "e", "webhook-timestamp": "1", "webhook-signature": "v1,a" }, "").reason, /signature does not match/);
  await receiver.close();
});

test("a sandbox may compare signatures with its own clock", async () => {
  freeze();
  const own = await simulator.sandbox({ scenario: { extends: "default", clock: { signature: "sandbox", start: START } } });
  assert.equal((await own.call("POST", "/v2/topup", order)).status, 200);
  const { url, apiKey, apiSecret } = own;
  const timestamp = Math.floor(Date.now() / 1000); // the frozen one, as code under test has it
  const headers = hmacHeaders({ apiKey, apiSecret, method: "GET", url: "/v2/balance", timestamp });
  const [answer] = await once(http.get(`${url}/v2/balance`, { headers }), "response");
  assert.equal(answer.resume().statusCode, 200);
  await own.advance("1d");
  assert.equal((await own.call("GET", "/v2/balance")).status, 200);
});

test("clocks that were frozen before the import are passed by", async () => {
  freeze();
  const fresh = imported();
  assert.notEqual(fresh.Simulator, Simulator);
  const late = await new fresh.Simulator(simulator.url).sandbox();
  assert.equal((await late.call("GET", "/v2/balance")).status, 200);
  await assert.rejects(late.waitForCallback({ timeoutS: 0.1 }), /no callback came in 0\.1 s/);
});

test("what drives the simulator keeps its network when a test cuts off its own", async () => {
  const receiver = await Receiver.start();
  cutOff();
  await sandbox.advance("1s");
  assert.equal((await sandbox.call("POST", "/v2/topup", { ...order, refid: "cut" })).status, 200);
  await sandbox.runUntilIdle();
  await sandbox.expectStatus("cut", "Succesful");
  await sandbox.waitForCallback("cut");
  assert.match(await evidence(sandbox), /1 payment, 0 refused/);
  await receiver.close();
});
