// Runs before each request: signs those that carry X-Api-Key, over the bytes that will be sent.
pm.variables.set("new_refid", pm.variables.replaceIn("{{$guid}}"));
pm.variables.set("today", new Date(Date.now() + 8 * 3600e3).toISOString().slice(0, 10)); // GMT+8

const { headers, url, method, body } = pm.request;
if (headers.has("X-Api-Key")) {
  const CryptoJS = require("crypto-js");
  const base64 = CryptoJS.enc.Base64;

  // Variables are replaced now, so that the same text is signed and sent.
  const text = pm.variables.replaceIn((body && body.raw) || "");
  if (text) body.update({ mode: "raw", raw: text, options: body.options });

  // As Postman encodes a query when it sends it.
  const query = pm.variables
    .replaceIn(url.getQueryString())
    .replace(/[^\x21-\x7e]+|["#'<>]/gu, (part) => (part === "'" ? "%27" : encodeURIComponent(part)));
  const nameOf = (part) => part.slice(0, part.indexOf("="));
  const sorted = query
    .split("&")
    .filter((part) => part.includes("="))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .join("&");

  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = pm.variables.replaceIn("{{$guid}}");
  const hash = CryptoJS.SHA256(text).toString(base64);
  const canonical = `v1:${timestamp}:${nonce}:${method}:${sorted}:${hash}`;
  const secret = base64.parse(pm.variables.get("api_secret"));
  const signature = CryptoJS.HmacSHA256(canonical, secret).toString(base64);

  headers.upsert({ key: "X-Timestamp", value: timestamp });
  headers.upsert({ key: "X-Nonce", value: nonce });
  // A request that has a signature of its own keeps it.
  if (!headers.has("X-Signature")) headers.add({ key: "X-Signature", value: `v1=${signature}` });
}
