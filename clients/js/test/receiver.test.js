// The receiver, without a simulator.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { ExpectationFailed, judgeWebhook, Receiver, verifyWebhook } from "reseller-sim";

const secret = "5f".repeat(32);

/** @param {string} body */
function signed(body, timestamp = Math.floor(Date.now() / 1000)) {
  const mac = createHmac("sha256", Buffer.from(secret, "hex")).update(`evt-1.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": "evt-1", "webhook-timestamp": `${timestamp}`, "webhook-signature": `v1,bad v1,${mac}` };
}

test("it answers as told, in order, the last answer again and again", async () => {
  const receiver = (await Receiver.start()).reply(500).reply(201, { delayS: 0.01, body: "yes" });
  const statuses = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await fetch(`${receiver.url}/hook?n=${n}`, { method: "POST" })).status);
  receiver.reply(204);
  statuses.push((await fetch(receiver.url)).status, (await fetch(receiver.url)).status);
  assert.deepEqual(statuses, [500, 201, 201, 204, 204]);
  assert.equal(receiver.received[1]?.path, "/hook?n=1");
  await receiver.close();
});

test("it closes the connection instead of answering", async () => {
  const receiver = (await Receiver.start()).reply({ disconnect: true });
  await assert.rejects(fetch(receiver.url, { method: "POST", body: "{}" }));
  assert.deepEqual(receiver.received[0]?.json(), {});
  await receiver.close();
});

test("it waits for what is to come, and says what came when that is too little", async () => {
  const receiver = await Receiver.start();
  const waiting = receiver.waitFor(2);
  await Promise.all([fetch(receiver.url), fetch(receiver.url)]);
  assert.equal((await waiting).length, 2);
  const more = receiver.waitFor(3, { timeoutS: 0.02 });
  await assert.rejects(more, (error) => error instanceof ExpectationFailed && /2 requests came in 0.02 s/.test(error.message));
  await receiver.close();
});

test("it judges signatures by the secrets that it is told, also of what came before", async () => {
  const receiver = await Receiver.start();
  const body = '{"id": "evt-1"}';
  await fetch(receiver.url, { method: "POST", body, headers: signed(body) });
  await fetch(receiver.url, { method: "POST", body: `${body} `, headers: signed(body) });
  await fetch(receiver.url, { method: "POST", body });
  assert.deepEqual(receiver.received.map(({ verified }) => verified), [false, false, false]);
  receiver.verify("00".repeat(32)).verify(secret);
  assert.deepEqual(receiver.received.map(({ verified }) => verified), [true, false, false]);
  await receiver.close();
});

test("it says why a signature is not genuine", async () => {
  const receiver = await Receiver.start();
  await fetch(receiver.url, { method: "POST", body: "{}", headers: signed("{}") });
  await fetch(receiver.url, { method: "POST", body: "{}" });
  assert.equal(`${receiver.received[0]?.signature}`, "not verified: no secret was given; name it with verify(secret)");
  receiver.verify("00".repeat(32));
  assert.match(receiver.received[0]?.signature.reason ?? "", /^the signature does not match this id/);
  assert.match(receiver.received[1]?.signature.reason ?? "", /^it has no header webhook-signature/);
  receiver.verify(secret);
  assert.equal(`${receiver.received[0]?.signature}`, "verified");
  assert.throws(() => receiver.verify("not hexadecimal"), /give the hexadecimal secret/);
  await receiver.close();
});

test("a body of more than a mebibyte is refused, counted and not kept", async () => {
  const receiver = (await Receiver.start()).reply(201);
  const statuses = [];
  for (const size of [1, 1 << 20, (1 << 20) + 1, 3 << 20]) {
    statuses.push((await fetch(receiver.url, { method: "POST", body: new Uint8Array(size) })).status);
  }
  assert.deepEqual(statuses, [201, 201, 413, 413]);
  assert.deepEqual(receiver.received.map(({ bytes }) => bytes.length), [1, 1 << 20]);
  assert.equal(receiver.leftOut, 2);
  await receiver.close();
});

test("it waits for requests that it has not kept, too", async () => {
  const receiver = await Receiver.start();
  for (const size of [1, 3 << 20, 1]) await fetch(receiver.url, { method: "POST", body: new Uint8Array(size) });
  await receiver.waitFor(3);
  assert.deepEqual([receiver.received.length, receiver.leftOut], [2, 1]);
  await receiver.close();
});

test("it forgets what came and what was planned, and keeps its secrets", async () => {
  const receiver = (await Receiver.start()).reply(500).verify(secret);
  assert.equal((await fetch(receiver.url)).status, 500);
  receiver.clear();
  assert.deepEqual(receiver.received, []);
  assert.equal((await fetch(receiver.url, { method: "POST", body: "{}", headers: signed("{}") })).status, 200);
  assert.deepEqual((await receiver.waitFor(1)).map(({ verified }) => verified), [true]);
  await receiver.close();
});

test("an old webhook is not genuine, nor one of tomorrow", () => {
  const now = Math.floor(Date.now() / 1000);
  const verdicts = [now, now - 200, now - 400, now + 400].map((at) => verifyWebhook(secret, signed("{}", at), "{}"));
  assert.deepEqual(verdicts, [true, true, false, false]);
  assert.match(judgeWebhook(secret, signed("{}", now - 400), "{}").reason, /^webhook-timestamp is 40\d s old; 300 are allowed$/);
  assert.match(judgeWebhook(secret, signed("{}", now + 400), "{}").reason, /^webhook-timestamp is \d+ s ahead; 300 are allowed$/);
  const text = { ...signed("{}"), "webhook-timestamp": "now" };
  assert.equal(judgeWebhook(secret, text, "{}").reason, "webhook-timestamp is not Unix seconds: 'now'");
  assert.equal(judgeWebhook(secret, {}, "{}").reason, "it has no webhook-id, webhook-timestamp, webhook-signature");
});
