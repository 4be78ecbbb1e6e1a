// A server that is no simulator, stalls or never ends: a call ends in an error of ours, which says what is wrong where.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { test } from "node:test";
import { NotRunning, Simulator, WrongAnswer } from "reseller-sim";
import { Control } from "../node_modules/reseller-sim/dist/control.js";

/** What a call says when a server sends this, piece by piece as often as it is read, and then ends the connection or is silent.
 * @param {string} head @param {{ piece?: string | Uint8Array, everyMs?: number, isSilent?: boolean }} [more] @returns {Promise<Error>} */
async function errorOf(head, { piece = "", everyMs = 0, isSilent = false } = {}) {
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).resume();
    socket.write(head);
    const again = () => void (socket.destroyed || socket.write(piece, () => void setTimeout(again, everyMs)));
    if (piece.length > 0) again();
    else if (!isSilent) socket.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const timeoutS = isSilent || everyMs > 0 ? 0.3 : 30;
  try {
    return await new Control(`http://127.0.0.1:${port}`).ask("GET", "/health", { timeoutS }).then(assert.fail, (error) => error);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test("an answer that is not the control API's is named with its address", async () => {
  for (const [status, text] of [["200 OK", "{"], ["200 OK", "[]"], ["200 OK", "<html>"], ["302 Found", "moved"], ["404 Not Found", "nothing here"], ["404 Not Found", '{"detail":"Not Found"}']]) {
    const error = await errorOf(`HTTP/1.1 ${status}\r\n\r\n${text}`);
    assert.ok(error instanceof WrongAnswer, `${error}`);
    assert.match(error.message, /^GET http:\/\/127\.\S+\/health was not answered as by a simulator of this version: \d{3} "/);
    assert.ok(error.message.endsWith(JSON.stringify(text)), error.message);
  }
  const locked = '{"error":"control_token_required","message":"the control API needs a token: send Authorization: Bearer"}';
  assert.match((await errorOf(`HTTP/1.1 401 Unauthorized\r\n\r\n${locked}`)).message, /^the control API needs a token; give .* as `token`, or without a URL in /);
  assert.match((await errorOf("SSH-2.0-OpenSSH_9.9\r\n\r\n")).message, /: it is not HTTP$/);
});

test("an answer that describes no sandbox is another server's", async () => {
  const server = createHttpServer((_, response) => response.end('{"id": "default"}')).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await assert.rejects(new Simulator(`http://127.0.0.1:${port}`).open("default"), /^WrongAnswer: GET \S+\/default was not .*: the answer describes no sandbox$/);
  server.close();
});

test("a server that stalls, drips or ends too early is left", async () => {
  for (const error of [await errorOf("", { isSilent: true }), await errorOf("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", { piece: " ", everyMs: 20 })]) {
    assert.ok(error instanceof NotRunning && !(error instanceof WrongAnswer));
    assert.match(error.message, /^no simulator answers at .* \(no complete answer came in 0\.3 s\)/);
  }
  assert.match((await errorOf("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")).message, /closed after 2 of 9 bytes/);
  assert.match((await errorOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}")).message, /closed within the body/);
  assert.match((await errorOf("")).message, /closed without an answer/);
});

test("https against a server of http is named", async () => {
  const simulator = await Simulator.start();
  const wrong = new Simulator(simulator.url.replace("http:", "https:"));
  await assert.rejects(wrong.health(), /^NotRunning: https:\S+ cannot be used: it does not speak https: begin its URL with http:\/\/$/);
  await simulator.close();
});
