"""A shop that takes an order for failed when it is still Processing after a minute."""

import sys

from tests.support.shops.good import FINAL, PAUSE_S, Order, Shop

ROUNDS = 6


class GivesUp(Shop):
    """Reports the payment as failed to the customer, and never asks again."""

    def pay(self, order: Order) -> None:
        for _ in range(ROUNDS):
            self.ask(order)
            self.rest(PAUSE_S)
            if order.status in (*FINAL, "refused"):
                return
        if order.status == "Processing":
            order.status = "Failed"
        else:
            super().pay(order)


if __name__ == "__main__":
    sys.exit(GivesUp().trade())
