"""A shop that delivers whenever it is told that an order is paid."""

import sys
from typing import Any

from tests.support.shops.good import Order, Shop


class NoDedup(Shop):
    """What it was told before does not matter to it."""

    def on_told(self, refid: str, data: dict[str, Any]) -> None:
        with self.lock:
            if (order := self.orders.get(refid)) is not None:
                self.note(order, data)

    def ask(self, order: Order) -> None:
        if order.status == "new":  # callbacks tell the rest
            super().ask(order)


if __name__ == "__main__":
    sys.exit(NoDedup().trade())
