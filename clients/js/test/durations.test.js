// Lengths of time that are numbers; texts are read as the project's other readers do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulator } from "reseller-sim";
import { seconds } from "../node_modules/reseller-sim/dist/arguments.js";

test("a number is seconds, from 0 to 3660 days", () => {
  assert.deepEqual([0, 0.5, 90, 316_224_000].map(seconds), [0, 0.5, 90, 316_224_000]);
  assert.throws(() => seconds(NaN), /^RangeError: NaN is no duration such as /);
  for (const below of [-1, -0.001, -Infinity]) assert.throws(() => seconds(below), /^RangeError: .* is below 0: time does not go back$/);
  for (const long of [316_224_001, 1e30, Infinity]) assert.throws(() => seconds(long), /^RangeError: .* is longer than 3660 days$/);
});

test("a wait for a start without an end is refused before anything starts", async () => {
  for (const timeoutS of [NaN, -1, 0, Infinity]) {
    await assert.rejects(Simulator.start({ timeoutS, command: ["no-such-program"] }), /^RangeError: Simulator\.start: timeoutS is .*; give seconds above 0, 86400 at most$/);
  }
});
