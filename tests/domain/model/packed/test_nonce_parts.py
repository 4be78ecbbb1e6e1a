"""Nonces that stay packed when they are restored are spent, refused and forgotten as if they did not."""

from datetime import timedelta
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.nonces import Nonces
from simulator.domain.model.packed.nonce_parts import NonceParts, Row, part_of, rows_in
from simulator.domain.model.part_counts import SIZE
from tests.support.worlds import seconds

WALL_S = 1_795_250_000
WINDOW_S = 600
COUNT_MAX = 9
NUMBERS = range(10_000)


class Use(NamedTuple):
    """Something spends a nonce so much later, in seconds; and what did so may be undone."""

    scope: str
    nonce: bytes
    passes_s: int
    is_undone: bool


USES = st.lists(
    st.builds(Use, st.sampled_from("ab"), st.sampled_from([b"1", b"2", b"3", b"4"]), st.sampled_from([0, 1, 250, 600]),
              st.booleans()),
    max_size=25,
)  # fmt: skip


def play(uses: list[Use], begin_s: int, *them: Nonces) -> int:
    """Let all of them spend the same, and answer the same. Answers the time at the end."""
    at_s = begin_s
    for use in uses:
        at_s += use.passes_s
        now, stamp = seconds(at_s), WALL_S + at_s
        assert len({one.is_spent(use.scope, use.nonce, stamp, now) for one in them}) == 1
        (is_new,) = {one.spend(use.scope, use.nonce, stamp, now, float(stamp)) for one in them}
        for one in them:
            if is_new and use.is_undone:
                one.take_back(use.scope, use.nonce)
    return at_s


def memory(count_max: int = COUNT_MAX) -> Nonces:
    return Nonces(timedelta(seconds=WINDOW_S), 300.0, count_max)


def restored(original: Nonces, size: int, *, has_filter: bool, count_max: int = COUNT_MAX) -> Nonces:
    """As a snapshot restores it, in parts of so many nonces, of which the newest is not packed."""
    rows = list(original.items())
    parts = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
    packed = NonceParts()
    for part in parts[:-1] if has_filter else ():
        assert packed.add(part_of(part, has_filter=True), NUMBERS)
    made, (until, latest, added) = memory(count_max), original.kept()
    made.restore(packed, rows[len(packed) :], until, latest, added)
    return made


@given(USES, USES, st.integers(1, 4))
def test_packed_or_not_they_do_the_same(before: list[Use], after: list[Use], size: int) -> None:
    original = memory()
    at_s = play(before, 0, original)
    packed, loose = (restored(original, size, has_filter=has_filter) for has_filter in (True, False))
    assert list(packed.items()) == list(loose.items()) == list(original.items())
    play(after, at_s, packed, loose, original)
    assert list(packed.items()) == list(loose.items()) == list(original.items())
    assert list(packed.newest_first()) == list(packed.items())[::-1]
    assert len(packed) == len(list(packed.items())) == len(original)
    assert (packed.kept(), packed.parts) == (original.kept(), original.parts)
    assert {part for part, count in packed.removed.items() if count} == {
        part for part, count in loose.removed.items() if count
    }


def spent(count: int, count_max: int) -> Nonces:
    original = memory(count_max)
    for number in range(count):
        assert original.spend("key", b"%d" % number, WALL_S, seconds(0), float(WALL_S))
    return original


def test_a_nonce_that_is_new_unpacks_nothing_and_one_that_is_not_is_refused() -> None:
    packed = restored(spent(4_000, 10_000), 1_000, has_filter=True, count_max=10_000)

    def unpacked() -> int:
        return (
            len(list(packed._spent.items())) + len(packed._oldest) + len(packed._order) - 2 * 1_000
        )  # the newest part

    assert unpacked() == 0
    assert all(packed.spend("key", b"new %d" % number, WALL_S, seconds(0), float(WALL_S)) for number in range(500))
    assert unpacked() == 2 * 500
    assert not any(packed.spend("key", b"%d" % number, WALL_S, seconds(0), float(WALL_S)) for number in range(4_000))
    assert packed.spend("another", b"7", WALL_S, seconds(0), float(WALL_S)), "each scope has its own"
    assert unpacked() == 2 * 501


def test_beyond_the_count_the_oldest_part_alone_is_unpacked() -> None:
    packed = restored(spent(4_000, 4_000), 1_000, has_filter=True, count_max=4_000)
    assert packed.spend("key", b"new", WALL_S, seconds(0), float(WALL_S))
    assert len(packed) == 4_000
    assert [len(packed._oldest), len(packed._order), len(packed._packed._left)] == [999, 1_001, 2]
    assert packed.spend("key", b"0", WALL_S, seconds(0), float(WALL_S)), "it is forgotten"
    assert not packed.spend("key", b"2", WALL_S, seconds(0), float(WALL_S))


@pytest.mark.parametrize("has_filter", [True, False])
def test_a_part_is_read_as_it_was_written(has_filter: bool) -> None:
    rows: list[Row] = [(("key", b"\xff"), (seconds(1), WALL_S, 7)), (("", b""), (seconds(0.25), -1, 9))]
    part = part_of(rows, has_filter=has_filter)
    assert list(rows_in(part, NUMBERS)) == rows
    assert NonceParts().add(part, NUMBERS) is has_filter


def test_a_fork_shares_what_its_original_holds_and_counts_what_it_made_of_packed_parts_for_itself() -> None:
    original = restored(spent(10, 100), 3, has_filter=True, count_max=100)
    assert original.spend("key", b"new", WALL_S, seconds(0), float(WALL_S))
    fork = memory(100)
    rows = list(rows_in(part_of(list(original.items()), has_filter=False), NUMBERS))
    fork.restore(NonceParts(), rows, *original.kept())
    later = WALL_S + WINDOW_S
    assert original.spend("key", b"9", later, seconds(WINDOW_S), float(WALL_S)), "one in the middle is another then"
    assert original.spend("key", b"newer", later, seconds(WINDOW_S), float(WALL_S))
    assert fork.share(original.held()) == 6 + 1, "two parts that are packed still, and the one that is another"
    assert list(fork.items()) == rows
    shared = [one[1] for one, _ in fork.items() if any(one is other for other, _ in original.held())]
    assert shared == [b"0", b"1", b"2", b"new"]


def altered(place: int, column: object, *, has_filter: bool = True) -> bytes:
    """A part of two nonces, one column of which is another."""
    rows = [(("a", b"b"), (seconds(1), 2, 3)), (("c", b"d"), (seconds(2), 3, 4))]
    columns = msgspec.msgpack.decode(part_of(rows, has_filter=has_filter))
    columns[place] = column
    return msgspec.msgpack.encode(columns)


NO_PARTS: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "truncated"),
    ("another array", b"\x90", "at least length 6"),
    ("another value", b"another", "got `int`"),
    ("one that is cut", altered(1, [0, 1])[:-1], "truncated"),
    ("too few places", altered(1, [0]), "as many rows each"),
    ("too many nonces", altered(2, [b"b", b"d", b"e"]), "as many rows each"),
    ("a place beyond the scopes", altered(1, [0, 2]), "a scope that is not there"),
    ("a place before the scopes", altered(1, [0, -1]), "a scope that is not there"),
    ("a nonce that is a number", altered(2, [b"b", 7]), "got `int`"),
    ("a time without a zone", altered(3, ["2026-11-21T04:00:00"] * 2), "timezone"),
    ("numbers that are the same", altered(5, [3, 3]), "do not ascend"),
    ("numbers that descend", altered(5, [4, 3]), "do not ascend"),
    ("numbers of another part", altered(5, [3, 10_000]), "not those from 0 to 9999"),
]


@pytest.mark.parametrize(("part", "why"), [row[1:] for row in NO_PARTS], ids=[row[0] for row in NO_PARTS])
def test_what_is_no_part_is_refused(part: bytes, why: str) -> None:
    for read in (rows_in, NonceParts().add):
        with pytest.raises(ValueError, match=why):
            read(part, NUMBERS)


def test_a_part_without_any_nonce_is_none() -> None:
    part = msgspec.msgpack.encode([[], [], [], [], [], []])
    with pytest.raises(ValueError, match="at least one"):
        NonceParts().add(part, NUMBERS)


@pytest.mark.parametrize(
    ("filter_", "why"), [(bytes(SIZE * 4), "of other nonces"), (bytes(8), "another size")], ids=["zeros", "a small one"]
)
def test_a_filter_that_cannot_be_that_of_the_part_is_refused(filter_: bytes, why: str) -> None:
    packed = NonceParts()
    assert packed.add(altered(5, [1, 2]), NUMBERS)
    with pytest.raises(ValueError, match=why):
        packed.add(altered(6, filter_), NUMBERS)


def test_filters_are_let_go_with_the_last_part() -> None:
    packed = NonceParts()
    assert packed.add(altered(5, [1, 2]), NUMBERS)
    assert packed.find(("a", b"b")) is not None
    assert len(list(packed.take_oldest())) == 2
    assert packed.find(("a", b"b")) is None
    assert (packed._searched, packed._filters) == (None, [])


def test_the_oldest_part_is_taken_first_and_counted_no_more() -> None:
    rows: list[Row] = [(("a", b"%d" % number), (seconds(number), WALL_S + number, number)) for number in range(5)]
    parts = NonceParts()
    for begin, end in ((0, 3), (3, 5)):
        assert parts.add(part_of(rows[begin:end], has_filter=True), NUMBERS)
    assert (len(parts), list(parts), list(reversed(parts))) == (5, rows, rows[::-1])
    assert parts.find(("a", b"4")) == rows[4][1]
    assert list(parts.take_oldest()) == rows[:3]
    assert (len(parts), list(parts)) == (2, rows[3:])
    assert [parts.find(("a", nonce)) for nonce in (b"2", b"3", b"4", b"5")] == [None, rows[3][1], rows[4][1], None]
    assert list(parts.take_oldest()) == rows[3:]
    assert (len(parts), list(parts), parts.find(("a", b"4"))) == (0, [], None)
