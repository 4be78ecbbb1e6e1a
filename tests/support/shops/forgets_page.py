"""A shop that asks only once for the fourth page of its plans and those behind it."""

import sys

from tests.support.shops.good import PLANS, Answer, Shop

INSISTS_UNTIL = 3


class ForgetsPage(Shop):
    """What does not come is as if it were empty."""

    def page(self, number: int) -> Answer:
        return super().page(number) if number <= INSISTS_UNTIL else self.send("GET", f"{PLANS}{number}")


if __name__ == "__main__":
    sys.exit(ForgetsPage().trade())
