"""An agenda that was restored from its parts, which stay packed until somebody asks, is as the one that was kept."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.due import StepDue
from simulator.domain.model.agenda import Agenda
from simulator.domain.model.packed.blocks import Block
from simulator.domain.model.packed.due_parts import DueParts
from simulator.domain.model.part_counts import SIZE
from tests.support.worlds import START, seconds

END = START + timedelta(days=365)
COUNT = 3 * SIZE + 100


def filled(count: int = COUNT) -> Agenda[Any]:
    """Steps at times that come in another order than their tickets, and now and then something else."""
    agenda: Agenda[Any] = Agenda(StepDue)
    for number in range(count):
        due = seconds(number * 7919 % 1_009)
        agenda.add(due, f"other {number}" if number % 100 == 0 else StepDue(number, number % 3))
    return agenda


def again(agenda: Agenda[Any]) -> Agenda[Any]:
    """Another one, with what a snapshot has of this one."""
    other: Agenda[Any] = Agenda(StepDue)
    for part in agenda.many.parts():
        other.many.restore(agenda.many.content(part))
    other.restore(dict(agenda.others()), agenda.added)
    return other


def popped(agenda: Agenda[Any]) -> list[Any]:
    return [(due.at, due.item) for due in iter(lambda: agenda.pop_due(END), None)]


def packed_parts(agenda: Agenda[Any]) -> int:
    return sum(agenda.many.is_packed(part * SIZE) for part in agenda.many.parts())


def test_what_was_restored_happens_in_the_same_order() -> None:
    agenda = filled()
    restored = again(agenda)
    assert packed_parts(restored) == 3
    assert len(restored) == len(agenda) == COUNT
    assert popped(restored) == popped(agenda)
    assert (len(restored), restored.many.parts(), restored.next_due) == (0, [], None)


def test_it_is_read_in_order_and_stays_packed() -> None:
    agenda = filled()
    restored = again(agenda)
    assert list(restored.in_order(10 * COUNT)) == list(agenda.in_order(10 * COUNT))
    assert sorted(restored.waiting(), key=lambda one: one[1]) == sorted(agenda.waiting(), key=lambda one: one[1])
    assert packed_parts(restored) == 3


def test_the_same_parts_are_kept_of_it_and_none_is_opened_for_that() -> None:
    agenda = filled()
    restored = again(agenda)
    contents = [agenda.many.content(part) for part in agenda.many.parts()]
    assert [restored.many.content(part) for part in restored.many.parts()] == contents
    assert packed_parts(restored) == 3
    popped_some = [restored.pop_due(seconds(3)) for _ in range(5)]
    assert popped_some == [agenda.pop_due(seconds(3)) for _ in range(5)]
    contents = [agenda.many.content(part) for part in agenda.many.parts()]
    assert [restored.many.content(part) for part in restored.many.parts()] == contents


def test_who_cancels_a_step_opens_its_part_alone() -> None:
    restored = again(filled())
    restored.cancel(SIZE + 5)
    restored.cancel(SIZE + 5)
    assert (packed_parts(restored), len(restored)) == (2, COUNT - 1)
    assert restored.many.removed == {1: 1}


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["cancel", "add", "pop", "again", "order"]), st.integers(0, COUNT + 9))))
def test_whatever_happens_to_both_they_stay_the_same(steps: list[tuple[str, int]]) -> None:
    agenda = filled(2 * SIZE + 50)
    restored = again(agenda)
    for what, number in steps:
        if what == "cancel":
            agenda.cancel(number)
            restored.cancel(number)
        elif what == "add":
            ticket = agenda.add(seconds(number), StepDue(number, 0))
            assert restored.add(seconds(number), StepDue(number, 0)) == ticket
        elif what == "pop":
            assert restored.pop_due(seconds(number)) == agenda.pop_due(seconds(number))
        elif what == "again":
            restored = again(restored)
        else:
            places = 4 * COUNT
            assert [*restored.in_order(places)] == [*agenda.in_order(places)]
        assert (len(restored), restored.next_due, restored.added) == (len(agenda), agenda.next_due, agenda.added)
    assert popped(restored) == popped(agenda)


@pytest.mark.parametrize("columns", [((START, 5), [], []), ((START, 5), [5, SIZE + 5], [[START, [1, 1]]] * 2)])
def test_a_part_with_other_tickets_than_its_own_is_refused(columns: Any) -> None:
    with pytest.raises(ValueError, match="not its own"):
        DueParts(StepDue).restore(Block.of((), columns).content)


def test_a_part_that_is_there_twice_is_refused() -> None:
    content = filled().many.content(0)
    parts: DueParts[Any] = DueParts(StepDue)
    parts.restore(content)
    with pytest.raises(ValueError, match="not its own"):
        parts.restore(content)
