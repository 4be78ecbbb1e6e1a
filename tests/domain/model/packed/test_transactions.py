"""All transactions of a sandbox: who finds which, what is packed when, and blocks from which they are made again."""

from collections import deque
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from simulator.domain.commands import OpenCase, SetCallback
from simulator.domain.model.cases import CaseKind, CaseThen
from simulator.domain.model.packed.blocks import SIZE, Block
from simulator.domain.model.packed.late_index import LateIndex, Named
from simulator.domain.model.packed.name_filter import NameFilters, filter_of
from simulator.domain.model.packed.refids import Refids
from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import Status, Transaction
from simulator.domain.sandbox import Sandbox
from tests.support.collector import visited
from tests.support.worlds import ACCEPTED, after, fire_due, order, pay, rule, sandbox, seconds

SLOW = rule(ACCEPTED, after(100, Status.SUCCESSFUL), id_="slow", when=lambda facts: facts["account"] == "999")
VOIDED = Rule("v", lambda facts: True, CaseThen(is_accepted=True, refund_after=timedelta(seconds=1)))


def filled(count: int, *slow: int) -> Sandbox:
    """So many payments, which are settled after 5 s but for slow ones."""
    box = sandbox(SLOW, voids=(VOIDED,), balance="100000000")
    for number in range(count):
        pay(box, order(f"ref-{number}", amount=1, account="999" if number in slow else "123456"))
    fire_due(box, seconds(5))
    return box


def statuses(transactions: Transactions) -> list[Status]:
    return [one.result.status for one in transactions.values()]


def void(box: Sandbox, number: int, at: float) -> None:
    box.apply(OpenCase(CaseKind.VOID, "R1", f"ref-{number}"), seconds(at))
    fire_due(box, seconds(at + 1))


def test_an_open_transaction_is_one_object_and_a_settled_one_is_a_copy_each_time() -> None:
    box = filled(3, 1)
    transactions, refids = box.state.transactions, box.state.resellers["R1"].refids
    trxids = list(transactions)
    assert transactions[trxids[1]] is transactions[trxids[1]] is refids["ref-1"] is transactions.numbered(1)
    first, again = transactions[trxids[0]], transactions[trxids[0]]
    assert first is not again
    assert msgspec.structs.astuple(first) == msgspec.structs.astuple(again)
    first.results = ()
    assert refids["ref-0"].result.status is Status.SUCCESSFUL, "nobody changes it by changing a copy"


def test_they_are_found_by_trxid_refid_and_number_and_in_their_order() -> None:
    box = filled(SIZE + 3, SIZE)
    transactions, refids = box.state.transactions, box.state.resellers["R1"].refids
    names = [f"ref-{number}" for number in range(SIZE + 3)]
    assert [one.refid for one in transactions.values()] == list(refids) == names
    assert [one.refid for one in reversed(transactions.values())] == names[::-1]
    assert [one.refid for one in reversed(box.state.resellers["R1"].records.history)] == names[::-1]
    for number in (0, SIZE - 1, SIZE, SIZE + 2):
        one = transactions.numbered(number)
        assert (one.number, transactions[one.trxid].refid, refids[one.refid].trxid) == (
            number,
            names[number],
            one.trxid,
        )
        assert transactions.number_of(one.trxid) == refids.number_of(one.refid) == number
    assert "none" not in transactions
    assert "none" not in refids
    assert refids.find("none") is transactions.get("none") is None
    assert transactions.number_of("none") is refids.number_of("none") is None
    with pytest.raises(KeyError):
        refids["none"]


def test_a_void_is_seen_by_all_who_look_and_in_the_history() -> None:
    box = filled(2 * SIZE)
    before = box.state.transactions.numbered(7)
    void(box, 7, 10)
    assert before.result.status is Status.SUCCESSFUL
    assert box.state.transactions.numbered(7).result.status is Status.REFUNDED
    assert box.state.resellers["R1"].refids["ref-7"].result.status is Status.REFUNDED
    assert box.state.resellers["R1"].records.history.at(7).result.status is Status.REFUNDED
    assert statuses(box.state.transactions).count(Status.REFUNDED) == 1
    assert box.violations() == []


def test_a_moment_has_all_of_them_as_they_were() -> None:
    box = filled(SIZE + 5, 2, SIZE + 1)
    transactions = box.state.transactions
    then, wanted = transactions.as_they_are(), statuses(transactions)
    void(box, 0, 10)
    void(box, SIZE, 10)
    pay(box, order("later", amount=1), at=20)
    fire_due(box, seconds(200))
    assert len(then) == SIZE + 5
    assert [results[-1].status for _, results in then] == wanted
    assert [one.refid for one, _ in then[SIZE - 1 : SIZE + 2]] == [f"ref-{SIZE + each}" for each in (-1, 0, 1)]
    assert then[-1][0].number == SIZE + 4
    with pytest.raises(IndexError):
        then[SIZE + 5]
    assert statuses(transactions)[0] is Status.REFUNDED


def test_a_block_is_the_same_object_until_one_of_it_changes() -> None:
    box = filled(3 * SIZE + 1, SIZE)
    transactions = box.state.transactions

    def same(before: list[bytes]) -> list[bool]:
        return [one is other for one, other in zip(before, transactions.contents(), strict=True)]

    first = list(transactions.contents())
    assert same(first) == [True, False, True, False], "the second has an open one, the fourth is not whole"
    assert list(transactions.contents()) == first
    fire_due(box, seconds(100))
    second = list(transactions.contents())
    assert same(second) == [True, True, True, False]
    void(box, 1, 110)
    assert same(second) == [False, True, True, False]
    third = list(transactions.contents())
    assert same(third) == [True, True, True, False]


def restored(transactions: Transactions) -> Transactions:
    """What is made of the blocks."""
    again = Transactions()
    again.shared.restore(transactions.shared)
    found: dict[int, tuple[str, str]] = {}
    for content in transactions.contents():
        for code, numbers, named, processing in again.restore(content):
            found |= {number: (code, refid) for refid, number in named()}
            of_block = [transactions.numbered(number).result.status for number in numbers]
            assert processing == of_block.count(Status.PROCESSING)
    assert found == {one.number: (one.reseller, one.refid) for one in transactions.values()}
    return again


@pytest.mark.parametrize("count", [0, 1, SIZE - 1, SIZE, 2 * SIZE + 9])
def test_they_are_made_again_from_their_blocks(count: int) -> None:
    box = filled(count, 0, SIZE + 1)
    pay(box, order("foreign", amount=1, reseller="R2"), at=6)
    transactions = box.state.transactions
    again = restored(transactions)
    assert list(again) == list(transactions)
    for one, other in zip(again.values(), transactions.values(), strict=True):
        assert msgspec.structs.astuple(one) == msgspec.structs.astuple(other)
    opened = [one.number for one in transactions.values() if one.steps]
    assert [one.number for one in again.values() if one.steps] == opened
    assert opened == ([0, SIZE + 1] * (count > SIZE) or [0][:count]) + [count]
    assert all(again.numbered(number) is again.numbered(number) for number in opened)
    assert list(again.contents()) == list(transactions.contents())


def test_a_restored_open_one_goes_on_as_it_was_and_its_block_is_packed_when_it_is_settled() -> None:
    box = filled(SIZE, 5)
    again = restored(box.state.transactions)
    assert again.shown(5) is not again.shown(5), "nobody needs it yet"
    assert msgspec.structs.astuple(again.shown(5)) == msgspec.structs.astuple(box.state.transactions.numbered(5))
    one, same = again.numbered(5), again.numbered(5)
    assert one is same is again.shown(5)
    fire_due(box, seconds(100))
    one.results, one.steps, one.ticket = box.state.transactions.numbered(5).results, (), None
    again.keep(one)
    assert list(again.contents()) == list(box.state.transactions.contents())
    [content] = again.contents()
    assert next(again.contents()) is content, "it is packed"


def test_a_block_counts_its_changes_also_those_that_leave_it_open() -> None:
    box = filled(SIZE + 1, 3)
    transactions = box.state.transactions

    def changed(do: Callable[[], object]) -> list[int]:
        before = list(transactions.changes)
        do()
        return [place for place, count in enumerate(transactions.changes) if before[place : place + 1] != [count]]

    assert changed(lambda: list(transactions.contents())) == []
    assert changed(lambda: pay(box, order("ref-3", amount=1, account="999"), at=6)) == [0]
    assert changed(lambda: pay(box, order("another", amount=1), at=7)) == [1]
    assert changed(lambda: fire_due(box, seconds(100))) == [0, 1]
    assert changed(lambda: void(box, SIZE, 110)) == [1]
    assert next(iter(transactions.contents(unwanted={0}))) == b""


def test_blocks_that_do_not_belong_behind_each_other_are_refused() -> None:
    whole, rest = filled(SIZE + 1).state.transactions.contents()
    for wrong in ((rest, whole), (Block.of([], [[], [], [], [], 0, []]).content,), (b"nothing",)):
        with pytest.raises(ValueError, match=r"not whole|too short"):
            list(map(Transactions().restore, wrong))


def test_restored_ones_are_indexed_when_somebody_looks_for_one() -> None:
    box = filled(2 * SIZE + 1)
    trxids = list(box.state.transactions)
    restored = Transactions()
    restored.shared.restore(box.state.transactions.shared)
    for content in box.state.transactions.contents():
        restored.restore(content)
    newer = filled(2 * SIZE + 2).state.transactions.numbered(2 * SIZE + 1)
    restored.add(newer)
    assert restored[newer.trxid] is newer
    assert [number for number, trxid in enumerate(trxids) if restored.number_of(trxid) != number] == []
    assert list(restored) == [*trxids, newer.trxid]
    assert "another" not in restored


def test_a_trxid_that_is_there_twice_is_noticed() -> None:
    whole, _ = filled(SIZE + 1).state.transactions.contents()
    twice = Transactions()
    for _ in range(2):
        twice.restore(whole)
    with pytest.raises(AssertionError, match="twice"):
        list(twice.index_in_slices())


def test_finished_payments_leave_nothing_to_the_collector() -> None:
    box = sandbox(balance="100000000")
    box.apply(SetCallback("R1", "", ""), seconds(0))

    def objects(begin: int, count: int) -> int:
        for number in range(begin, begin + count):
            pay(box, order(f"ref-{number}", amount=1), at=begin)
        fire_due(box, seconds(begin + 50))
        return visited()

    before = objects(0, 3 * SIZE)
    grown = objects(3 * SIZE, 10 * SIZE) - before
    assert grown < SIZE, "a block or two of the log and of transactions"
    slots = [row for rows in box.state.transactions._blocks for row in rows]
    assert not any(isinstance(one, Transaction) for one in slots)


def test_refids_are_indexed_when_somebody_looks_for_one() -> None:
    box = filled(2 * SIZE + 1)
    refids = dict(box.state.resellers["R1"].refids)
    restored = Transactions()
    restored.shared.restore(box.state.transactions.shared)
    found = [one for content in box.state.transactions.contents() for one in restored.restore(content)]
    own = Refids(restored)
    own.restore(one.named for one in found)
    assert "another" not in own
    assert {refid: one.trxid for refid, one in own.items()} == {refid: one.trxid for refid, one in refids.items()}


def test_with_a_filter_nothing_is_indexed_for_a_refid_that_is_new() -> None:
    """Of two groups of blocks, the one is indexed that has what somebody looks for."""
    box = filled(2 * SIZE)
    all_ = Transactions()
    all_.shared.restore(box.state.transactions.shared)
    found = [one for content in box.state.transactions.contents() for one in all_.restore(content)]
    names = [list(all_.refids(range(place, place + 1))) for place in range(2)]
    assert names == [[refid for refid, _ in one.named()] for one in found]
    own = Refids(all_)
    filters = NameFilters([filter_of([refid.encode() for refid in some], SIZE) for some in names])
    own.restore_by_filter({place: [one.named] for place, one in enumerate(found)}, filters)
    news = [f"new-{number}" for number in range(1_000)]
    assert not any(refid in own for refid in news)
    assert len(list(own._numbers.items())) == 0
    assert own.number_of(names[1][3]) == SIZE + 3
    assert len(list(own._numbers.items())) == SIZE
    assert own._numbers._filters is filters
    assert [own.number_of(name) for name in (*names[0], *names[1])] == list(range(2 * SIZE))
    assert own._numbers._filters is None, "nobody needs them any more"


def test_a_part_that_somebody_looked_for_between_two_slices_is_indexed_once() -> None:
    index = LateIndex()
    told: list[str] = []

    def telling(name: str, number: int) -> Named:
        def tell() -> list[tuple[str, int]]:
            told.append(name)
            return [(name, number)]

        return tell

    groups = [[telling(f"{group}{number}", number) for number in range(3)] for group in "ab"]
    names = [[f"{group}{number}".encode() for number in range(3)] for group in "ab"]
    index.later_by_filter(dict(enumerate(groups)), NameFilters([filter_of(some, 3) for some in names]))
    slices = index.index_in_slices()
    next(slices)
    assert told == ["a2"]
    assert index.find("a0") == 0
    deque(slices, maxlen=0)
    assert sorted(told) == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert index.is_whole
    assert len(index) == 6
    assert index._filters is None


def test_each_reseller_has_its_own_refids_of_a_block_of_several() -> None:
    rows = [f"row {number}".encode() for number in range(4)]
    content = Block.of(rows, (list("abcd"), ["r1", "r2", "r1", "r3"], ["R1", "R2"], [0, 1, 1, 0], 0, [0, 0])).content
    found = {one.reseller: (list(one.numbers), dict(one.named())) for one in Transactions().restore(content)}
    assert found == {"R1": ([0, 3], {"r1": 0, "r3": 3}), "R2": ([1, 2], {"r2": 1, "r1": 2})}
