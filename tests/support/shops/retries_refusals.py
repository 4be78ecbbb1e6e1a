"""A shop that sends a refused payment again as it was, as if a 400 were an outage."""

import sys

from tests.support.shops.good import PAUSE_S, Order, Shop

RETRIES = 5


class RetriesRefusals(Shop):
    """It stops only after several times."""

    def ask(self, order: Order) -> None:
        for _ in range(RETRIES):
            super().ask(order)
            if order.status != "refused":
                return
            self.rest(PAUSE_S)


if __name__ == "__main__":
    sys.exit(RetriesRefusals().trade())
