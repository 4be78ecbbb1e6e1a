"""Filters of names: they have what they are of, and hardly anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.packed.name_filter import BITS, NameFilters, filter_of, hashes_of

GROUPS = st.lists(st.lists(st.binary(), max_size=20), min_size=1, max_size=12)


@given(GROUPS)
def test_each_filter_may_have_each_of_its_names(groups: list[list[bytes]]) -> None:
    contents = [filter_of(names, 20) for names in groups]
    assert {len(one) for one in contents} == {BITS * 20 // 8}
    filters = NameFilters(contents)
    for place, names in enumerate(groups):
        assert all(place in filters.that_may_have(hashes_of(name)) for name in names)


def test_they_have_hardly_any_other_name() -> None:
    names = [[f"name {place} {number}".encode() for number in range(1_000)] for place in range(10)]
    filters = NameFilters([filter_of(some, 1_000) for some in names])
    assert sum(len(list(filters.that_may_have(hashes_of(b"other %d" % number)))) for number in range(2_000)) <= 2
    assert sum(len(list(filters.that_may_have(hashes_of(name)))) for some in names for name in some) <= 10_002


def test_a_filter_that_has_no_name_has_none() -> None:
    assert list(NameFilters([filter_of([], 10)]).that_may_have(hashes_of(b"a"))) == []


def test_the_same_names_leave_the_same_bytes_in_any_order() -> None:
    assert filter_of([b"a", b"b", b"c"], 3) == filter_of([b"c", b"a", b"b"], 3)


def test_the_bits_of_a_name_are_where_the_format_says() -> None:
    """docs/tape.md: each of eight unsigned integers of a digest is the place of a bit, modulo their number."""
    content = filter_of([b"ref-1"], 4)
    places = {place for place in range(8 * len(content)) if content[place // 8] >> place % 8 & 1}
    assert places == {one % (BITS * 4) for one in hashes_of(b"ref-1")}
    assert len(hashes_of(b"ref-1")) == 8


@pytest.mark.parametrize("filters", [[], [b""], [b"a", b"bc"]])
def test_nothing_and_several_sizes_are_refused(filters: list[bytes]) -> None:
    with pytest.raises(ValueError, match="filters of names have one size"):
        NameFilters(filters)
