// A server that is none of ours, stalls or never ends: a call ends in an error of ours, which says what is wrong where.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { Control } from "../node_modules/reseller-sim/dist/control.js";
import { NotRunning, Sandbox, Simulator, SimulatorError, WrongAnswer } from "reseller-sim";

const record = { id: "told", scenario: "default", seed: 7, url: "http://127.0.0.1:1/s/told", resellers: [{ code: "RS001", balance: 5 }] };
/** What the server answers. @type {(url: string) => { status?: number, text: string }} */
let told = () => ({ text: JSON.stringify(record) });
const server = createHttpServer((request, response) => {
  const { status = 200, text } = told(request.url ?? "");
  response.writeHead(status).end(text);
});
/** @type {Simulator} */
let simulator;
/** @type {Sandbox} */
let own;
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  simulator = new Simulator(`http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`);
  own = await simulator.open("told");
});
after(() => void server.close());

test("an answer that is not the control API's is named with its address", async () => {
  for (const text of ["{", "[]", "1", "null", "<html>", '{"a": NaN}']) {
    told = () => ({ text });
    await assert.rejects(own.record(), (error) => error instanceof WrongAnswer && /^GET http:\/\/127.* was not answered as by a simulator/.test(error.message), text);
  }
  told = () => ({ status: 302, text: "{}" });
  await assert.rejects(own.record(), WrongAnswer);
  told = () => ({ text: "{}" });
  for (const call of [() => simulator.health(), () => simulator.sandbox(), () => simulator.open("told"), () => own.transactions()]) {
    await assert.rejects(call, WrongAnswer, `${call}`);
  }
});

test("a list that never ends is left: the same page, empty pages, too many pages", async () => {
  let count = 0;
  const pages = [
    [() => ({ requests: [{}], has_more: true, cursor: 5 }), /it has more, but the same page again$/],
    [() => ({ requests: [{}], has_more: true }), /it has more, but the same page again$/],
    [() => ({ requests: [], has_more: true, cursor: (count += 1) }), /it has more, but the same page again$/],
  ];
  for (const [page, said] of /** @type {[() => object, RegExp][]} */ (pages)) {
    told = () => ({ text: JSON.stringify(page()) });
    await assert.rejects(own.requests(), (error) => error instanceof WrongAnswer && said.test(error.message));
  }
});

test("a refusal that is no object, or has other members, is a refusal still, in printable text", async () => {
  for (const text of ["null", "[]", "1", '{"error": {}, "message": [], "path": 5, "problems": [null, [], {"message": 1, "line": "x"}]}', '{"message": "a\\u001b[2J"}']) {
    told = () => ({ status: 400, text });
    await assert.rejects(own.record(), (error) => error instanceof SimulatorError && error.status === 400 && !error.message.includes("\u001b"));
  }
});

test("a number that JSON has not is refused before it is sent", async () => {
  await assert.rejects(own.ask("POST", "/x", { json: { amount: NaN } }), /^RangeError: POST .*: amount is NaN, and JSON has no such number$/);
});

/** A request of the control API to another address. @param {string} url @param {number} timeoutS */
async function elsewhere(url, timeoutS) {
  return new Control(url, undefined).ask("GET", "/health", { timeoutS });
}

/** What a call says when a server sends this, piece by piece as often as it is read, or nothing at all.
 * @param {string | Uint8Array} head @param {string | Uint8Array} piece @param {number} everyMs */
async function saidOf(head, piece = "", everyMs = 0) {
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).resume();
    socket.write(head);
    const again = () => void (socket.destroyed || socket.write(piece, () => void setTimeout(again, everyMs)));
    if (piece.length > 0) again();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  const timeoutS = everyMs > 0 || head === "" ? 0.3 : 30;
  try {
    return await elsewhere(url, timeoutS).then(String, (/** @type {Error} */ error) => error);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test("a server that stalls or drips is left when the time is over", async () => {
  for (const error of [await saidOf(""), await saidOf("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", " ", 20)]) {
    assert.ok(error instanceof NotRunning && !(error instanceof WrongAnswer));
    assert.match(error.message, /^no simulator answers at .* \(no complete answer came in 0\.3 s\)/);
  }
});

test("an answer of more than 64 mebibytes is left, and what is no HTTP is named", async () => {
  const piece = Buffer.from(`100000\r\n${" ".repeat(1 << 20)}\r\n`);
  const long = await saidOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", piece);
  assert.ok(long instanceof WrongAnswer);
  assert.match(long.message, /: the response has more than 67108864 bytes$/);
  assert.ok((await saidOf("SSH-2.0-OpenSSH_9.9\r\n\r\n")) instanceof WrongAnswer);
});
