"""A shop that compares its books with the history, and requests the pages after the first two only once."""

import sys
from datetime import UTC, datetime, timedelta

from tests.support.shops.good import Order, Shop

ACCOUNTS = ("0123456781", "0123456782", "0123456783")
ZONE = timedelta(hours=8)
INSISTS_UNTIL = 2


class ForgetsHistory(Shop):
    """Takes payments on pages that fail for missing."""

    def pay(self, order: Order) -> None:
        for account in ACCOUNTS:
            more = Order(f"{order.refid}-{account}", account=account)
            self.orders[more.refid] = more
            super().pay(more)
        del self.orders[order.refid]
        self.read_history()

    def read_history(self) -> None:
        """Read the history of yesterday and today, with a payment a page."""
        today = datetime.now(UTC) + ZONE
        span = f"{today - timedelta(days=1):%Y-%m-%d}%20-%20{today + timedelta(days=1):%Y-%m-%d}"
        for offset in range(len(ACCOUNTS)):
            target = f"/v2/transactions?limit=1&date={span}&offset={offset}"
            if offset < INSISTS_UNTIL:
                self.insist("GET", target)
            else:
                self.send("GET", target)


if __name__ == "__main__":
    sys.exit(ForgetsHistory().trade())
