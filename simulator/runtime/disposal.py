"""Free the records of an ended life in slices: freeing a hundred thousand at once would stop the event loop."""

import asyncio

from simulator.domain.state import State
from simulator.persistence.tape.tape import Tape

SLICE = 1_000
"""How many records one turn of the event loop frees, in about two milliseconds."""

WAIT_S = 1.0
"""After that, requests that still read the ended life have usually ended."""


def dispose(state: State, tape: Tape) -> None:
    """Free these records once the caller has dropped its references.

    The slices are taken from a list of references. The containers of the life do not change, so a request that still
    reads them finds all records.
    """
    tape.leave()
    records: list[object] = [*tape.held, *state.nonces, *state.callbacks, *state.transactions.by_number]
    for reseller in state.resellers.values():
        records += reseller.wallet.entries
    asyncio.get_running_loop().call_later(WAIT_S, _free_slice, records)


def _free_slice(records: list[object]) -> None:
    del records[-SLICE:]
    if records:
        asyncio.get_running_loop().call_soon(_free_slice, records)
