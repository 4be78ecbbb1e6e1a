// Runs before each request: signs those that carry X-Api-Key, over the bytes that will be sent.
const known = (name) => request.variables.get(name) || client.global.get(name) || request.environment.get(name);
const remembered = /* REMEMBERED */ {};
for (const name of Object.keys(remembered)) {
  request.variables.set(name, client.global.get(name) || remembered[name]);
}
const digits = (count) => Array.from({ length: count }, () => Math.floor(Math.random() * 16).toString(16)).join("");
request.variables.set("new_refid", digits(32));
request.variables.set("today", new Date(Date.now() + 8 * 3600e3).toISOString().slice(0, 10)); // GMT+8

if (request.headers.findByName("X-Api-Key")) {
  // tryGetSubstituted() of a URL is not used, since in httpYac it replaces the body.
  const url = request.url.getRaw().replace(/\{\{(\w+)\}\}/g, (whole, name) => known(name) || whole);
  const query = url.split("?").slice(1).join("?");
  const nameOf = (part) => part.slice(0, part.indexOf("="));
  const sorted = query
    .split("&")
    .filter((part) => part.includes("="))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .join("&");

  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = digits(32);
  const text = request.body.tryGetSubstituted() || "";
  const hash = crypto.sha256().updateWithText(text).digest().toBase64();
  const canonical = `v1:${timestamp}:${nonce}:${request.method}:${sorted}:${hash}`;
  const hmac = crypto.hmac.sha256().withBase64Secret(request.environment.get("api_secret"));

  request.variables.set("timestamp", timestamp);
  request.variables.set("nonce", nonce);
  request.variables.set("signature", "v1=" + hmac.updateWithText(canonical).digest().toBase64());
}
