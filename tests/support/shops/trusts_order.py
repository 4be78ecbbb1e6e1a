"""A shop that takes the latest callback for the latest status."""

import sys
from typing import Any

from tests.support.shops.good import FINAL, Order, Shop


class TrustsOrder(Shop):
    """A late Processing makes an open order of a paid one."""

    def ask(self, order: Order) -> None:
        if order.status == "new":  # callbacks report all later statuses
            super().ask(order)

    def on_callback(self, data: dict[str, Any]) -> None:
        with self.lock:
            order = self.orders[str(data["refid"])]
            if order.status not in FINAL:
                self.note(order, data)
            else:
                order.status = str(data["status"])


if __name__ == "__main__":
    sys.exit(TrustsOrder().trade())
