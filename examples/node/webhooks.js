// Verifies webhooks: the scheme of Standard Webhooks, with a hexadecimal secret.

import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;

/** Whether the service sent these bytes within the last five minutes. */
export function isGenuine(secret, headers, body) {
  const [id, sent, signatures] = ["id", "timestamp", "signature"].map((name) => headers[`webhook-${name}`] ?? "");
  if (!/^\d+$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > TOLERANCE_S) return false;
  const hmac = createHmac("sha256", Buffer.from(secret, "hex")).update(`${id}.${sent}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  return signatures.split(" ").some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
