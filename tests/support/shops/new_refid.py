"""A shop that takes a new refid when it got no answer."""

import sys
from uuid import uuid4

from tests.support.shops.good import Order, Shop


class NewRefid(Shop):
    """Its order forgets the refid that may have been paid."""

    def ask(self, order: Order) -> None:
        super().ask(order)
        if order.status == "new":
            del self.orders[order.refid]
            order.refid = uuid4().hex
            self.orders[order.refid] = order


if __name__ == "__main__":
    sys.exit(NewRefid().trade())
