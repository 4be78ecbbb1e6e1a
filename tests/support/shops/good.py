"""A shop without known mistakes: it sells an order, learns its result, and closes its books.

Its waits suit a sandbox whose clock runs a hundred times as fast as wall time.
"""

import hashlib
import hmac
import json
import os
import sys
import time
from base64 import b64decode, b64encode
from dataclasses import dataclass
from decimal import Decimal
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

FINAL = ("Succesful", "Failed", "Refund")
TIMEOUT_S = 3.0
PAUSE_S, PAUSE_MAX_S = 0.1, 0.3
ATTEMPTS = 14
ROUNDS = 30
PLANS = "/v2/options?product_code=DATA&field_id=plan&account_number=0123456780&limit=2&page="


class Answer(NamedTuple):
    """An answer of the service; status 0 without a readable answer."""

    status: int
    members: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        found = self.members.get("data")
        return found if isinstance(found, dict) else {}


@dataclass
class Order:
    """An order of a customer. `refid` is stored before the order is sent."""

    refid: str
    product: str = "RELOAD"
    account: str = "0123456789"
    amount: str = "10"
    status: str = "new"
    cost: Decimal = Decimal(0)
    delivered: int = 0

    @property
    def body(self) -> bytes:
        sent = {"refid": self.refid, "product": self.product, "account": self.account, "amount": self.amount}
        return json.dumps(sent).encode()


class Shop:
    """The shop; the mistaken ones replace a method."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}
        self.lock = Lock()
        self.failures = 0

    def trade(self) -> int:
        """A day of the shop; returns the exit code."""
        self.listen()
        opening = self.balance()
        self.read_plans()
        order = Order(uuid4().hex)
        self.orders[order.refid] = order
        self.pay(order)
        self.rest(PAUSE_S)  # late callbacks arrive before the books are closed
        return self.close(opening - self.balance())

    def close(self, spent: Decimal) -> int:
        """Compare the books with the balance."""
        with self.lock:
            wrong = [one for one in self.orders.values() if one.delivered != (one.status == "Succesful")]
            cost = sum((one.cost for one in self.orders.values() if one.status == "Succesful"), Decimal(0))
        if wrong:
            print(f"not delivered as paid: {wrong}")
        if cost != spent:
            print(f"spent {spent}, but the books say {cost}")
        return int(bool(wrong) or cost != spent)

    def pay(self, order: Order) -> None:
        """Pay it, and ask until it is settled."""
        pause_s = PAUSE_S
        for _ in range(ROUNDS):
            self.ask(order)
            if order.status in (*FINAL, "refused"):
                return
            self.rest(pause_s)
            pause_s = min(pause_s * 1.2, PAUSE_MAX_S)
            if order.status in FINAL:  # set by a callback
                return
        raise SystemExit(f"{order} does not end")

    def ask(self, order: Order) -> None:
        """Send the order, which creates its payment or asks for it."""
        answer = self.send("POST", "/v2/topup", order.body)
        if answer.status == 400:
            self.on_refused(order)
        elif answer.status == 200:
            self.on_told(order.refid, answer.data)

    def on_refused(self, order: Order) -> None:
        """Record that the service created no payment."""
        order.status = "refused"

    def on_told(self, refid: str, data: dict[str, Any]) -> None:
        """Record the status from an answer or a callback. A final status does not change any more."""
        with self.lock:
            order = self.orders.get(refid)
            if order is None or order.status in FINAL:
                return
            self.note(order, data)

    def note(self, order: Order, data: dict[str, Any]) -> None:
        """Store a status, and deliver a paid order."""
        order.status = str(data["status"])
        order.cost = Decimal(str(data.get("cost", order.cost)))
        if order.status == "Succesful":
            order.delivered += 1

    def read_plans(self) -> list[Any]:
        """Read all pages of the plans."""
        plans: list[Any] = []
        page, last = 1, 1
        while page <= last:
            answer = self.page(page)
            plans += answer.members.get("items") or []
            last = max(last, answer.members.get("meta", {}).get("last_page", 1))
            page += 1
        return plans

    def page(self, number: int) -> Answer:
        """One page of them."""
        return self.insist("GET", f"{PLANS}{number}")

    def balance(self) -> Decimal:
        """Return the balance of the wallet."""
        return Decimal(str(self.insist("GET", "/v2/balance").data["balance"]))

    def insist(self, method: str, target: str) -> Answer:
        """Repeat a request until it is answered. After too many attempts the shop exits."""
        pause_s = PAUSE_S
        for _ in range(ATTEMPTS):
            answer = self.send(method, target)
            if answer.status == 200:
                return answer
            self.rest(pause_s)
            pause_s = min(pause_s * 1.6, PAUSE_MAX_S)
        raise SystemExit(f"{method} {target} is not answered: {answer}")

    def send(self, method: str, target: str, body: bytes = b"") -> Answer:
        """Send one signed request."""
        base = urlsplit(os.environ["RESELLER_BASE_URL"])
        connection = HTTPConnection(str(base.hostname), base.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, target, body, signed(method, target, body))
            answer = connection.getresponse()
            content = json.loads(answer.read(), parse_float=Decimal)
        except (OSError, HTTPException, ValueError):
            return self.on_silence()
        finally:
            connection.close()
        return Answer(answer.status, content if isinstance(content, dict) else {"data": content})

    def on_silence(self) -> Answer:
        """There was no answer, or none that can be read."""
        return Answer(0, {})

    def rest(self, seconds: float) -> None:
        """Wait, in wall time."""
        # sleep: a client's own pace, between its questions
        time.sleep(seconds)

    def listen(self) -> None:
        """Receive callbacks from now on."""
        shop = self

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])), parse_float=Decimal)
                shop.on_callback(sent["data"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        # One after the other: of threads, a busy machine runs a later one first, and calm weather has no late callback.
        server = HTTPServer(("127.0.0.1", 0), Receiver)
        Thread(target=server.serve_forever, daemon=True).start()
        own = quote(f"http://127.0.0.1:{server.server_port}/callback", safe="")
        self.insist("POST", f"/v2/callback-url?url={own}&method=POST")

    def on_callback(self, data: dict[str, Any]) -> None:
        """A callback may come twice, late, or before one that was sent before it."""
        self.on_told(str(data["refid"]), data)


def signed(method: str, target: str, body: bytes) -> dict[str, str]:
    """The headers of a request (SPEC 5.1)."""
    # clock: the timestamp of a signature
    nonce, timestamp = uuid4().hex, str(int(time.time()))
    query = "&".join(sorted(urlsplit(target).query.split("&"), key=lambda part: part.split("=")[0]))
    hashed = b64encode(hashlib.sha256(body).digest()).decode()
    text = f"v1:{timestamp}:{nonce}:{method}:{query}:{hashed}"
    secret = b64decode(os.environ["RESELLER_API_SECRET"])
    signature = b64encode(hmac.new(secret, text.encode(), "sha256").digest()).decode()
    return {
        "Content-Type": "application/json",
        "X-API-Key": os.environ["RESELLER_API_KEY"],
        "X-Timestamp": timestamp,
        "X-Nonce": nonce,
        "X-Signature": f"v1={signature}",
        "X-API-Version": "2026-09-16",
    }


if __name__ == "__main__":
    sys.exit(Shop().trade())
