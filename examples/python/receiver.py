"""Receives callbacks of payments and webhooks: checks, hands over to the shop, and answers at once."""

import json
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from shop import Shop
from webhooks import is_genuine

LARGEST = 64 * 1024


class Receiver(ThreadingHTTPServer):
    """Listens on the loopback address. Let the proxy in front of yours admit the service's addresses only."""

    daemon_threads = True

    def __init__(self, shop: Shop) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.shop = shop
        self.secret = ""  # from PUT /v2/balance-webhook
        self.seen: set[str] = set()  # ids of events: yours are in a table
        self.url = f"http://127.0.0.1:{self.server_port}"

    def callback(self, payment: dict[str, Any]) -> int:
        """The status to answer. What we do not know, or ordered otherwise, the service did not send."""
        order = self.shop.orders.get(str(payment.get("refid")))
        if order is None:
            return 404
        told = payment.get("product"), payment.get("account"), Decimal(str(payment.get("amount")))
        if told != (order.product, order.account, order.amount):
            return 400
        self.shop.heard.put((order.refid, str(payment.get("status"))))
        return 200

    def webhook(self, headers: Any, body: bytes) -> int:
        """The status to answer. An event comes again after a lost answer: it counts once."""
        if not self.secret or not is_genuine(self.secret, headers, body):
            return 401
        event = json.loads(body, parse_float=Decimal)
        if event["id"] not in self.seen:
            self.seen.add(event["id"])
            self.shop.events.put(event)
        return 204


class Handler(BaseHTTPRequestHandler):
    """Routes one request."""

    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        """A callback `{"data": payment}`, or a webhook."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST:
            self.close_connection = True
            self._answer(413)
            return
        body = self.rfile.read(length)
        if self.path == "/webhooks":
            self._answer(self.server.webhook(self.headers, body))
        elif self.path == "/callbacks":
            self._callback(body, "data")
        else:
            self._answer(404)

    def do_GET(self) -> None:
        """A callback by GET: the payment is the JSON of the parameter `message`."""
        parts = urlsplit(self.path)
        message = parse_qs(parts.query).get("message", [""])[0]
        if parts.path == "/callbacks":
            self._callback(message.encode(), "")
        else:
            self._answer(404)

    def _callback(self, text: bytes, member: str) -> None:
        try:
            payment = json.loads(text, parse_float=Decimal)
            self._answer(self.server.callback(payment[member] if member else payment))
        except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation):
            self._answer(400)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Yours logs; this one leaves stderr alone."""
