"""The payments of a sandbox in a snapshot, and the entries of the wallets: in blocks, as the domain packs them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.domain.model.transactions import PROCESSING
from simulator.domain.model.wallet import Wallet
from simulator.domain.state import State
from simulator.snapshot.chunks import numbered, parts_of_log
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import Writing, opened

PAYMENTS, SHARED, OPEN, ENTRIES = "payments", "payments/shared", "payments/open", "entries"
OPEN_SIZE = 128


def written(state: State) -> Iterator[tuple[str, bytes]]:
    """The parts of all payments, what those that are open have beside it, then those of the wallets' entries."""
    transactions = state.transactions
    for place, content in enumerate(transactions.contents()):
        yield f"{PAYMENTS}/{place}", content
    writing = Writing()
    yield SHARED, writing.part([writing.plain(one) for one in transactions.shared])
    for name, ones in numbered(OPEN, transactions.opened(), lambda one: one.number, OPEN_SIZE):
        writing = Writing()
        yield name, writing.part([[one.number, one.ticket, writing.plain(one.steps)] for one in ones])
    for number, reseller in enumerate(state.resellers.values()):
        for place, content in enumerate(reseller.wallet.entries.contents()):
            yield f"{ENTRIES}/{number}/{place}", content


def unchanging(state: State) -> dict[str, bytes]:
    """The parts that stay the same objects until something in them changes."""
    found = {f"{PAYMENTS}/{place}": content for place, content in state.transactions.sealed()}
    for number, reseller in enumerate(state.resellers.values()):
        found |= {f"{ENTRIES}/{number}/{place}": one for place, one in enumerate(reseller.wallet.entries.sealed())}
    return found


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Have all transactions, which their resellers have again; those that are settled are read when somebody asks."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    with opened(parts, SHARED, type_=list[Any]) as (reading, values):
        state.transactions.shared.restore(map(reading.value, values))
    for name, content in parts_of_log(parts, PAYMENTS):
        with reading_part(name):
            for code, refids, found in state.transactions.restore(content):
                state.resellers[code].refids.restore(zip(refids, found, strict=True))
                numbers[code].extend(found)
    processing = _reopen(state, parts)
    for code, of_reseller in numbers.items():
        state.resellers[code].records.history.restore(of_reseller, processing[code])


def _reopen(state: State, parts: Mapping[str, bytes]) -> dict[str, int]:
    """Have the open ones as they were. Answers how many are processing, by reseller."""
    processing: defaultdict[str, int] = defaultdict(int)
    for name, _ in parts_of_log(parts, OPEN):
        with opened(parts, name) as (reading, rows):
            for number, ticket, steps in rows:
                one = state.transactions.reopen(number, reading.value(steps), ticket)
                processing[one.reseller] += one.result.status is PROCESSING
    return processing


def restore_entries(wallet: Wallet, parts: Mapping[str, bytes], number: int) -> None:
    """Have the entries of the wallet of the reseller with this number among all."""
    for name, content in parts_of_log(parts, f"{ENTRIES}/{number}"):
        with reading_part(name):
            wallet.entries.restore(content)
