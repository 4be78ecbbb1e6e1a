"""Filters of names: they have what they are of, and hardly anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.packed.name_filter import BITS, NameFilter, hashes_of

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=50)


@given(NAMES)
def test_it_may_have_each_of_its_names_also_when_it_is_read_again(names: list[str]) -> None:
    made = NameFilter.of(names)
    assert len(made.content) == BITS * len(names) // 8
    assert all(NameFilter(made.content).may_have(hashes_of(name)) for name in names)


def test_it_has_hardly_any_other_name() -> None:
    made = NameFilter.of([f"name {number}" for number in range(1_000)])
    assert sum(made.may_have(hashes_of(f"other {number}")) for number in range(20_000)) <= 2


def test_the_same_names_leave_the_same_bytes_in_any_order() -> None:
    assert NameFilter.of(["a", "b", "c"]).content == NameFilter.of(["c", "a", "b"]).content


def test_nothing_is_no_filter() -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        NameFilter(b"")
