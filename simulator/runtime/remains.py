"""What is left of a sandbox that is gone, freed a share in each turn: a million records at once would hold all up."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence

from simulator.domain.model.holdings import Holding
from simulator.domain.state import State
from simulator.tape.tape import Tape

SHARE = 1_000
"""How many records one turn of the event loop frees: a few milliseconds."""

SMALL_MAX = 20_000
"""So many records are freed at once."""

WAIT_S = 0.05
TRIES_MAX = 200
"""How often it is looked whether somebody still has the sandbox. Then its memory is left to them."""

_OWN = 3  # references to what only the remains have: in a list, in a name, and in the call that counts them


def let_go(state: State, tape: Tape) -> None:
    """Free what these hold once nobody else has them any more, which the caller is about to see to."""
    tape.leave()
    holdings = [*state.holdings(), Holding(tape.held)]
    if sum(len(one.records) * one.weight for one in holdings) > SMALL_MAX:
        asyncio.get_running_loop().call_later(WAIT_S, _Remains(holdings).go_on)


class _Remains:
    def __init__(self, holdings: Sequence[Holding]) -> None:
        self._weights = [one.weight for one in holdings]
        self._records = [one.records for one in holdings]
        self._tries = 0

    def go_on(self) -> None:
        """Free one share, and the next in another turn."""
        loop = asyncio.get_running_loop()
        if any(sys.getrefcount(one) > _OWN for one in self._records):
            self._tries += 1
            if self._tries < TRIES_MAX:
                loop.call_later(WAIT_S, self.go_on)
            return
        left = SHARE
        while left > 0 and self._records:
            left -= self._free(left)
        if self._records:
            loop.call_soon(self.go_on)

    def _free(self, most: int) -> int:
        """Free about so many records of the last container; answers how many."""
        records, weight = self._records[-1], self._weights[-1]
        count = min(len(records), max(1, most // weight))
        if isinstance(records, list):
            del records[len(records) - count :]
        else:
            remove = records.pop if isinstance(records, deque) else records.popitem
            for _ in range(count):
                remove()
        if not records:
            del self._records[-1], self._weights[-1]
        return max(1, count * weight)
