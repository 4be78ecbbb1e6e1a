// Gives the money back when the payment was not answered within a second.
import { fail, isFinal, mended, order, receive, send, topup, waitFor } from "./shop.mjs";

let [status, refunded] = ["", false];
const store = (told) => {
  if (!isFinal(status)) status = told;
};
await receive(store);
try {
  store((await send("POST", "/v2/topup", "", JSON.stringify(order), 1000)).data.status);
} catch (error) {
  refunded = error.name === "TimeoutError" && !mended;
}
await waitFor(() => isFinal(status), async () => store(await topup()));
if (refunded && status === "Succesful") fail("refunded, and paid");
process.exit(0);
