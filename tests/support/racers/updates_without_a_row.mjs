// Its callback handler updates an order that is inserted when the payment was answered.
import { isFinal, mended, receive, topup, waitFor } from "./shop.mjs";

const orders = new Map();
const store = (status) => {
  const order = orders.get("order-1") ?? (mended ? {} : undefined);
  if (!isFinal(order.status)) order.status = status;
  orders.set("order-1", order);
};
await receive(store);
const status = await topup();
if (!orders.has("order-1")) orders.set("order-1", {});
store(status);
await waitFor(() => isFinal(orders.get("order-1").status), async () => store(await topup()));
process.exit(0);
