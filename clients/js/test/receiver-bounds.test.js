// A sender that means harm: the receiver keeps its bounds, still receives, closes at once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { Receiver } from "reseller-sim";

const POST = "POST /paid HTTP/1.1\r\nHost: x\r\n";
const MESSAGE = `${POST}Content-Length: 2\r\n\r\n{}`;

/** @param {Receiver} receiver */
async function connected(receiver) {
  const socket = connect(Number(new URL(receiver.url).port), "127.0.0.1");
  socket.on("error", () => undefined); // it may be closed while we send
  await once(socket, "connect");
  return socket;
}

/** Its end, by whoever. @param {import("node:net").Socket} socket @returns {Promise<void>} */
const ended = (socket) => new Promise((resolve) => socket.once("close", () => resolve()));

/** All that comes until the connection ends; nothing follows what was sent.
 * @param {Receiver} receiver @param {string | Uint8Array} sent */
async function answered(receiver, sent) {
  const socket = await connected(receiver);
  let came = "";
  socket.setEncoding("latin1").on("data", (text) => (came += text));
  const closed = ended(socket);
  socket.end(sent);
  await closed;
  return came;
}

/** It still receives, and closes at once. @param {Receiver} receiver */
async function assertWell(receiver) {
  const before = receiver.received.length;
  assert.match(await answered(receiver, MESSAGE), /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(receiver.received.length, before + 1);
  await receiver.close();
  await receiver.close();
}

/** @type {[string, string | Uint8Array, RegExp][]} */
const REFUSED = [
  ["bytes that are no text", Uint8Array.from([0, 255, 254, 13, 10, 13, 10]), / 400 /],
  ["another protocol", "POST /paid HTTP/9.x\r\n\r\n", / 400 /],
  ["a long address", `POST /${"a".repeat(70_000)} HTTP/1.1\r\n\r\n`, / 431 /],
  ["a long header", `${POST}X-Long: ${"a".repeat(70_000)}\r\n\r\n`, / 431 /],
  ["a flood of headers", `${POST}${"X-A: y\r\n".repeat(20_000)}\r\n`, / 431 /],
  ["a length below zero", `${POST}Content-Length: -1\r\n\r\n`, / 400 /],
  ["a length of thousands of digits", `${POST}Content-Length: 9${"9".repeat(5000)}\r\n\r\n`, / 400 /],
  ["a length that is no number", `${POST}Content-Length: ٣\r\n\r\nabc`, / 400 /],
  ["two lengths", `${POST}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`, / 400 /],
  ["a length and chunks", `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, / 400 /],
  ["chunks that are none", `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`, / 400 |^$/],
  ["a header without a colon", `${POST}garbage no colon\r\n\r\n`, / 400 /],
  ["a method that is none", "G\x01T /paid HTTP/1.1\r\nHost: x\r\n\r\n", / 400 /],
  ["a body that ends too early", `${POST}Content-Length: 9\r\n\r\n{}`, /^$| 400 /],
  ["a tunnel", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", /^$/],
  ["an expectation that nobody meets", `${POST}Expect: wonders\r\n\r\n`, / 417 /],
];

test("what is no message is refused and not kept", async () => {
  const receiver = await Receiver.start();
  for (const [what, sent, status] of REFUSED) {
    assert.match((await answered(receiver, sent)).split("\r\n")[0] ?? "", status, what);
    assert.deepEqual(receiver.received, [], what);
  }
  await assertWell(receiver);
});

test("an address that is no URL and a wish to upgrade are received as they came", async () => {
  const receiver = await Receiver.start();
  assert.match(await answered(receiver, "POST http://[x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), / 200 OK/);
  assert.equal(receiver.received[0]?.path, "http://[x");
  assert.match(await answered(receiver, `${POST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`), / 200 OK/);
  await assertWell(receiver);
});

test("a body of 20 mebibytes is answered 413, counted and not kept", async () => {
  const receiver = await Receiver.start();
  const sent = `${POST}Content-Length: ${20 << 20}\r\n\r\n${"a".repeat(20 << 20)}`;
  assert.match(await answered(receiver, sent), /^HTTP\/1\.1 413 /);
  assert.deepEqual([receiver.received, receiver.leftOut], [[], 1]);
  await assertWell(receiver);
});

test("of 256 connections the next one is closed, and those that went away make room", async () => {
  const receiver = await Receiver.start();
  const sockets = [];
  for (let n = 0; n < 256; n += 1) sockets.push(await connected(receiver));
  for (const socket of sockets) socket.write("POST / HT");
  const next = await connected(receiver);
  next.resume();
  await ended(next);
  assert.equal(sockets.filter((socket) => socket.destroyed).length, 0);
  const gone = sockets.map((socket) => ended(socket));
  for (const socket of sockets) socket.destroy();
  await Promise.all(gone);
  // Its side of the connections ends a little later than ours.
  for (let tries = 0; (await answered(receiver, MESSAGE)) === ""; tries += 1) assert.ok(tries < 1_000);
  await assertWell(receiver);
});

test("closing ends connections that still send, wait for a delay or say nothing", async () => {
  const receiver = (await Receiver.start()).reply(200, { delayS: 3_600 });
  const sockets = [];
  for (const sent of ["", "POST / HT", `${POST}Content-Length: 9\r\n\r\n{}`, MESSAGE]) {
    const socket = await connected(receiver);
    socket.resume().write(sent);
    sockets.push(ended(socket));
  }
  await receiver.waitFor(1);
  await receiver.close(); // the test would wait an hour for the delay, and for ever for the others
  await Promise.all(sockets);
});

test("a reply that cannot be answered is refused where it is set", async () => {
  const receiver = await Receiver.start();
  for (const status of [0, 99, 100, 101, 199, 600, 1000, -1, 200.5, NaN, Infinity, "x", "200", true, null]) {
    assert.throws(() => receiver.reply(/** @type {any} */ (status)), /^(Range|Type)Error: receiver\.reply: status is .*; give a number from 200 to 599/, `${status}`);
    assert.throws(() => receiver.reply({ status: /** @type {any} */ (status) }), /; give a number from 200 to 599$/);
  }
  for (const delayS of [NaN, Infinity, -1, -0.001, 86_401, 1e20, "1", null]) {
    assert.throws(() => receiver.reply(200, { delayS: /** @type {any} */ (delayS) }), /delayS is .*; give seconds from 0 to 86400$/);
  }
  for (const contentType of ["text/plain\r\nX-A: b", "é", "\0", 5]) {
    assert.throws(() => receiver.reply(200, { contentType: /** @type {any} */ (contentType) }), /contentType is .*; give printable ASCII/);
  }
  for (const body of [5, {}, null, [1]]) {
    assert.throws(() => receiver.reply(200, { body: /** @type {any} */ (body) }), /body is .*; give a text or bytes$/);
  }
  assert.throws(() => receiver.reply({ disconnect: /** @type {any} */ ("no") }), /disconnect is "no"; give true or false/);
  await assertWell(receiver);
});

test("a reply is what it was when it was set, with its bytes and their type", async () => {
  const behaviour = { status: 202, body: new TextEncoder().encode("<a/>"), contentType: "text/xml" };
  const receiver = (await Receiver.start()).reply(behaviour);
  behaviour.status = 0;
  const answer = await fetch(receiver.url);
  assert.deepEqual([answer.status, answer.headers.get("content-type"), await answer.text()], [202, "text/xml", "<a/>"]);
  receiver.clear();
  await assertWell(receiver);
});

test("a wait that has no end, or for what is no count, is refused", async () => {
  const receiver = await Receiver.start();
  for (const timeoutS of [NaN, Infinity, -1, 86_401]) {
    await assert.rejects(receiver.waitFor(1, { timeoutS }), /timeoutS is .*; give seconds from 0 to 86400$/);
  }
  for (const count of [NaN, -1, 0.5]) await assert.rejects(receiver.waitFor(count), /count is .*; give a count: 0, 1, 2, …$/);
  await assertWell(receiver);
});
