// Runs before each request: signs those that carry X-Api-Key, over the bytes that will be sent.
const { v4: uuid } = require("uuid");
bru.setVar("new_refid", uuid());
bru.setVar("today", new Date(Date.now() + 8 * 3600e3).toISOString().slice(0, 10)); // GMT+8

if (req.getHeader("X-Api-Key")) {
  const CryptoJS = require("crypto-js");
  const base64 = CryptoJS.enc.Base64;

  // Variables are replaced now, so that the same text is signed and sent.
  const text = bru.interpolate(req.getBody({ raw: true }) || "").trim();
  if (text) req.setBody(text, { raw: true });

  const [address, ...rest] = bru.interpolate(req.getUrl()).split("?");
  // As a URL is encoded when it is sent.
  const query = rest
    .join("?")
    .replace(/[^\x21-\x7e]+|["#'<>]/gu, (part) => (part === "'" ? "%27" : encodeURIComponent(part)));
  req.setUrl(query ? `${address}?${query}` : address);
  const nameOf = (part) => part.slice(0, part.indexOf("="));
  const sorted = query
    .split("&")
    .filter((part) => part.includes("="))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .join("&");

  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = uuid();
  const hash = CryptoJS.SHA256(text).toString(base64);
  const canonical = `v1:${timestamp}:${nonce}:${req.getMethod()}:${sorted}:${hash}`;
  const secret = base64.parse(bru.interpolate("{{api_secret}}"));
  const signature = CryptoJS.HmacSHA256(canonical, secret).toString(base64);

  req.setHeader("X-Timestamp", timestamp);
  req.setHeader("X-Nonce", nonce);
  // A request that has a signature of its own keeps it.
  if (!req.getHeader("X-Signature")) req.setHeader("X-Signature", `v1=${signature}`);
}
