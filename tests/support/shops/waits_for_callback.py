"""A shop that takes a new refid when it got no answer and then half a minute long no callback that says it is paid."""

import sys
import time
from uuid import uuid4

from tests.support.shops.good import Order, Shop

WAIT_S = 0.3


class WaitsForCallback(Shop):
    """One lost message does not hurt it; two do."""

    def ask(self, order: Order) -> None:
        super().ask(order)
        if order.status == "new":
            time.sleep(WAIT_S)
        if order.status == "new":
            del self.orders[order.refid]
            order.refid = uuid4().hex
            self.orders[order.refid] = order


if __name__ == "__main__":
    sys.exit(WaitsForCallback().trade())
