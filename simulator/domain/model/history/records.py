"""The indexes of one reseller behind transaction history and balance statement.

Both grow with every payment and are read seldom, so a payment only notes what is new or has changed; who reads
brings the indexes up to date first. At `LAG_MAX` a payment does it, so that no reader finds more to catch up with than
a few milliseconds' worth. A page then costs the same however much there is, its figures included.
"""

from simulator.domain.model.history.history import History
from simulator.domain.model.history.statement import Statement
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.wallet import Wallet

LAG_MAX = 20_000


class Records:
    """History and statement of one reseller."""

    __slots__ = ("history", "statement")

    def __init__(self, wallet: Wallet) -> None:
        self.history = History()
        self.statement = Statement(wallet)

    def add(self, one: Transaction) -> None:
        """Note a new transaction; its ledger entry is there already."""
        if self.history.add(one) >= LAG_MAX:
            self._catch_up()

    def note_change(self, one: Transaction) -> None:
        """Note that a transaction has another status."""
        if self.history.note_change(one) >= LAG_MAX:
            self._catch_up()

    def _catch_up(self) -> None:
        self.history.catch_up()
        self.statement.catch_up()
