"""A shop that delivers whenever it is told that an order is paid."""

import sys
from typing import Any

from tests.support.shops.good import FINAL, Order, Shop


class NoDedup(Shop):
    """That it was told the same before does not matter to it."""

    def on_told(self, refid: str, data: dict[str, Any]) -> None:
        with self.lock:
            order = self.orders[refid]
            if order.status not in FINAL or data["status"] in FINAL:
                self.note(order, data)

    def ask(self, order: Order) -> None:
        if order.status == "new":  # callbacks tell the rest
            super().ask(order)


if __name__ == "__main__":
    sys.exit(NoDedup().trade())
