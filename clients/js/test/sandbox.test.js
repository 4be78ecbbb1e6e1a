// Everything that a sandbox does, against a simulator that is started here.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { evidence, ExpectationFailed, hmacHeaders, NotRunning, NotStarted, Receiver, Sandbox, Simulator, SimulatorError } from "reseller-sim";
import { Control } from "../node_modules/reseller-sim/dist/control.js";

/** @type {Simulator} */
let simulator;
before(async () => {
  simulator = await Simulator.start({ scenario: "default", clock: "manual", seed: 7 });
});
after(() => simulator.close());

/** @param {Sandbox} sandbox @param {string} refid */
const pay = (sandbox, refid, amount = 10) =>
  sandbox.call("POST", "/v2/topup", { refid, product: "RELOAD", account: "0123456789", amount });

test("a simulator says where it is and what it has", async () => {
  assert.equal((await simulator.health()).status, "ok");
  assert.equal(simulator.controlUrl, `${simulator.url}/_sim`);
  const existing = await simulator.open("default");
  assert.equal((await existing.record()).seed, 7);
  assert.equal(new Simulator({ url: `${simulator.controlUrl}/` }).url, simulator.url);
});

test("a sandbox comes from a name, an object, YAML and a file, and time stands still in it", async () => {
  const yaml = "resellers:\n  - { code: R9, balance: 70 }\n";
  writeFileSync("nine.yaml", yaml);
  const wallets = [];
  for (const scenario of ["default", { resellers: [{ code: "R9", balance: 70 }] }, yaml, "nine.yaml"]) {
    const sandbox = await simulator.sandbox({ scenario });
    wallets.push(await sandbox.balance());
    assert.equal((await sandbox.record()).clock.mode, "manual");
    await sandbox.delete();
  }
  assert.deepEqual(wallets, [5000, 70, 70, 70]);
});

test("a sandbox has the id, clock, seed and keys that it is given", async () => {
  const options = { id: "mine", clock: "x60", start: new Date("2027-01-01T00:00:00Z"), seed: 3, credentials: /** @type {const} */ ("unique") };
  const sandbox = await simulator.sandbox(options);
  const { clock, seed } = await sandbox.record();
  assert.deepEqual([sandbox.id, clock.mode, clock.rate, seed], ["mine", "xN", 60, 3]);
  assert.equal((await sandbox.now()).getUTCFullYear(), 2027);
  assert.notEqual(sandbox.apiKey, "test_key_RS001");
  assert.equal(sandbox.environment["RESELLER_API_KEY"], sandbox.apiKey);
  assert.equal(sandbox.environment["RESELLER_SIM_SECRET"], sandbox.apiSecret);
  const guarded = new Simulator({ url: simulator.url, token: "of-this-test" });
  assert.equal((await guarded.open(sandbox.id)).environment["RESELLER_SIM_TOKEN"], "of-this-test");
  await sandbox[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose](); // it is gone already
  assert.deepEqual((await simulator.sandboxes()).map(({ id }) => id), ["default"]);
});

test("what moves time or takes up a moment may take ten minutes", async (context) => {
  const sandbox = await simulator.sandbox();
  await sandbox.mark("now");
  const { mock } = context.mock.method(Control.prototype, "ask");
  await sandbox.advance("1s");
  await sandbox.runUntilIdle();
  await sandbox.rewind("now");
  await (await sandbox.fork()).delete();
  assert.deepEqual(mock.calls.map(({ arguments: [, , sent] }) => sent?.timeoutS), [600, 600, 600, 600, undefined]);
  await sandbox.delete();
});

test("the token of the variables goes to the server of the variables alone", async () => {
  Object.assign(process.env, { RESELLER_SIM_URL: simulator.url, RESELLER_SIM_TOKEN: "of-the-variables" });
  try {
    const [named, given] = [new Simulator(), new Simulator(simulator.url)];
    const tokens = [named, given].map(async (one) => (await one.open("default")).environment["RESELLER_SIM_TOKEN"]);
    assert.deepEqual(await Promise.all(tokens), ["of-the-variables", undefined]);
  } finally {
    delete process.env["RESELLER_SIM_URL"];
    delete process.env["RESELLER_SIM_TOKEN"];
  }
});

test("a sandbox begins where a tape ends, or at a mark", async () => {
  const recorded = await simulator.sandbox();
  await pay(recorded, "one");
  await recorded.mark("noon");
  await pay(recorded, "two");
  const answer = await fetch(`${simulator.controlUrl}/sandboxes/${recorded.id}/tape`);
  writeFileSync("day.tape", Buffer.from(await answer.arrayBuffer()));
  const whole = await simulator.sandbox({ tape: "day.tape" });
  const half = await simulator.sandbox({ tape: "day.tape", mark: "noon", clock: "x60" });
  assert.deepEqual([(await whole.transactions()).length, (await half.transactions()).length], [2, 1]);
  assert.deepEqual([(await whole.record()).clock.mode, (await half.record()).clock.rate], ["manual", 60]);
  for (const sandbox of [recorded, whole, half]) await sandbox.delete();
  await assert.rejects(simulator.sandbox({ tape: "day.tape", seed: 1 }), /a tape has its own scenario, start and seed/);
  await assert.rejects(simulator.sandbox({ mark: "noon" }), /mark names a place on a tape/);
  await assert.rejects(simulator.sandbox({ tape: "none.tape" }), /ENOENT.*none\.tape/);
});

test("a file's sandbox begins with the clock and at the time that it is given", async () => {
  const yaml = "clock: { mode: real, start: 2026-02-01T00:00:00Z }";
  const sandbox = await simulator.sandbox({ scenario: yaml, clock: "x60", start: "2027-01-01T00:00:00+08:00" });
  assert.deepEqual([(await sandbox.record()).clock.mode, (await sandbox.now()).getUTCFullYear()], ["xN", 2026]);
  await sandbox.reset();
  assert.deepEqual([(await sandbox.record()).clock.mode, (await sandbox.now()).toISOString().slice(0, 13)], ["xN", "2026-12-31T16"]);
  await sandbox.delete();
  await assert.rejects(simulator.sandbox({ scenario: yaml, clock: "fast" }), RangeError);
});

test("an answer is held until the test releases it", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.fault({ when: { path: "/v2/topup" }, then: { after_commit: true, hold: "topup" } });
  const held = sandbox.hold("topup");
  const [first, second] = [pay(sandbox, "order-1"), pay(sandbox, "order-2")];
  assert.deepEqual((await held.wait(2)).map(({ kind, what }) => `${kind} ${what}`), Array(2).fill("answer POST /v2/topup"));
  assert.deepEqual((await held.waiting()).map(({ refid }) => refid).sort(), ["order-1", "order-2"]);
  await assert.rejects(sandbox.expectStatus("order-1", "Failed"), /pending .*; held until a release: answer POST \/v2\/topup in topup\n/);
  await assert.rejects(sandbox.expectCallback("order-1"), /; held until a release: answer POST \/v2\/topup in topup\n/);
  await assert.rejects(sandbox.waitForCallback({ refid: "order-1", timeoutS: 0 }), /; held until a release: answer POST \/v2\/topup in topup\n/);
  assert.equal((await sandbox.transaction("order-1"))?.status, "Accepted");
  assert.equal(await held.release(1), 1);
  await Promise.race([first, second]);
  await held[Symbol.asyncDispose]();
  assert.deepEqual([(await first).status, (await second).status, await held.release(), await held.waiting()], [200, 200, 0, []]);
  await assert.rejects(held.wait(1, { timeoutS: 0.01 }), ExpectationFailed);
  await assert.rejects(held.wait(/** @type {any} */ ("1")), TypeError);
  await assert.rejects(held.wait(101), SimulatorError);
  await assert.rejects(held.release(101), SimulatorError);
  for (const name of ["a b", "../rules", "x".repeat(65)]) await assert.rejects(sandbox.hold(name).release(), SimulatorError);
  assert.throws(() => sandbox.hold(""), RangeError);
  await sandbox.delete();
});

test("a refusal has the control API's sentence, code and problems", async () => {
  await assert.rejects(simulator.sandbox({ scenario: "nope" }), (error) => {
    assert.ok(error instanceof SimulatorError);
    assert.deepEqual([error.status, error.code, error.path], [400, "bad_request", "scenario"]);
    assert.match(error.message, /^there is no bundled scenario 'nope'; choose one of default, /);
    return true;
  });
  await assert.rejects(simulator.sandbox({ scenario: { resellers: 5 } }), (error) => {
    assert.ok(error instanceof SimulatorError);
    assert.equal(error.problems[0]?.path, "resellers");
    return true;
  });
  await assert.rejects(simulator.sandbox({ scenario: "clock: {}\nnothing: 1\n" }), /^SimulatorError: line 2, nothing: .* \(400 bad_scenario\)$/);
});

test("who does not answer and what cannot be started are named", async () => {
  const closed = await Receiver.start();
  await closed.close();
  await assert.rejects(new Simulator({ url: "http://127.0.0.1:1" }).health(), NotRunning);
  await assert.rejects(Simulator.start({ command: ["no-such-program"] }), (error) => {
    assert.ok(error instanceof NotStarted);
    assert.match(error.message, /the command comes with the Python package reseller-sim: pip install FOLDER-OF-THE-CLONE, or set RESELLER_SIM_COMMAND \/ RESELLER_SIM_URL$/);
    return true;
  });
  await assert.rejects(Simulator.start({ command: [process.execPath, "-e", "console.log('hello')", "--"] }), /printed "hello"/);
  await assert.rejects(Simulator.start({ scenario: "nope.yaml" }), /nope\.yaml/);
});

test("what is sent is signed: text, bytes, queries", async () => {
  const sandbox = await simulator.sandbox();
  const bodies = ['{"refid":"é"}', new TextEncoder().encode("{}"), undefined];
  for (const body of bodies) {
    const answer = await sandbox.fetch("/v2/topup?b=2&a=1&flag&a=0&empty=&t=x'y z", { method: "POST", body: body ?? null });
    assert.notEqual(answer.status, 401, answer.headers.get("x-sim-diagnosis") ?? "");
  }
  assert.equal((await sandbox.call("GET", "/v2/balance")).status, 200);
  const [last] = await sandbox.requests({ path: "/v2/balance" });
  assert.equal(last?.status, 200);
  await sandbox.delete();
});

test("time moves by durations, seconds and to a time, which never goes back", async () => {
  const sandbox = await simulator.sandbox({ start: "2027-01-01T00:00:00Z" });
  assert.equal((await sandbox.advance("250ms")).now, "2027-01-01T00:00:00.250000Z");
  assert.equal((await sandbox.advance(90)).now, "2027-01-01T00:01:30.250000Z");
  await sandbox.advance({ to: new Date("2027-01-02T00:00:00Z") });
  await sandbox.advance("1d");
  assert.equal((await sandbox.now()).toISOString(), "2027-01-03T00:00:00.000Z");
  await assert.rejects(sandbox.advance({ to: "2026-01-01T00:00:00Z" }), SimulatorError);
  await sandbox.advance("1h30m");
  assert.equal((await sandbox.advance("0.5s1ms")).now, "2027-01-03T01:30:00.501000Z");
  for (const wrong of ["90", "", "1h 30m", "s", "-1s", "1.s"]) {
    await assert.rejects(sandbox.advance(wrong), /no duration such as "90s", "1h30m", "1.5d" or "500ms"/);
  }
  await sandbox.delete();
});

test("a callback is waited for, by POST and by GET", async () => {
  const sandbox = await simulator.sandbox();
  await pay(sandbox, "one");
  const waiting = sandbox.waitForCallback({ refid: "one", status: "Succesful" });
  await sandbox.runUntilIdle();
  assert.equal((await waiting).data.statusCode, 20);
  assert.equal((await waiting).verify("00").verified, false);
  assert.match((await waiting).verify("00").reason, /^it has no webhook-id, /);
  await sandbox.setCallback("inbox:by-get", "GET");
  await pay(sandbox, "two");
  await sandbox.runUntilIdle();
  const message = await sandbox.waitForCallback({ refid: "two", status: "Succesful", inbox: "by-get" });
  assert.equal(message.query["refid"], "two");
  await sandbox.delete();
});

test("a callback that does not come is explained", async () => {
  const sandbox = await simulator.sandbox();
  await pay(sandbox, "one");
  const waiting = sandbox.waitForCallback({ refid: "one", timeoutS: 0.05 });
  await assert.rejects(waiting, /no callback for one came in 0.05 s; the clock is manual and 1 is pending \(one becomes Processing at \S+ \S+\+08:00\): call advance\("2s"\) or runUntilIdle\(\) first[^]*one: RELOAD/);
  await sandbox.delete();
});

test("a story has requests, statuses, wallet and callbacks in the order of their causes, as it has in Python", async () => {
  const sandbox = await simulator.sandbox({ start: "2027-01-01T00:00:00Z" });
  await pay(sandbox, "one");
  await pay(sandbox, "one");
  await sandbox.runUntilIdle();
  const lines = `${await sandbox.story("one")}`.split("\n");
  const [heading, names, ...events] = lines.map((line) => line.replace(/^ {2}2027-01-01 08:\d\d:\d\d\.\d{3}\+08:00 {2}|^ {2}/, ""));
  assert.equal(heading, "one: RELOAD 10.00 MYR to 0123456789, Succesful (20)");
  assert.match(names ?? "", /^trxid \d+, reseller RS001, rule ordinary$/);
  assert.deepEqual(events.map((line) => line.replace(/, sn \S+$/, ", sn …")), [
    "#1 POST /v2/topup → 200, rule ordinary",
    "status Accepted (1) by creation",
    "wallet -9.75 MYR (TRANSACTION), balance 4990.25 MYR: Mobile Reload 0123456789",
    "#2 POST /v2/topup → 200, rule ordinary",
    "status Processing (2) by step",
    "callback Processing to inbox:callbacks, attempt 1: answered 200",
    "status Succesful (20) by step, sn …",
    "callback Succesful to inbox:callbacks, attempt 1: answered 200",
  ]);
  process.env.RESELLER_SIM_UTC = "1";
  assert.match(`${await sandbox.story("one")}`, / {2}2027-01-01 00:00:05\.000\+00:00 {2}status Succesful/);
  delete process.env.RESELLER_SIM_UTC;
  await sandbox.delete();
});

test("the evidence of a sandbox has callbacks, and says when nothing came", async () => {
  const sandbox = await simulator.sandbox({ id: "quiet" });
  const counts = "sandbox quiet: 0 payments, 0 refused requests\nrequests:\n  ";
  const asked = `None has reached the sandbox: does the code under test use ${sandbox.url}?`;
  assert.equal(await evidence(sandbox), counts + asked);
  await sandbox.call("GET", "/v2/balance");
  assert.equal(await evidence(sandbox), `${counts}#1 GET /v2/balance → 200`);
  await pay(sandbox, "one");
  await pay(sandbox, "two", 7);
  await sandbox.runUntilIdle();
  const text = await evidence(sandbox);
  assert.match(text, /\nrefused requests:\n {2}#3 POST .*RELOAD sells[^]*\ncallbacks:\n {2}one: callback Processing to inbox:callbacks, attempt 1: answered 200\n/);
  assert.doesNotMatch(text, /\nrequests:/);
  await sandbox.delete();
});

test("expectations that are not met show what happened", async () => {
  const sandbox = await simulator.sandbox();
  await pay(sandbox, "one");
  await pay(sandbox, "two", 7);
  await fetch(`${sandbox.url}/v2/balance`);
  await assert.rejects(sandbox.expectStatus("one", "Failed"), /payment one is Accepted, expected Failed; the clock is manual and 1 is pending \(one becomes Processing at \S+ \S+\+08:00\): call advance\("2s"\) or runUntilIdle\(\) first\none: RELOAD 10.00 MYR to /);
  await assert.rejects(sandbox.expectStatus("three", "Failed"), /no payment has the refid three; [^]*\nrefused requests:\n {2}#2 POST .* 400.*RELOAD sells/);
  await assert.rejects(sandbox.expectBalance(1), /the balance is 4990.25, expected 1; the clock is manual and 1 is pending \(one becomes Processing at \S+ \S+\+08:00\): call advance\("2s"\) or runUntilIdle\(\) first\nsandbox .*\none: RELOAD 10.00 MYR/);
  await assert.rejects(sandbox.expectCallback("one", { status: "Failed" }), /no callback with the status Failed for one was accepted; the clock is manual and 1 is pending \(one becomes Processing at \S+ \S+\+08:00\): call advance\("2s"\) or runUntilIdle\(\) first\none: RELOAD/);
  await assert.rejects(sandbox.expectNoRefusals(), /2 refused requests\n#2 [^]*\n#3 .*X-Api-Key is absent/);
  await assert.rejects(sandbox.story("three"), ExpectationFailed);
  const headers = { "X-Nonce": "0123456789abcdef" };
  await assert.rejects(sandbox.balance("R7"), RangeError);
  await fetch(`${sandbox.url}/v2/balance?apiKey=${sandbox.apiSecret}`, { headers });
  await assert.rejects(sandbox.expectCleanAudit(), /violated: [^]*, section 5\.1/);
  await sandbox.delete();
});

test("rules, replies, deposits and a reset change the service", async () => {
  const sandbox = await simulator.sandbox();
  const rule = await sandbox.fault({ when: { path: "/v2/balance" }, then: { status: 503 } });
  assert.equal((await sandbox.call("GET", "/v2/balance")).status, 503);
  await rule.remove();
  assert.equal((await sandbox.call("GET", "/v2/balance")).status, 200);
  await sandbox.replies("callbacks", [{ status: 500 }, { status: 200 }]);
  await pay(sandbox, "one");
  await sandbox.runUntilIdle();
  assert.equal((await sandbox.callbacks({ refid: "one" }))[0]?.status, 500);
  assert.equal((await sandbox.deposit("0.50", { description: "a gift" })).amount, 0.5);
  await sandbox.reset();
  assert.equal(await sandbox.transaction("one"), null);
  assert.deepEqual(await sandbox.ask("GET", "/transactions", { query: { limit: 1 } }), { transactions: [], cursor: null, has_more: false });
  await sandbox.delete();
});

test("a rewind returns to a moment, and a fork begins there", async () => {
  const sandbox = await simulator.sandbox();
  const { n, at } = await sandbox.mark("before the order");
  assert.equal(n, 0);
  await sandbox.advance("1s");
  await pay(sandbox, "one");
  const early = await sandbox.fork({ mark: "before the order", id: "early" });
  assert.equal(early.id, "early");
  assert.equal(await early.transaction("one"), null);
  const late = await sandbox.fork();
  await late.runUntilIdle();
  await late.expectStatus("one", "Succesful");
  await sandbox.rewind({ mark: "before the order" });
  assert.equal(await sandbox.transaction("one"), null);
  await sandbox.advance("1h");
  await sandbox.rewind({ to: at });
  assert.deepEqual(await sandbox.now(), new Date(at));
  await assert.rejects(sandbox.rewind({ mark: "nowhere" }), /there is no mark 'nowhere'/);
  for (const each of [early, late, sandbox]) await each.delete();
});

test("the present is a moment, though a Date cuts off its microseconds", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.rewind({ to: await sandbox.now() });
  await pay(sandbox, "one");
  await sandbox.advance({ to: await sandbox.now() });
  await sandbox.rewind({ to: await sandbox.now() });
  assert.equal((await sandbox.transaction("one"))?.refid, "one");
  const fork = await sandbox.fork({ to: await sandbox.now() });
  for (const each of [fork, sandbox]) await each.delete();
});

test("a moment is one of a mark, a time and a number", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.mark("a");
  await assert.rejects(sandbox.rewind({ mark: "a", n: 1 }), /exactly one of mark, to and n/);
  // @ts-expect-error none
  await assert.rejects(sandbox.rewind({}), /exactly one of mark, to and n/);
  await assert.rejects(sandbox.fork({ to: await sandbox.now(), n: 0, id: "two" }), /at most one of mark, to and n/);
  await sandbox.delete();
});

test("lists are read to their end", async () => {
  const sandbox = await simulator.sandbox();
  for (let n = 0; n < 5; n += 1) await sandbox.call("GET", "/v2/balance");
  const numbers = (await sandbox.requests({ method: "GET", status: 200, limit: 2 })).map(({ n }) => n);
  assert.deepEqual(numbers, [5, 4, 3, 2, 1]);
  await sandbox.delete();
});

test("the journal is filtered as by the control API", async () => {
  const sandbox = await simulator.sandbox();
  await sandbox.fault({ name: "down", when: { path: "/v2/catalog" }, then: { status: 503 } });
  await sandbox.call("GET", "/v2/balance");
  await sandbox.call("GET", "/v2/catalog");
  await pay(sandbox, "order-1", 7);
  /** @param {import("reseller-sim").RequestFilters} filters */
  const found = async (filters) => (await sandbox.requests(filters)).map(({ n }) => n);
  assert.deepEqual(await found({ status_min: 400 }), [3, 2]);
  assert.deepEqual(await found({ status_min: 400, status_max: 499 }), [3]);
  assert.deepEqual(await found({ fault: "down" }), [2]);
  assert.deepEqual(await found({ method_not: "GET", status_not: 200 }), [3]);
  assert.deepEqual(await found({ error_not: "" }), [3]);
  assert.deepEqual(await found({ refid: "" }), [2, 1]);
  assert.deepEqual(await found({ path: "/v2/nothing" }), [], "no request had this path");
  await sandbox.delete();
});

test("a simulator ends with the process that started it, also when that is told to end, or killed", async () => {
  const code = 'import { Simulator } from "reseller-sim"; console.log((await Simulator.start()).url);';
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGKILL"])) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    const [url] = await once(child.stdout, "data");
    const orphan = new Simulator({ url: `${url}`.trim() });
    assert.equal((await orphan.health()).status, "ok");
    const events = await fetch(`${orphan.controlUrl}/sandboxes/default/events`); // a stream, which lasts as long as the simulator
    assert.equal(events.status, 200);
    child.kill(signal);
    assert.equal((await once(child, "exit"))[1], signal);
    await events.text().catch(() => undefined);
    await assert.rejects(orphan.health(), NotRunning);
  }
});

test("a refused signature is explained by the journal's autopsy under a failed test and in failed expectations", async () => {
  const sandbox = await simulator.sandbox();
  const { url, apiKey, apiSecret } = sandbox;
  const headers = hmacHeaders({ apiKey, apiSecret, method: "GET", url: `${url}/v2/balance` });
  const text = `v1:${headers["X-Timestamp"]}:${headers["X-Nonce"]}:get::${createHash("sha256").digest("base64")}`;
  const signature = createHmac("sha256", apiSecret).update(text).digest("base64"); // two mistakes: "get", and the secret as text
  for (let n = 0; n < 12; n += 1) // the same each time, so that it is explained once, however busy the machine is
    await fetch(`${url}/v2/balance`, { headers: { ...headers, "X-Signature": `v1=${signature}` } });
  const { autopsy } = /** @type {any} */ (await sandbox.ask("GET", "/requests/12"));
  const said = `${autopsy.sentence}; ${autopsy.fix}`;
  for (const text of [await evidence(sandbox), `${await sandbox.expectNoRefusals().catch(String)}`, `${await sandbox.story("order-1").catch(String)}`]) {
    const lines = text.split("\n").filter((line) => / 401, /.test(line));
    assert.deepEqual(lines.map((line) => line.endsWith(said)), [false, false, ...Array(10).fill(true)], text);
  }
  const { ask } = sandbox;
  sandbox.ask = () => Promise.reject(new NotRunning("it is gone"));
  await assert.rejects(sandbox.expectNoRefusals(), (error) => error instanceof ExpectationFailed && /^12 refused requests\n#1 GET/.test(error.message));
  sandbox.ask = ask;
  await sandbox.delete();
});

test("a seed is a whole number that JavaScript has exactly", async () => {
  for (const seed of [0, Number.MAX_SAFE_INTEGER]) {
    const sandbox = await simulator.sandbox({ seed, scenario: "extends: default\n" });
    assert.equal((await sandbox.record()).seed, seed);
    await sandbox.delete();
  }
  for (const seed of [Number.MAX_SAFE_INTEGER + 1, -1, 0.5, NaN]) {
    await assert.rejects(simulator.sandbox({ seed }), /seed is .*; give a whole number from 0 to 9007199254740991$/);
    await assert.rejects(Simulator.start({ seed }), /seed is .*; give a whole number from 0 to 9007199254740991$/);
  }
});

test("a signed request whose path would not arrive as it is written is refused before it is sent", async () => {
  const sandbox = await simulator.sandbox();
  for (const path of ["v2/balance", "", "http://127.0.0.1:1/v2/balance"]) {
    await assert.rejects(sandbox.call("GET", path), /^RangeError: .* is no path of the reseller API: begin it with \/$/);
  }
  for (const path of ["/v2/é", "/v2/a b", "/v2/balance#now", "/v2/../x", "/v2/\nbalance", "/v2/balance?a=\n1"]) {
    await assert.rejects(sandbox.fetch(path), /^RangeError: .* would not arrive as it is written, but as .*: write it as it is sent, percent-encoded$/, path);
  }
  assert.deepEqual(await sandbox.requests(), []);
  assert.equal((await sandbox.call("GET", "/v2/balance?x=%C3%A9%20+~")).status, 200);
});

test("a method or a path that would not arrive as it is written is refused", async () => {
  const sandbox = await simulator.sandbox();
  for (const method of ["CONNECT", "B AD", "get", ""]) {
    await assert.rejects(sandbox.ask(method, "/clock"), /^RangeError: sandbox\.ask: method is ".*"; (did you mean GET\? G|g)ive one of GET, POST, PUT, PATCH, DELETE$/);
  }
  for (const path of ["/..", "/./clock", "/%2e%2E", "/.\t./clock", "/a\\..", "/..?limit=1", "/clock#now"]) {
    await assert.rejects(sandbox.ask("DELETE", path), /^RangeError: ".*" would not arrive as it is written, but as ".*": write it as it is sent, percent-encoded$/, path);
  }
  await assert.rejects(sandbox.ask("GET", "clock"), /^RangeError: "clock" is no path of the control API: begin it with \/$/);
  for (const name of [".", ".."]) {
    await assert.rejects(simulator.open(name), /^RangeError: "\/sandboxes\/\.*" would not arrive/);
    await assert.rejects(sandbox.inbox(name), /^RangeError: "\/sandboxes\/sb-\w+\/inbox\/\.*" would not arrive/);
  }
  const { has_more: hasMore } = /** @type {any} */ (await sandbox.ask("GET", "/requests?limit=1"));
  const { id } = /** @type {any} */ (await sandbox.ask("GET", ""));
  assert.deepEqual([hasMore, id], [false, sandbox.id]);
  await sandbox.delete();
});

test("a status that the service never writes is refused at once, with those that it writes", async () => {
  const sandbox = await simulator.sandbox();
  const list = "Processing, Succesful, Failed";
  await assert.rejects(sandbox.expectStatus("order-1", "Successful"), new RangeError(`sandbox.expectStatus: status is "Successful"; did you mean Succesful? Give one of Accepted, ${list}, Refund`));
  await assert.rejects(sandbox.waitForCallback({ status: "SUCCESS" }), new RangeError(`sandbox.waitForCallback: status is "SUCCESS"; did you mean Succesful? Give one of ${list}`));
  await assert.rejects(sandbox.expectCallback("order-1", { status: "SUCCESS" }), /did you mean Succesful\?/);
  await assert.rejects(sandbox.expectStatus("order-1", "done"), /^RangeError: sandbox\.expectStatus: status is "done"; give one of/);
  await sandbox.delete();
});

test("a sandbox that does not come to rest says why, and what is pending", async () => {
  const schedule = [{ at: "400d", deposit: { reseller: "RS001", amount: "1.00" } }];
  const sandbox = await simulator.sandbox({ scenario: { extends: "default", schedule } });
  await pay(sandbox, "one");
  await assert.rejects(sandbox.runUntilIdle(), /^ExpectationFailed.*: the sandbox is not idle: .*days.*; the clock is manual and 1 is pending \(deposit [^]*\none: RELOAD [^]* Succesful/);
  await sandbox.delete();
});
