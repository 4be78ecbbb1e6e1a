// A command that is no simulator, or that does not want to end: the error says what it did, and nothing of it is left.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { NotStarted, Simulator } from "reseller-sim";

const READY = 'console.log(JSON.stringify({ url: "http://127.0.0.1:1/" + process.pid, control_token: null }));';
const FOREVER = "setInterval(() => {}, 1000);";
const NOTED = 'console.error("it is broken " + process.pid);';
const DEAF = 'process.on("SIGTERM", () => {});';
const HELD = 'const held = require("node:child_process").spawn("sleep", ["600"], { stdio: "inherit", detached: true }); held.unref();';

/** A command that runs this code. @param {string} code */
const node = (code) => [process.execPath, "-e", code];

/** Whether the process runs; one that has ended and waits for its parent's reading does not. @param {string | number} pid */
function isRunning(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The message with which it is not started. @param {any} command @param {number} [timeoutS] */
async function refusal(command, timeoutS = 30) {
  const error = await Simulator.start({ command, timeoutS }).then(() => undefined, (/** @type {unknown} */ thrown) => thrown);
  assert.ok(error instanceof NotStarted, String(error));
  assert.ok(error.message.length < 5_000);
  return error.message;
}

const BROKEN = "\n  it is broken (\\d+)$";
/** @type {[string, string, number?][]} */
const STARTS = [
  ["process.exitCode = 7;", `ended at once, with exit code 7${BROKEN}`],
  ['process.kill(process.pid, "SIGKILL");' + FOREVER, `ended at once, by SIGKILL${BROKEN}`],
  ['console.log("hello");' + FOREVER, `printed "hello", which is not how it begins${BROKEN}`],
  ['process.stdout.write("hello"); process.exitCode = 1;', `printed "hello", which is not how it begins${BROKEN}`],
  ['console.log("[1]");' + FOREVER, `printed "\\[1\\]", which is not how it begins${BROKEN}`],
  ['console.log(JSON.stringify({ url: 5 }));' + FOREVER, `which is not how it begins${BROKEN}`],
  ['console.log(JSON.stringify({ url: "ftp://x", control_token: "a" }));' + FOREVER, `which is not how it begins${BROKEN}`],
  ['process.stdout.write("x".repeat(10_000_000));' + FOREVER, `printed "x{200}", which is not how it begins${BROKEN}`],
  [FOREVER, `was not ready in 8 s${BROKEN}`, 8],
  [DEAF + 'console.log("no");' + FOREVER, `printed "no", which is not how it begins${BROKEN}`],
];

test("a command that is no simulator says what it did, and is ended", async () => {
  await Promise.all(
    STARTS.map(async ([code, said, timeoutS]) => {
      const message = await refusal(node(NOTED + code), timeoutS);
      const [, pid = ""] = new RegExp(said).exec(message) ?? [];
      assert.match(message, new RegExp(`^the simulator ${process.execPath} .*${said}`, "s"));
      assert.equal(isRunning(pid), false, message);
    }),
  );
});

test("of its output only the latest is shown", async () => {
  const lines = (await refusal(node("for (let n = 0; n < 5000; n += 1) console.error(`line ${n}`); process.exitCode = 1;"))).split("\n");
  assert.deepEqual([lines[1], lines.at(-1), lines.length], ["  line 4980", "  line 4999", 21]);
});

test("a command that cannot be run says so", async () => {
  assert.match(await refusal("no-such-program"), /^no-such-program is not found: the command comes with /);
  assert.match(await refusal("/"), /^\/ cannot be run \(.*EACCES\): the command comes with /);
  for (const command of [5, {}, ["node", 5]]) {
    const call = Simulator.start({ command: /** @type {any} */ (command) });
    await assert.rejects(call, /^TypeError: Simulator\.start: command is .*; give a text or a list of texts that begins with a program$/);
  }
});

test("one whose output another process holds is not waited for until that ends", async () => {
  const simulator = await Simulator.start({ command: node(HELD + READY.replace("process.pid", 'process.pid + "/" + held.pid') + FOREVER) });
  const [pid = "", holder = ""] = simulator.url.split("/").slice(-2);
  assert.equal(isRunning(pid), true);
  await simulator.close();
  await simulator.close();
  assert.deepEqual([pid, holder].map(isRunning), [false, true]);
  process.kill(Number(holder));
});

test("one that ignores its end is killed", async () => {
  const simulator = await Simulator.start({ command: node(DEAF + READY + FOREVER) });
  const pid = simulator.url.split("/").at(-1) ?? "";
  assert.equal(isRunning(pid), true);
  await simulator.close();
  assert.equal(isRunning(pid), false);
});

test("two that start at the same time end each by itself", async () => {
  const [first, second] = await Promise.all([Simulator.start(), Simulator.start()]);
  assert.notEqual(first.url, second.url);
  await first.close();
  assert.equal((await second.health()).status, "ok");
  await second.close();
});

test("nothing is left by a process that a signal ends, catchable or not", async () => {
  // Each child holds a connection to us, and the system closes it when the child has ended.
  const watcher = createServer().listen(0, "127.0.0.1");
  await once(watcher, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (watcher.address());
  const connected = `require("node:net").connect(${port}, "127.0.0.1").on("connect", () => { ${READY} });`;
  const child = JSON.stringify(node(`process.stdin.on("end", () => process.exit()).resume(); ${connected} ${FOREVER}`));
  const code = `import { Simulator } from "reseller-sim"; const command = ${child};
    const started = await Promise.all([1, 2].map(() => Simulator.start({ command })));
    console.log(started.map(({ url }) => url.split("/").at(-1)).join(" "));`;
  for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])) {
    /** @type {Promise<unknown>[]} */
    const ends = [];
    watcher.removeAllListeners("connection").on("connection", (socket) => {
      ends.push(new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve)));
      socket.resume();
    });
    const parent = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    const pids = String((await once(parent.stdout, "data"))[0]).trim().split(" ");
    assert.deepEqual(pids.map(isRunning), [true, true]);
    parent.kill(signal);
    assert.equal((await once(parent, "exit"))[1], signal);
    assert.equal(ends.length, 2);
    await Promise.all(ends);
  }
  watcher.close();
});
