"""A stand-in for `python -m simulator serve`: canned, optionally slow answers to signed requests."""

import base64
import hashlib
import hmac
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY, SECRET = "test-key", base64.b64encode(b"a secret of 32 bytes, more or less").decode()

ANSWERS: dict[str, dict[str, Any]] = {
    "/v2/topup": {"data": {"status": "Accepted"}},
    "/v2/balance": {"data": {"balance": 5000.0}},
    "/v2/catalog": {"products": {"RELOAD": {}}},
    "/_sim/health": {"status": "ok"},
    "/_sim/sandboxes/default/clock": {"pending": 0},
    "/_sim/sandboxes/default/clock/advance": {"idle": True},
    "/_sim/sandboxes/default/callbacks": {"complete": True},
    "/_sim/sandboxes/default/rules": {"id": "bench"},
    "/_sim/sandboxes/default/resellers/RS001/deposits": {"amount": "900000000.00"},
}


class Handler(BaseHTTPRequestHandler):
    """Answers from the table; 401 to a bad signature or a nonce seen before, 404 to the rest."""

    protocol_version = "HTTP/1.1"
    nonces: set[str] = set()

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        status = 200 if path in ANSWERS else 404
        if path.startswith("/v2/") and not self.genuine(query, body):
            status = 401
        content = json.dumps(ANSWERS.get(path, {})).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self.wfile.write(head.encode() + content)

    def genuine(self, query: str, body: bytes) -> bool:
        nonce = self.headers["X-Nonce"]
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        text = ":".join(("v1", self.headers["X-Timestamp"], nonce, self.command, query, digest))
        mac = hmac.new(base64.b64decode(SECRET), text.encode(), hashlib.sha256).digest()
        fresh = nonce not in self.nonces
        self.nonces.add(nonce)
        return fresh and self.headers["X-Signature"] == "v1=" + base64.b64encode(mac).decode()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line for every request would fill the pipe."""


class Server(ThreadingHTTPServer):
    """With room for 16 connections at once; the default backlog makes some of them wait a second."""

    request_queue_size = 128


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Handler) as server:
        reseller = {"code": "RS001", "api_key": KEY, "api_secret": SECRET}
        url = f"http://127.0.0.1:{server.server_port}"
        print(json.dumps({"url": url, "control_token": None, "resellers": [reseller]}), flush=True)
        server.serve_forever()
