"""Transactions as restored jobs and cases have them: one copy for all of them."""

from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.transactions import Transaction


class Copies(dict[int, Transaction]):
    """Those that were asked for, by number. An open one is the one that there is."""

    def __init__(self, all_: Transactions) -> None:
        super().__init__()
        self._all = all_

    def __missing__(self, number: int) -> Transaction:
        one = self[number] = self._all.numbered(number)
        return one
