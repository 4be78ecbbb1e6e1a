// A server that lies, stalls or never ends: a call ends in a result or in an error of ours, which says what is wrong where.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { ExpectationFailed, NotRunning, Sandbox, Simulator, SimulatorError, WrongAnswer } from "reseller-sim";

/** @typedef {{ status: number, text: string }} Told */
/** @typedef {(simulator: Simulator, sandbox: Sandbox) => unknown} Call */

const SEEDS = Number(process.env["LIES_OF_A_CALL"] ?? 60);
const OURS = [SimulatorError, NotRunning, ExpectationFailed];
const rule = { when: { path: "/v2/x" }, then: { status: 500 } };

/** @type {Record<string, Call>} */
const CALLS = {
  health: (simulator) => simulator.health(),
  sandboxes: (simulator) => simulator.sandboxes(),
  sandbox: async (simulator) => used(await simulator.sandbox()),
  open: async (simulator) => used(await simulator.open("told")),
  now: async (_, own) => (await own.now()).toISOString(),
  advance: (_, own) => own.advance("1s"),
  runUntilIdle: (_, own) => own.runUntilIdle(),
  rule: async (_, own) => (await own.rule("faults", rule)).remove(),
  fault: (_, own) => own.fault(rule),
  deposit: (_, own) => own.deposit(1),
  replies: (_, own) => own.replies("callbacks", [{ status: 200 }]),
  reset: (_, own) => own.reset(),
  mark: (_, own) => own.mark("here"),
  rewind: (_, own) => own.rewind({ n: 0 }),
  fork: async (_, own) => used(await own.fork({ n: 0 })),
  delete: (_, own) => own.delete(),
  record: (_, own) => own.record(),
  balance: (_, own) => own.balance(),
  transaction: (_, own) => own.transaction("order-1"),
  transactions: (_, own) => own.transactions(),
  story: async (_, own) => `${await own.story("order-1")}`,
  requests: (_, own) => own.requests(),
  refused: (_, own) => own.refused(),
  callbacks: (_, own) => own.callbacks(),
  audit: (_, own) => own.audit(),
  inbox: async (_, own) => (await own.inbox()).map((one) => [one.data, one.json(), one.verify("00").reason, new Date(one.at).toISOString()]),
  waitForCallback: (_, own) => own.waitForCallback({ refid: "order-9", timeoutS: 0 }),
  expectStatus: (_, own) => own.expectStatus("order-1", "Failed"),
  expectBalance: (_, own) => own.expectBalance(1),
  expectCallback: (_, own) => own.expectCallback("order-1", { status: "Failed" }),
  expectNoRefusals: (_, own) => own.expectNoRefusals(),
  expectCleanAudit: (_, own) => own.expectCleanAudit(),
};
const UNREAD = ["replies", "reset", "rewind", "delete"]; // whose answer nobody reads
const NO_CALLS = ["constructor", "ask", "call", "fetch", "close"]; // what they answer is as it came, or they ask nothing

const honest = globalThis.fetch;
/** @type {Record<string, Map<string, Told>>} */
const told = {};
const nobody = new Simulator({ url: "http://127.0.0.1:1" });
/** @type {Sandbox} */
let own;

/** Everything that is known of a sandbox without asking. @param {Sandbox} sandbox */
const used = ({ id, environment, controlUrl, resellers }) => JSON.stringify([id, environment, controlUrl, resellers]);

/** @param {Call} call @param {Simulator} simulator @param {Sandbox} sandbox */
async function outcome(call, simulator, sandbox) {
  try {
    return await call(simulator, sandbox);
  } catch (error) {
    const isUnknown = error instanceof RangeError && /has no reseller/.test(error.message); // as documented
    if (isUnknown || OURS.some((kind) => error instanceof kind)) return error;
    throw error;
  }
}

/** @param {unknown} url @param {RequestInit} [init] */
const address = (url, init) => `${init?.method ?? "GET"} ${new URL(String(url)).pathname}`;

/** @param {Told} answer */
const response = ({ status, text }) => new Response(status === 204 ? null : text, { status });

before(async () => {
  const simulator = await Simulator.start({ seed: 7 });
  for (const [name, call] of Object.entries(CALLS)) {
    const sandbox = (own = await simulator.sandbox({ id: "told" }));
    const payment = { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 };
    for (const more of [{}, { amount: 20 }, { refid: "order-2", amount: 7 }]) await sandbox.call("POST", "/v2/topup", { ...payment, ...more });
    await sandbox.runUntilIdle();
    const remembered = (told[name] = new Map());
    globalThis.fetch = async (url, init) => {
      const answer = await honest(url, init);
      const known = { status: answer.status, text: await answer.text() };
      if (!remembered.has(address(url, init))) remembered.set(address(url, init), known);
      return response(known);
    };
    await outcome(call, simulator, sandbox);
    globalThis.fetch = honest;
    await sandbox[Symbol.asyncDispose]();
  }
  await simulator.close();
});
after(() => void (globalThis.fetch = honest));

/** Numbers below 1 that are the same for each seed (mulberry32). @param {number} seed */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {any} value @returns {[any, string][]} */
function placesOf(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => [/** @type {[any, string]} */ ([value, key]), ...placesOf(value[key])]);
}

/** The answer with one place of its JSON changed, or something else. @param {Told} answer @param {() => number} random */
function lying({ status, text }, random) {
  /** @template T @param {T[]} all @returns {T} */
  const choice = (all) => /** @type {T} */ (all[Math.floor(random() * all.length)]);
  const places = text ? placesOf(JSON.parse(text)) : [];
  if (places.length === 0 || random() < 0.1) {
    return { status: choice([200, 302, 400, 503]), text: choice(["{", "[]", "1", "null", '{"a": NaN}', "", "[".repeat(100_000), '{"problems": [null, 1]}']) };
  }
  const value = JSON.parse(text);
  const [holder, key] = choice(placesOf(value));
  const was = holder[key];
  if (random() < 0.3) delete holder[key];
  else {
    /** @type {unknown[]} */
    const lies = [null, true, 0, -1, 2 ** 70, 1e308, "", "x y", "\ud800", "\n", "é", [], [[]], {}, { toString: 1, valueOf: 1 }, [was], { x: was }, `${was}`];
    holder[key] = choice(lies);
  }
  return { status, text: JSON.stringify(value) };
}

test("every call is tried", () => {
  const methods = [Simulator, Sandbox].flatMap(({ prototype }) => Object.entries(Object.getOwnPropertyDescriptors(prototype)));
  const calls = methods.filter(([, { value }]) => typeof value === "function").map(([name]) => name);
  assert.deepEqual(calls.filter((name) => !NO_CALLS.includes(name) && !(name in CALLS)), []);
});

test("a lie ends in a result or an error of ours", async () => {
  for (const [number, [name, call]] of Object.entries(CALLS).entries()) {
    const known = told[name] ?? new Map();
    let wrong = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const random = randomOf(number * SEEDS + seed);
      const lied = [...known.keys()][Math.floor(random() * known.size)] ?? "";
      const lie = lying(known.get(lied), random);
      let asked = 0;
      globalThis.fetch = async (url, init) => {
        asked += 1;
        assert.ok(asked < 10_000, `${name}, seed ${seed}: it ends`);
        const at = address(url, init);
        return response(at === lied ? lie : known.get(at) ?? { status: 404, text: '{"error": "unknown", "message": "there is none"}' });
      };
      try {
        if ((await outcome(call, nobody, own)) instanceof WrongAnswer) wrong += 1;
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${lied}: ${lie.text.slice(0, 300)}`, { cause: error });
      }
    }
    assert.ok(wrong > 0 || UNREAD.includes(name), `${name}: lies are noticed where anything is read`);
  }
  globalThis.fetch = honest;
});

/** @param {string} name @param {string} at @param {(value: any) => void} change @param {string} said */
async function assertSaid(name, at, change, said) {
  const known = new Map(told[name]);
  const path = [...known.keys()].find((one) => one === at || (at.endsWith("*") && one.startsWith(at.slice(0, -1)))) ?? "";
  const value = JSON.parse(known.get(path)?.text ?? "");
  change(value);
  known.set(path, { status: 200, text: JSON.stringify(value) });
  globalThis.fetch = async (url, init) => response(/** @type {Told} */ (known.get(address(url, init))));
  const [method, where] = path.split(" ");
  const text = `${method} ${new URL(own.controlUrl).origin}${where} was not answered as by a simulator of this version: ${said}`;
  await assert.rejects(async () => /** @type {Call} */ (CALLS[name])(nobody, own), (error) => {
    assert.ok(error instanceof WrongAnswer && error instanceof NotRunning);
    assert.equal(error.message, text);
    return true;
  }).finally(() => (globalThis.fetch = honest));
}

test("a sandbox whose answer is not understood is deleted again", async () => {
  const known = told["sandbox"]?.get("POST /_sim/sandboxes");
  for (const id of ["told", undefined]) {
    /** @type {string[]} */
    const asked = [];
    globalThis.fetch = async (url, init) => {
      asked.push(address(url, init));
      return asked.length > 1 ? new Response(null, { status: 204 }) : response({ status: 201, text: JSON.stringify({ ...JSON.parse(known?.text ?? ""), id, seed: 2 ** 70 }) });
    };
    const said = new RegExp(`not answered as by a simulator of this version: its ${id ? "seed is not a seed from 0 to 2\\^63 - 1" : "id is not an id of .*"}$`);
    await assert.rejects(async () => nobody.sandbox(), (error) => error instanceof WrongAnswer && said.test(error.message));
    assert.deepEqual(asked, ["POST /_sim/sandboxes", ...(id ? ["DELETE /_sim/sandboxes/told"] : [])]);
  }
  globalThis.fetch = honest;
});

test("the error says which field of which address, and what was expected", async () => {
  const base = "GET /_sim/sandboxes/told";
  await assertSaid("story", `${base}/transactions/*`, (value) => delete value.statuses[1].status_code, "its statuses[1].status_code is not a whole number");
  await assertSaid("story", `${base}/transactions/*`, (value) => (value.callbacks[0].attempts[0].at = "now"), "its callbacks[0].attempts[0].at is not a time with its UTC offset");
  await assertSaid("callbacks", `${base}/callbacks`, (value) => delete value.callbacks[1].url, "its callbacks[1].url is not a text");
  await assertSaid("refused", `${base}/requests`, (value) => delete value.requests, "its requests is not a list");
  await assertSaid("audit", `${base}/audit`, (value) => (value.obligations[2].findings = {}), "its obligations[2].findings is not a list");
  await assertSaid("balance", base, (value) => (value.resellers[0].balance = "1"), "its resellers[0].balance is not a number");
});

test("a list that never ends is left: the same page, empty pages, too many pages", async () => {
  const first = JSON.parse(told["requests"]?.get("GET /_sim/sandboxes/told/requests")?.text ?? "");
  let count = 0;
  const pages = [
    [() => ({ ...first, has_more: true, cursor: 5 }), /it has more, but the same page again$/],
    [() => ({ ...first, has_more: true, cursor: undefined }), /it has more, but the same page again$/],
    [() => ({ requests: [], has_more: true, cursor: (count += 1) }), /it has more, but the same page again$/],
    [() => ({ requests: [first.requests[0]], has_more: true, cursor: `${(count += 1)}` }), /it has more than 10000 pages$/],
  ];
  for (const [page, said] of /** @type {[() => object, RegExp][]} */ (pages)) {
    globalThis.fetch = async () => Response.json(page());
    await assert.rejects(own.requests(), (error) => error instanceof WrongAnswer && said.test(error.message));
  }
  globalThis.fetch = honest;
});

test("a refusal that is no object, or has other members, is a refusal still, in printable text", async () => {
  for (const text of ["null", "[]", "1", '{"error": {}, "message": [], "path": 5, "problems": [null, [], {"message": 1, "line": "x"}]}', '{"message": "a\\u001b[2J"}']) {
    globalThis.fetch = async () => new Response(text, { status: 400 });
    await assert.rejects(own.record(), (error) => error instanceof SimulatorError && error.status === 400 && !error.message.includes("\u001b"));
  }
  globalThis.fetch = honest;
});

test("a number that JSON has not is refused before it is sent", async () => {
  await assert.rejects(own.deposit(NaN), /^RangeError: JSON has no number NaN, as amount has$/);
});

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
  globalThis.fetch = async () => response(/** @type {Told} */ (told["open"]?.get("GET /_sim/sandboxes/told")));
  const sandbox = await new Simulator({ url }).open("told").finally(() => (globalThis.fetch = honest));
  try {
    return await sandbox.ask("GET", "", { timeoutS: everyMs > 0 || head === "" ? 0.3 : 30 }).then(String, (/** @type {Error} */ error) => error);
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
