"""The payments of a sandbox in a snapshot, and the entries of the wallets: in blocks, as the domain packs them."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from itertools import chain
from typing import Any

from simulator.domain.model.packed.transactions import Restored
from simulator.domain.model.wallet import Wallet
from simulator.domain.state import State
from simulator.snapshot.chunks import parts_of_log
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import Writing, opened

PAYMENTS, SHARED, ENTRIES = "payments", "payments/shared", "entries"


def written(state: State, unchanged: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The parts of all payments, then those of the wallets' entries; of the `unchanged` ones the names alone, if that
    saves something."""
    transactions = state.transactions
    known = {place for place, _ in enumerate(transactions.changes) if f"{PAYMENTS}/{place}" in unchanged}
    for place, content in enumerate(transactions.contents(known)):
        yield f"{PAYMENTS}/{place}", content
    writing = Writing()
    yield SHARED, writing.part([writing.plain(one) for one in transactions.shared])
    for number, reseller in enumerate(state.resellers.values()):
        for place, content in enumerate(reseller.wallet.entries.contents()):
            name = f"{ENTRIES}/{number}/{place}"
            yield name, b"" if name in unchanged else content


def changes(state: State) -> dict[str, object]:
    """What tells which of the parts have changed since somebody asked last, by their names."""
    found: dict[str, object] = {f"{PAYMENTS}/{place}": count for place, count in enumerate(state.transactions.changes)}
    for number, reseller in enumerate(state.resellers.values()):
        sealed = reseller.wallet.entries.sealed()
        found |= {f"{ENTRIES}/{number}/{place}": content for place, content in enumerate(sealed)}
    return found


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Have all transactions, which their resellers have again; those that are settled are read when somebody asks."""
    found: defaultdict[str, list[Restored]] = defaultdict(list)
    with opened(parts, SHARED, type_=list[Any]) as (reading, values):
        state.transactions.shared.restore(map(reading.value, values))
    for name, content in parts_of_log(parts, PAYMENTS):
        with reading_part(name):
            for one in state.transactions.restore(content):
                found[one.reseller].append(one)
    for code, ones in found.items():
        reseller = state.resellers[code]
        reseller.refids.restore(one.named for one in ones)
        numbers = chain.from_iterable(one.numbers for one in ones)
        reseller.records.history.restore(numbers, sum(one.processing for one in ones))


def restore_entries(wallet: Wallet, parts: Mapping[str, bytes], number: int) -> None:
    """Have the entries of the wallet of the reseller with this number among all."""
    for name, content in parts_of_log(parts, f"{ENTRIES}/{number}"):
        with reading_part(name):
            wallet.entries.restore(content)
