"""A shop in a container of its own: it pays, waits for the callback, and asks the simulator what became of it."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from client import Client, Rejected, Unanswered  # of examples/python

PORT = 8090
LARGEST = 64 * 1024
WITHIN_S = 60


class Callbacks(BaseHTTPRequestHandler):
    """Answers each callback, and notes that the payment has succeeded."""

    succeeded = Event()

    def do_POST(self) -> None:
        """`{"data": payment}`; the service sends no more than a few hundred bytes."""
        payment = json.loads(self.rfile.read(min(int(self.headers["Content-Length"] or 0), LARGEST)))["data"]
        print(f"callback: {payment['refid']} is {payment['status']}", flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if payment["status"] == "Succesful":
            self.succeeded.set()

    def log_message(self, format: str, *args: object) -> None:
        """What came is printed above."""


def main() -> int:
    """0 when the payment has succeeded, the callback has come, and the simulator knows of both."""
    receiver = HTTPServer(("", PORT), Callbacks)
    Thread(target=receiver.serve_forever, daemon=True).start()
    refid = f"order-{uuid4().hex[:8]}"
    client = Client(*(os.environ[f"RESELLER_{name}"] for name in ("BASE_URL", "API_KEY", "API_SECRET")))
    payment = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": "10"}
    print(f"paid: {refid} is {client.set('POST', '/v2/topup', body=payment)['data']['status']}", flush=True)
    simulator("clock/advance", {"until": "idle"})  # no waiting: the clock is ours
    if not Callbacks.succeeded.wait(WITHIN_S):
        print(f"no callback within {WITHIN_S} seconds")
        return 1
    (known,) = simulator(f"transactions?refid={refid}")["transactions"]
    print(f"the simulator says: {refid} is {known['status']}", flush=True)
    return 0


def simulator(path: str, body: dict[str, str] | None = None) -> Any:
    """Ask the control API of the default sandbox, with its token."""
    url = f"{os.environ['RESELLER_SIM_URL']}/sandboxes/default/{path}"
    headers = {"Authorization": f"Bearer {os.environ['RESELLER_SIM_CONTROL_TOKEN']}"}
    with urlopen(Request(url, json.dumps(body).encode() if body else None, headers), timeout=WITHIN_S) as answer:
        return json.load(answer)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Rejected, Unanswered, OSError) as error:
        sys.exit(f"shop: {error}")
