// Lengths of time that are numbers; texts are read as the project's other readers do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulator } from "reseller-sim";
import { seconds } from "../node_modules/reseller-sim/dist/arguments.js";

test("a number is seconds, from 0 to 3660 days", () => {
  assert.deepEqual([0, 0.5, 90, 316_224_000].map(seconds), [0, 0.5, 90, 316_224_000]);
  for (const wrong of [NaN, -1, -0.001, -Infinity, 316_224_001, 1e30, Infinity]) {
    assert.throws(() => seconds(wrong), /^RangeError: .* is no duration such as .*, from 0 to 3660 days$/);
  }
});

test("a wait for a start without an end is refused before anything starts", async () => {
  for (const timeoutS of [NaN, -1, 0, Infinity]) {
    await assert.rejects(Simulator.start({ timeoutS, command: ["no-such-program"] }), /^RangeError: Simulator\.start: timeoutS is .*; give seconds above 0, 86400 at most$/);
  }
});
