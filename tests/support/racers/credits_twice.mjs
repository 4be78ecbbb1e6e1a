// Looks whether a callback was credited already, and notes that it was after a round trip to its database.
import { fail, isFinal, mended, receive, sleep, topup, waitFor } from "./shop.mjs";

const seen = new Set();
let credits = 0;
const credit = async (status) => {
  if (!isFinal(status) || seen.has("order-1")) return;
  if (mended) seen.add("order-1");
  await sleep(50);
  seen.add("order-1");
  credits += 1;
};
await receive(credit);
await topup();
let asked = "";
await waitFor(() => credits > 0 || isFinal(asked), async () => (asked = await topup()));
await sleep(300); // callbacks that are on their way
if (credits > 1) fail(`credited ${credits} times`);
process.exit(0);
