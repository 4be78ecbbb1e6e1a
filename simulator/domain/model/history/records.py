"""The indexes of one reseller for transaction history and balance statement.

Both grow with every payment and are read rarely, so a payment only records additions and changes, and a reader updates
the indexes lazily. At `LAG_MAX` pending changes a payment updates them, so that a reader never waits more than a few
milliseconds. A page, totals included, costs the same regardless of the number of records.
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
        """Add a new transaction, whose ledger entry exists already."""
        if self.history.add(one) >= LAG_MAX:
            self._catch_up()

    def note_change(self, one: Transaction) -> None:
        """Record a changed status."""
        if self.history.note_change(one) >= LAG_MAX:
            self._catch_up()

    def _catch_up(self) -> None:
        self.history.catch_up()
        self.statement.catch_up()
