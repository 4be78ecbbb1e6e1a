// A day of a shop, against the simulator with scenario.yaml. Exit code 0 when everything is as it should be.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Client } from "./client.js";
import { sen, text } from "./money.js";
import { Receiver } from "./receiver.js";
import { reconcile } from "./reconcile.js";
import { Order, Shop } from "./shop.js";

const SPEED = 5; // of the clock in scenario.yaml; yours is 1
const PATIENCE_MS = 20_000;
const EXPECTED = ["Succesful", "Succesful", "Failed", "Succesful", "refused", "Succesful"];
const { RESELLER_BASE_URL, RESELLER_API_KEY, RESELLER_API_SECRET, RESELLER_SIM_URL } = process.env;

/** Pay, receive, reconcile, and let the simulator try to fool the receiver. */
async function main(client, shop, receiver) {
  const address = await receiver.listen();

  // The secret is shown when the webhook is created and by a rotation: yours is stored then.
  let webhook = await client.accepted("PUT", "/v2/balance-webhook", {}, { url: `${address}/webhooks` });
  if (!webhook.webhook_secret) webhook = await client.accepted("POST", "/v2/balance-webhook/rotate-secret");
  receiver.secret = webhook.webhook_secret;

  const setCallback = (method) =>
    client.accepted("POST", "/v2/callback-url", { url: `${address}/callbacks`, method });
  await setCallback("POST");
  for (const [product, account, amount] of [
    ["RELOAD", "0123456789", "10.00"],
    ["ELECTRIC", "210012345678", "100.00"],
    ["RELOAD", "0198765432", "20.00"],
    ["RELOAD", "0111111111", "5.00"],
    ["RELOAD", "0123456789", "7.00"],
  ]) {
    await shop.place(new Order(randomUUID(), product, account, sen(amount)));
  }
  await shop.settle(PATIENCE_MS);
  await setCallback("GET");
  await shop.place(new Order(randomUUID(), "DATA", "0123456789", sen("10.00"), { subproduct_code: "D10W" }));
  await shop.settle(PATIENCE_MS);
  const orders = [...shop.orders.values()];
  for (const order of orders) {
    const more = order.status === "Succesful" ? `cost ${text(order.cost)}` : order.remarks;
    console.log(`${order.product} ${order.account} ${text(order.amount)}: ${order.status}, ${more}`);
  }

  const credited = once(shop.events, "webhook", { signal: AbortSignal.timeout(PATIENCE_MS) });
  await simulator("resellers/RS001/deposits", { amount: "250.00" });
  const [event] = await credited;
  const deposit = sen(event.data.amount);
  console.log(`deposit of ${text(deposit)}: its webhook is genuine`);

  const result = await reconcile(client, orders, [deposit], `${day(-1)} - ${day(1)}`, 2);
  const { payments, entries, differences } = result;
  console.log(`reconciled ${payments} payments and ${entries} entries: ${differences.length} differences`);
  for (const line of differences) console.log(`difference: ${line}`);

  const { probes } = await simulator("probes", { reseller: "RS001" });
  const wrong = probes.filter((one) => one.verdict !== "ok").map((one) => one.probe);
  console.log(`forged, stale and repeated messages: ${wrong.join(", ") || "all answered rightly"}`);
  const isExpected = orders.every((order, place) => order.status === EXPECTED[place]);
  return isExpected && differences.length === 0 && wrong.length === 0 ? 0 : 1;
}

/** A day in GMT+8, so many days after today. */
function day(after) {
  return new Date(Date.now() + 8 * 3_600_000 + after * 86_400_000).toISOString().slice(0, 10);
}

/** What no client can do: somebody pays money into the wallet, somebody forges messages. */
async function simulator(path, body) {
  const url = `${RESELLER_SIM_URL}/sandboxes/default/${path}`;
  return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json();
}

const client = new Client(RESELLER_BASE_URL, RESELLER_API_KEY, RESELLER_API_SECRET);
const shop = new Shop(client, SPEED);
const receiver = new Receiver(shop);
try {
  process.exitCode = await main(client, shop, receiver);
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
} finally {
  receiver.close();
}
