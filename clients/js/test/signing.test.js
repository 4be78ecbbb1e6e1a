// The signature, compared with the examples of docs/signing.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hmacHeaders } from "reseller-sim";

const apiKey = "test_key_RS001";
const apiSecret = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=";
const signed = { apiKey, apiSecret, timestamp: 1795250000, nonce: "0123456789abcdef" };
const body = '{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":10}';

test("a payment is signed as the page shows", () => {
  const headers = hmacHeaders({ ...signed, method: "POST", url: "/v2/topup", body });
  assert.deepEqual(headers, {
    "X-Api-Key": apiKey,
    "X-Timestamp": "1795250000",
    "X-Nonce": "0123456789abcdef",
    "X-Signature": "v1=7mBok3dF9ntz8mjXg8S79TDRvHiY+dNQ/wn0qLRABKU=",
  });
});

test("bytes are signed like the text that they are", () => {
  const request = { ...signed, method: "post", url: "https://example.com/s/one/v2/topup" };
  const bytes = new TextEncoder().encode(body);
  assert.equal(hmacHeaders({ ...request, body: bytes })["X-Signature"], "v1=7mBok3dF9ntz8mjXg8S79TDRvHiY+dNQ/wn0qLRABKU=");
});

test("the parameters of a query are sorted", () => {
  const url = new URL("http://127.0.0.1:8080/v2/catalog?product_code=RELOAD&is_active=true");
  const headers = hmacHeaders({ ...signed, method: "GET", url });
  assert.equal(headers["X-Signature"], "v1=b4YveU0iS73g3L3JkcD/3g0YeUhIAWZiUw6+fJuESJk=");
});

test("every signature has a nonce of its own", () => {
  const nonces = [1, 2, 3].map(() => hmacHeaders({ apiKey, apiSecret, method: "GET", url: "/v2/balance" })["X-Nonce"]);
  assert.equal(new Set(nonces).size, 3);
});
