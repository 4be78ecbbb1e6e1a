"""A shop that takes a new refid when it got no answer, and for half a minute no callback that says that it was paid."""

import sys
from typing import Any
from uuid import uuid4

from tests.support.shops.good import Order, Shop

WAIT_S = 0.3


class WaitsForCallback(Shop):
    """One lost message does not hurt it; two do."""

    def on_callback(self, data: dict[str, Any]) -> None:
        if data["status"] == "Succesful":
            super().on_callback(data)

    def ask(self, order: Order) -> None:
        super().ask(order)
        if order.status == "new":
            self.rest(WAIT_S)
        if order.status == "new":
            del self.orders[order.refid]
            order.refid = uuid4().hex
            self.orders[order.refid] = order


if __name__ == "__main__":
    sys.exit(WaitsForCallback().trade())
