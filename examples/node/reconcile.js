// Compares our records with the service's: payments with the history, the wallet with its statement.

import { sen, text } from "./money.js";

// The history spells success with two s.
const HISTORY_NAMES = { Succesful: "Successful" };

/**
 * Compare a day, `yyyy-MM-dd` in GMT+8, or several, `yyyy-MM-dd - yyyy-MM-dd`, read in pages of this length.
 * `deposits` are in sen. Returns what was read, and what differs, a sentence each.
 */
export async function reconcile(client, orders, deposits, days, page) {
  const history = await readHistory(client, days, page);
  const statement = await readStatement(client, days, page);
  const ours = new Map([...orders].filter((one) => one.status !== "refused").map((one) => [one.refid, one]));
  const differences = [...ours.values()].flatMap((order) => compare(order, history.get(order.refid)));
  for (const refid of history.keys()) {
    if (!ours.has(refid)) differences.push(`${refid} is in the history, and not in our records`);
  }

  const total = (amounts) => amounts.reduce((sum, amount) => sum + amount, 0n);
  const amounts = (...types) => statement.filter((one) => types.includes(one.type)).map((one) => sen(one.amount));
  const spent = -total(amounts("TRANSACTION", "REFUND"));
  const prices = total([...history.values()].map((one) => sen(one.price)));
  if (spent !== prices) {
    differences.push(`the statement's payments come to ${text(spent)}, those of the history to ${text(prices)}`);
  }
  // Each deposit counts once, so that a second one of the same amount is noticed.
  const paidIn = amounts("DEPOSIT");
  for (const amount of deposits) {
    const at = paidIn.indexOf(amount);
    if (at < 0) differences.push(`a deposit of ${text(amount)} is not in the statement`);
    else paidIn.splice(at, 1);
  }
  for (const amount of paidIn) {
    differences.push(`a deposit of ${text(amount)} is in the statement, and not in our records`);
  }
  return { payments: history.size, entries: statement.length, differences };
}

/** What differs between an order and its record in the history. */
function compare(order, record) {
  if (!record) return [`${order.refid} is ${order.status} in our records, and not in the history`];
  const pairs = {
    status: [HISTORY_NAMES[order.status] ?? order.status, record.status_name],
    product: [order.product, record.product_code],
    account: [order.account, record.account],
    amount: [order.amount, sen(record.amount)],
    cost: [order.cost, sen(record.price)],
  };
  return Object.entries(pairs)
    .filter(([, [a, b]]) => a !== b)
    .map(([name, pair]) => [name, ...pair.map((one) => (typeof one === "bigint" ? text(one) : one))])
    .map(([name, a, b]) => `${order.refid}: ${name} is ${a}, in the history ${b}`);
}

/** All payments by refid: `offset` moves on until a page is not full. */
async function readHistory(client, days, page) {
  const records = new Map();
  for (let offset = 0; ; offset += page) {
    const { data } = await client.accepted("GET", "/v2/transactions", { date: days, limit: page, offset });
    for (const one of data) records.set(one.refid, one);
    if (data.length < page) return records;
  }
}

/** All entries: `page` moves on until the last. By id, since a new entry moves those before it to the next page. */
async function readStatement(client, days, limit) {
  const entries = new Map();
  for (let page = 1; ; page += 1) {
    const { data, meta } = await client.accepted("GET", "/v2/balance-statement", { date: days, limit, page });
    for (const one of data) entries.set(one.id, one);
    if (page >= meta.last_page) return [...entries.values()];
  }
}
