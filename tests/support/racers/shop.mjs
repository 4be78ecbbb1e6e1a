// What the racing shops of JavaScript have in common: signed requests that are repeated, and a receiver of callbacks.
import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const { RESELLER_BASE_URL, RESELLER_API_KEY, RESELLER_API_SECRET } = process.env;
export const mended = process.argv.includes("mended");
export const isFinal = (status) => ["Succesful", "Failed", "Refund"].includes(status);
export const order = { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 };
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function send(method, path, query = "", body = "", timeoutMs = 20_000) {
  const [stamp, nonce] = [`${Math.floor(Date.now() / 1000)}`, randomUUID()];
  const digest = createHash("sha256").update(body).digest("base64");
  const text = ["v1", stamp, nonce, method, query.split("&").sort().join("&"), digest].join(":");
  const signature = createHmac("sha256", Buffer.from(RESELLER_API_SECRET, "base64")).update(text).digest("base64");
  const headers = {
    "X-Api-Key": RESELLER_API_KEY, "X-Timestamp": stamp, "X-Nonce": nonce, "X-Signature": `v1=${signature}`,
    "Content-Type": "application/json",
  };
  const url = `${RESELLER_BASE_URL}${path}${query && `?${query}`}`;
  const answer = await fetch(url, { method, headers, body: body || undefined, signal: AbortSignal.timeout(timeoutMs) });
  const content = await answer.json();
  if (answer.status >= 500) throw new Error(`${answer.status}`);
  return content;
}

export async function sure(...request) {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      return await send(...request);
    } catch {
      await sleep(200);
    }
  }
  throw new Error("gave up");
}

export const topup = async () => (await sure("POST", "/v2/topup", "", JSON.stringify(order))).data.status;

export async function receive(handle) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    await handle(JSON.parse(Buffer.concat(chunks).toString()).data.status);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = encodeURIComponent(`http://127.0.0.1:${server.address().port}/`);
  await sure("POST", "/v2/callback-url", `method=POST&url=${url}`);
}

export async function waitFor(isOver, ask = async () => {}) {
  for (let number = 1; number < 400; number += 1) {
    if (isOver()) return;
    if (number % 10 === 0) await ask();
    await sleep(50);
  }
  fail("stuck");
}

export function fail(text) {
  console.error(text);
  process.exit(1);
}
