// The helper for Node's runner: a sandbox for each test, shared by the tests inside it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, it, test } from "node:test";
import { useSandbox } from "reseller-sim/node-test";

const sandbox = useSandbox();
assert.throws(() => sandbox.id, /there is a sandbox only while a test or its hooks run/);

/** @type {Set<string>} */
const seen = new Set();

test("there is a sandbox while a test runs", async () => {
  seen.add(sandbox.id);
  await sandbox.deposit(1);
  await sandbox.expectBalance(5001);
});

test("the next test has another one, and tests inside it share it", async (context) => {
  assert.equal(seen.has(sandbox.id), false);
  const { id } = sandbox;
  await context.test("the test inside", () => assert.equal(sandbox.id, id));
  await sandbox.expectBalance(5000);
});

test("Its sandbox is called as the test is: 50% of *this* name, which goes on for longer than an id may be", async () => {
  assert.match(sandbox.id, /^its-sandbox-is-called-as-the-test-is-50-of-this-+[0-9a-f]{8}$/);
});

test("日本", () => assert.match(sandbox.id, /^test-[0-9a-f]{8}$/));

test("tests that run at the same time are told to take a sandbox each", async () => {
  const overlapping = `
    import { describe, it } from "node:test";
    import { setTimeout } from "node:timers/promises";
    import { useSandbox } from "reseller-sim/node-test";
    describe("two at once", { concurrency: true }, () => {
      useSandbox();
      ["one", "another"].forEach((name) => void it(name, () => setTimeout(300)));
    });`;
  writeFileSync("overlapping.js", overlapping);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // it is no test of this file's
  const args = ["--test", "--test-reporter", "tap", "overlapping.js"];
  const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stdout, /tests that run at the same time need a sandbox each: await simulator\.sandbox\(\) in the test/);
});

test("a test that does not await an expectation fails", () => {
  const forgetful = `
    import { test } from "node:test";
    import { useSandbox } from "reseller-sim/node-test";
    const sandbox = useSandbox();
    void test("forgetful", async () => { sandbox.expectStatus("order-1", "Succesful"); sandbox.advance("5s"); });
    void test("careful", async () => { await sandbox.advance("5s"); });`;
  writeFileSync("forgetful.js", forgetful);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // it is no test of this file's
  const { stdout, status } = spawnSync(process.execPath, ["--test", "--test-reporter", "tap", "forgetful.js"], { env, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stdout, /not ok 1 - forgetful/);
  assert.match(stdout, /the test ended before expectStatus and advance: write await before each call/);
  assert.match(stdout, /\nok 2 - careful/);
  assert.doesNotMatch(stdout, /asynchronous activity/);
});

test("a test may delete its sandbox", () => sandbox.delete());

describe("a suite with a scenario of its own", () => {
  const other = useSandbox({ scenario: { resellers: [{ code: "R9", balance: 70 }] }, clock: "x60" });

  it("has its own beside that of the file", async () => {
    await other.expectBalance(70);
    await sandbox.expectBalance(5000);
  });
});
