"""A shop that delivers at every report of a paid order."""

import sys
from typing import Any

from tests.support.shops.good import FINAL, Order, Shop


class NoDedup(Shop):
    """Does not detect repeated callbacks."""

    def on_told(self, refid: str, data: dict[str, Any]) -> None:
        with self.lock:
            order = self.orders[refid]
            if order.status not in FINAL or data["status"] in FINAL:
                self.note(order, data)

    def ask(self, order: Order) -> None:
        if order.status == "new":  # callbacks report all later statuses
            super().ask(order)


if __name__ == "__main__":
    sys.exit(NoDedup().trade())
