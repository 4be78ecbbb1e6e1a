// The helper for Node's runner: a sandbox for each test, shared by the tests inside it.
import assert from "node:assert/strict";
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

test("a test may delete its sandbox", () => sandbox.delete());

describe("a suite with a scenario of its own", () => {
  const other = useSandbox({ scenario: { resellers: [{ code: "R9", balance: 70 }] }, clock: "x60" });

  it("has its own beside that of the file", async () => {
    await other.expectBalance(70);
    await sandbox.expectBalance(5000);
  });
});
