"""A shop that requests the fourth page of its plans, and all later pages, only once."""

import sys

from tests.support.shops.good import PLANS, Answer, Shop

INSISTS_UNTIL = 3


class ForgetsPage(Shop):
    """Takes pages that fail for empty."""

    def page(self, number: int) -> Answer:
        return super().page(number) if number <= INSISTS_UNTIL else self.send("GET", f"{PLANS}{number}")


if __name__ == "__main__":
    sys.exit(ForgetsPage().trade())
