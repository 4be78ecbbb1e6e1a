"""The agenda: what is due, in which order, and what is cancelled."""

from simulator.domain.agenda import Agenda
from tests.support.worlds import seconds


def test_the_agenda_is_ordered_by_time_then_by_insertion() -> None:
    agenda: Agenda[str] = Agenda()
    for at, item in ((5, "c"), (1, "a"), (5, "d"), (1, "b")):
        agenda.add(seconds(at), item)
    assert [due.item for _ in range(4) if (due := agenda.pop_due(seconds(5)))] == ["a", "b", "c", "d"]


def test_the_agenda_yields_no_early_and_no_cancelled_items() -> None:
    agenda: Agenda[str] = Agenda()
    ticket = agenda.add(seconds(1), "a")
    agenda.add(seconds(2), "b")
    agenda.cancel(ticket)
    agenda.cancel(ticket)
    assert (len(agenda), agenda.next_due) == (1, seconds(2))
    assert agenda.pop_due(seconds(1.9)) is None
    assert (due := agenda.pop_due(seconds(2))) is not None
    assert due.item == "b"
    assert agenda.next_due is None


def test_the_agenda_lists_what_is_to_come_in_order_and_looks_at_so_many_places() -> None:
    agenda: Agenda[str] = Agenda()
    tickets = {item: agenda.add(seconds(at), item) for at, item in ((5, "c"), (1, "a"), (3, "b"), (9, "d"), (7, "e"))}
    agenda.cancel(tickets["b"])
    assert list(agenda.in_order(9)) == [(seconds(at), item) for at, item in ((1, "a"), (5, "c"), (7, "e"), (9, "d"))]
    assert [item for _, item in agenda.in_order(2)] == ["a"], "the cancelled one has the second place"
    assert sorted((at, item) for at, _, item in agenda.waiting())[0] == (seconds(1), "a")
    assert (len(agenda), agenda.added) == (4, 5)


def test_the_agenda_cancels_all_of_some_types() -> None:
    agenda: Agenda[object] = Agenda()
    for at, item in ((3, "x"), (1, 5), (2, "y")):
        agenda.add(seconds(at), item)
    assert agenda.cancel_all(str) == ["x", "y"]
    assert (len(agenda), agenda.next_due) == (1, seconds(1))
