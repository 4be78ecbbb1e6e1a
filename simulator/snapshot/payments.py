"""The payments of a sandbox in a snapshot, and the entries of the wallets: in blocks, as the domain packs them."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from itertools import chain, groupby
from typing import Any, Final

from simulator.domain.model.packed.blocks import SIZE
from simulator.domain.model.packed.name_filter import NameFilters, filter_of, may_have
from simulator.domain.model.packed.refids import Refids
from simulator.domain.model.packed.transactions import Restored, Transactions
from simulator.domain.model.wallet import Wallet
from simulator.domain.state import State
from simulator.snapshot.chunks import parts_of_log
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import Writing, opened

PAYMENTS, SHARED, ENTRIES, REFIDS = "payments", "payments/shared", "entries", "refids"

FILTERED: Final = 64
"""How many whole blocks of payments a filter of their refids is of, which takes some 30 ms to make."""


def written(state: State, unchanged: Container[str] = (), *, has_filters: bool = False) -> Iterator[tuple[str, bytes]]:
    """The parts of all payments, then those of the wallets' entries; of the `unchanged` ones the names alone, if that
    saves something. With filters of refids, one that is not known is known to be new before all refids are indexed."""
    transactions = state.transactions
    known = {place for place in range(len(transactions.changes)) if f"{PAYMENTS}/{place}" in unchanged}
    for place, content in enumerate(transactions.contents(known)):
        yield f"{PAYMENTS}/{place}", content
    for name, blocks in _filtered(state) if has_filters else ():
        yield name, b"" if name in unchanged else _filter(transactions, blocks)
    writing = Writing()
    yield SHARED, writing.part([writing.plain(one) for one in transactions.shared])
    for number, reseller in enumerate(state.resellers.values()):
        begin, entries = f"{ENTRIES}/{number}", reseller.wallet.entries
        known = {place for place in range(len(entries) // SIZE) if f"{begin}/{place}" in unchanged}
        for place, content in enumerate(entries.contents(known)):
            yield f"{begin}/{place}", content


def changes(state: State) -> dict[str, object]:
    """What tells which of the parts have changed since somebody asked last, by their names."""
    found: dict[str, object] = {f"{PAYMENTS}/{place}": count for place, count in enumerate(state.transactions.changes)}
    found |= {name: True for name, _ in _filtered(state)}  # a refid stays
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
                found[state.resellers[one.reseller].code].append(one)
    groups = _filters(parts, state.transactions)
    filters = NameFilters(list(groups.values())) if groups else None  # the same for all: a million payments have 4 MB
    for code, ones in found.items():
        _restore_refids(state.resellers[code].refids, ones, list(groups), filters)
        numbers = chain.from_iterable(one.numbers for one in ones)
        state.resellers[code].records.history.restore(numbers, sum(one.processing for one in ones))


def _restore_refids(refids: Refids, ones: list[Restored], groups: list[int], filters: NameFilters | None) -> None:
    """Let a reseller have its refids; of these groups there are filters, in this order."""
    own = {group: [one.named for one in some] for group, some in groupby(ones, _group_of)}
    refids.restore(chain.from_iterable(some for group, some in own.items() if group not in groups))
    if filters is not None:
        filtered = {place: own[group] for place, group in enumerate(groups) if group in own}
        refids.restore_by_filter(filtered, filters)


def _group_of(one: Restored) -> int:
    return one.numbers[0] // SIZE // FILTERED


def _filtered(state: State) -> Iterator[tuple[str, range]]:
    """The names of the filters, and the blocks whose payments each is of."""
    for group in range(len(state.transactions) // SIZE // FILTERED):
        yield f"{REFIDS}/{group}", range(group * FILTERED, (group + 1) * FILTERED)


def _filter(transactions: Transactions, blocks: range) -> bytes:
    """Of the refids of these blocks, which are whole."""
    return filter_of([one.encode() for one in transactions.refids(blocks)], SIZE * len(blocks))


def _filters(parts: Mapping[str, bytes], transactions: Transactions) -> dict[int, bytes]:
    """By the numbers of their groups. An earlier version wrote none."""
    found: dict[int, bytes] = {}
    for name, content in parts_of_log(parts, REFIDS):
        with reading_part(name):
            group = int(name.removeprefix(f"{REFIDS}/"))
            if (group + 1) * FILTERED * SIZE > len(transactions):
                raise ValueError("it is of more payments than there are")
            if len(content) != len(next(iter(found.values()), content)):
                raise ValueError("it has another size than those before")
            begin = group * FILTERED
            first, *_ = transactions.refids(range(begin, begin + 1))
            if not may_have(content, first.encode()):
                raise ValueError("it is a filter of other refids")
            found[group] = content
    return found


def restore_entries(wallet: Wallet, parts: Mapping[str, bytes], number: int) -> None:
    """Have the entries of the wallet of the reseller with this number among all."""
    for name, content in parts_of_log(parts, f"{ENTRIES}/{number}"):
        with reading_part(name):
            wallet.entries.restore(content)
