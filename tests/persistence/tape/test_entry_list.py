"""The entries of a tape in memory: what is packed is the same when it is read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from simulator.domain.commands import EndAttempt, PassTime, RecordTime
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.persistence.replay.codec import entry_line
from simulator.persistence.tape.entries import (
    RUN,
    AttemptSent,
    ClockSet,
    CommandApplied,
    Entry,
    EntryList,
    InboxReceived,
    RequestBegan,
    RequestResumed,
    RequestShown,
    Resumption,
)
from simulator.persistence.tape.tape import Tape
from simulator.runtime.journal import Exchange

NOW = datetime(2026, 11, 21, 4, 30, 0, 123456, UTC)
ZONES = [UTC, timezone(timedelta(hours=8))]
COUNT = 4 * RUN + 5


def entries(zone: timezone) -> list[Entry]:
    """Return entries of all kinds, with their times in this zone."""
    found: list[Entry] = []
    while len(found) < COUNT:
        n = len(found)
        now, wall, job = (NOW + timedelta(days=n)).astimezone(zone), NOW + timedelta(seconds=n), f"cb-{n}"
        exchange = Exchange(at=now, method="GET", path="/", query=b"", packed_headers=b"", client="", n=n)
        result = AttemptResult(AttemptEnd.ANSWERED, 200, "OK")
        found += [
            exchange,
            RequestShown(exchange),
            RequestBegan(exchange),
            RequestResumed(exchange, now, wall, Resumption.GONE),
            CommandApplied(now, PassTime(200), ((job, 1), ("dlv-2", 3))),
            CommandApplied(now, PassTime()),
            AttemptSent(now, wall, job, 1, OutgoingRequest("POST", "http://127.0.0.1/", (("A", "b"),), b"{}")),
            AttemptSent(now, now.astimezone(UTC), job, 2, OutgoingRequest("GET", "http://127.0.0.1/")),
            CommandApplied(now, EndAttempt(job, 1, result)),
            CommandApplied(now, RecordTime(), trace=(("traceparent", "00"),), answer="done"),
            ClockSet(now, "xN", 2.5),
            InboxReceived(now, wall, "callbacks", "POST", b"", (), b"{}"),
        ]
    return found[:COUNT]


def tape_of(added: list[Entry]) -> Tape:
    tape = Tape(10**6, 10**9)
    for entry in added:
        tape.add(entry)
    return tape


def lines(found: "list[Entry] | EntryList") -> list[bytes]:
    numbers = {id(one.exchange): 1 for one in found if isinstance(one, RequestBegan)}
    return [entry_line(one, numbers) for one in found]


@pytest.mark.parametrize("zone", ZONES)
def test_packed_entries_are_read_as_they_were_and_share_the_records_of_requests(zone: timezone) -> None:
    added = entries(zone)
    found = list(tape_of(added))
    assert found == added
    assert lines(found) == lines(added)
    records = [(one.exchange, other.exchange) for one, other in zip(found, added, strict=True)
               if isinstance(one, RequestResumed) and isinstance(other, RequestResumed)]  # fmt: skip
    assert all(one is other for one, other in records)


@pytest.mark.parametrize("start", [0, 1, RUN - 1, RUN, 2 * RUN + 7, COUNT - 1, COUNT, COUNT + 9])
@pytest.mark.parametrize("stop", [None, 0, 3, RUN, RUN + 1, 3 * RUN, COUNT - 1, COUNT + 9])
def test_a_part_of_the_entries_is_that_of_a_list(start: int, stop: int | None) -> None:
    added = entries(UTC)
    part = tape_of(added).entries[start:stop]
    assert (list(part), len(part)) == (added[start:stop], len(added[start:stop]))


def test_what_was_taken_does_not_grow_with_the_tape() -> None:
    added = entries(UTC)
    tape = tape_of(added)
    for count in (None, RUN, COUNT - 3):
        taken = tape.frozen_entries(count)
        for entry in added:
            tape.add(entry)
        assert list(taken) == (added * 9)[: len(taken)]
        assert len(taken) == (len(tape) - COUNT if count is None else count)


def test_a_tape_that_continues_after_a_part_of_another_has_the_entries_of_both() -> None:
    added = entries(UTC)
    tape, first = Tape(COUNT + 1, 10**9), tape_of(added).frozen_entries(2 * RUN)
    tape.restore(first, 700, 0, 0)
    for entry in added:
        tape.add(entry)
    assert list(tape) == [*added[: 2 * RUN], *added][: COUNT + 1]
    assert (len(tape), tape.left_out) == (COUNT + 1, 2 * RUN - 1)
