"""The bounds of a tape, and what is taken of it while requests wait."""

from datetime import UTC, datetime

import pytest

from simulator.domain.commands import RecordTime
from simulator.persistence.tape.entries import CommandApplied, RequestBegan, RequestRecord, RequestResumed
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape
from simulator.runtime.journal import Exchange
from tests.support.client import running

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def command() -> CommandApplied:
    return CommandApplied(NOW, RecordTime())


def exchange(n: int = 0) -> Exchange:
    return Exchange(at=NOW, method="GET", path="/", query=b"", packed_headers=b"", client="127.0.0.1", n=n)


@pytest.mark.parametrize(("entries_max", "bytes_max"), [(3, 10**9), (10**9, 3 * ENTRY_BYTES)])
def test_a_full_tape_keeps_the_first_entries_and_counts_the_others(entries_max: int, bytes_max: int) -> None:
    tape, entries = Tape(entries_max, bytes_max), [command() for _ in range(5)]
    for entry in entries:
        tape.add(entry)
    assert [id(entry) for entry in tape] == [id(entry) for entry in entries[:3]]
    assert (len(tape), tape.left_out, tape.bytes) == (3, 2, 3 * ENTRY_BYTES)


def test_a_tape_with_a_gap_takes_no_further_entries() -> None:
    tape = Tape(100, 1000)
    tape.add(command(), 900)
    tape.add(command(), 200)
    tape.add(command(), 1)
    assert (len(tape), tape.left_out) == (1, 2)


def test_the_recorded_head_of_a_waiting_request_never_changes() -> None:
    tape, waiting, answered = Tape(100, 10**6), exchange(), exchange(n=1)
    for one in (waiting, answered):
        tape.add(RequestBegan(one))
        tape.add(RequestResumed(one, NOW, NOW))
    taken = tape.frozen_entries()
    waiting.n, waiting.status = 2, 200
    began, resumed, other, _ = taken
    assert isinstance(began, RequestBegan)
    assert isinstance(resumed, RequestResumed)
    assert isinstance(other, RequestBegan)
    assert began.exchange is resumed.exchange
    assert (began.exchange.n, waiting.n) == (0, 2)
    assert other.exchange is answered


def test_the_bounds_are_the_scenario_s() -> None:
    with running({"limits": {"tape": 4}}) as client:
        for number in range(6):
            client.pay(f"r{number}")
        assert (len(client.live.tape), client.live.tape.left_out) == (4, 8)  # each waits once for its body
    with running({"limits": {"tape": 0}}) as client:
        client.pay("none")
        assert (len(client.live.tape), client.live.tape.left_out) == (0, 2)
    with running({"limits": {"tape_bytes": 8192}}) as client:
        for number in range(60):
            client.pay(f"r{number}", remarks="x" * 100)
        assert client.live.tape.bytes < 8192 + 2 * 4096
        assert client.live.tape.left_out > 50


def test_the_entries_refer_to_what_the_journal_keeps() -> None:
    with running() as client:
        client.pay("one")
        began = next(iter(client.live.tape))
        assert isinstance(began, RequestBegan)
        kept: RequestRecord | None = client.live.journal.find(1)
        assert began.exchange is kept
