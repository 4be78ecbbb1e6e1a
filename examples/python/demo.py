"""A day of a shop, against the simulator with scenario.yaml. Exit code 0 when everything is as it should be."""

import json
import os
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from queue import Empty
from threading import Thread
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from client import Client, Rejected, Unanswered
from receiver import Receiver
from reconcile import reconcile
from shop import Order, Shop

SPEED = 5  # of the clock in scenario.yaml; yours is 1
EXPECTED = ["Succesful", "Succesful", "Failed", "Succesful", "refused", "Succesful"]


def main() -> int:
    """Pay, receive, reconcile, and let the simulator try to fool the receiver."""
    client = Client(*(os.environ[f"RESELLER_{name}"] for name in ("BASE_URL", "API_KEY", "API_SECRET")))
    shop = Shop(client, SPEED)
    receiver = Receiver(shop)
    Thread(target=receiver.serve_forever, daemon=True).start()

    # The secret is shown when the webhook is created and by a rotation: yours is stored then.
    webhook = client.set("PUT", "/v2/balance-webhook", body={"url": f"{receiver.url}/webhooks"})
    if "webhook_secret" not in webhook:
        webhook = client.set("POST", "/v2/balance-webhook/rotate-secret")
    receiver.secret = webhook["webhook_secret"]

    set_callback(client, receiver, "POST")
    for product, account, amount in (
        ("RELOAD", "0123456789", "10.00"),
        ("ELECTRIC", "210012345678", "100.00"),
        ("RELOAD", "0198765432", "20.00"),
        ("RELOAD", "0111111111", "5.00"),
        ("RELOAD", "0123456789", "7.00"),
    ):
        shop.place(Order(str(uuid4()), product, account, Decimal(amount)))
    shop.settle(within_s=20)
    set_callback(client, receiver, "GET")
    shop.place(Order(str(uuid4()), "DATA", "0123456789", Decimal("10.00"), {"subproduct_code": "D10W"}))
    shop.settle(within_s=20)
    for order in shop.orders.values():
        more = f"cost {order.cost:.2f}" if order.status == "Succesful" else order.remarks
        print(f"{order.product} {order.account} {order.amount}: {order.status}, {more}")

    simulator("resellers/RS001/deposits", {"amount": "250.00"})
    deposit = Decimal(shop.events.get(timeout=20)["data"]["amount"])
    print(f"deposit of {deposit:.2f}: its webhook is genuine")

    today = datetime.now(UTC).astimezone(timezone(timedelta(hours=8))).date()
    days = f"{today - timedelta(days=1)} - {today + timedelta(days=1)}"
    result = reconcile(client, shop.orders.values(), [deposit], days, page=2)
    print(f"reconciled {result.payments} payments and {result.entries} entries: {len(result.differences)} differences")
    for line in result.differences:
        print(f"difference: {line}")

    wrong = [one["probe"] for one in simulator("probes", {"reseller": "RS001"})["probes"] if one["verdict"] != "ok"]
    print(f"forged, stale and repeated messages: {', '.join(wrong) or 'all answered rightly'}")
    is_expected = [order.status for order in shop.orders.values()] == EXPECTED
    return 0 if is_expected and not result.differences and not wrong else 1


def set_callback(client: Client, receiver: Receiver, method: str) -> None:
    """Where callbacks of payments go from now on."""
    client.set("POST", "/v2/callback-url", {"url": f"{receiver.url}/callbacks", "method": method})


def simulator(path: str, body: dict[str, str]) -> Any:
    """What no client can do: somebody pays money into the wallet, somebody forges messages."""
    url = f"{os.environ['RESELLER_SIM_URL']}/sandboxes/default/{path}"
    with urlopen(url, json.dumps(body).encode()) as answer:
        return json.load(answer)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Rejected, Unanswered, TimeoutError) as error:
        sys.exit(f"demo: {error}")
    except Empty:
        sys.exit("demo: no webhook came")
