"""No answer leaves before its inputs are durable, and none at all when they cannot be."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import cast

import pytest

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.slots import Turn
from simulator.persistence.errors import LeaseLost, StoreError, WriteFailed
from simulator.persistence.gate import Gate, GatedSender
from simulator.persistence.store import Store
from simulator.server.transports import LEASE_LOST_ANSWER, GatedTransport
from tests.support.late_stores import LateStore
from tests.support.stores import append


class Written:
    """A transport that remembers what it was asked."""

    def __init__(self) -> None:
        self.did: list[object] = []
        self.has_left = False

    def write(self, data: bytes) -> None:
        if self.has_left:
            raise RuntimeError("unable to perform operation on a closed transport")
        self.did.append(data)

    def close(self) -> None:
        self.did.append("closed")

    def abort(self) -> None:
        self.did.append("aborted")

    def is_closing(self) -> bool:
        return self.has_left

    def get_write_buffer_size(self) -> int:
        return 0


def made() -> tuple[LateStore, Gate, Written, GatedTransport, list[StoreError]]:
    store, failures = LateStore(), list[StoreError]()
    gate = Gate(cast(Store, store), failures.append)
    written = Written()
    return store, gate, written, GatedTransport(cast(asyncio.Transport, written), gate.is_open), failures


def test_bytes_leave_at_once_without_new_inputs() -> None:
    store, _, written, transport, _ = made()
    transport.write(b"a")
    assert written.did == [b"a"]
    assert not store.requested


def test_a_client_that_left_while_its_answer_was_held_delays_no_other_client() -> None:
    store, gate, written, transport, _ = made()
    other = Written()
    gate.note()
    transport.write(b"a")
    GatedTransport(cast(asyncio.Transport, other), gate.is_open).write(b"b")
    written.has_left = True
    store.requested[0](None)
    assert written.did == []
    assert other.did == [b"b"]


def test_a_failure_while_the_gate_opens_delays_no_other_client(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("a mistake")

    store, gate, written, transport, _ = made()
    gate.note()
    assert not gate.is_open(fail)
    transport.write(b"a")
    store.requested[0](None)
    assert written.did == [b"a"]
    assert "what waited for a commit failed" in caplog.text


def test_bytes_and_the_end_of_a_connection_wait_for_the_commit_in_their_order() -> None:
    store, gate, written, transport, _ = made()
    gate.note()
    transport.write(b"a")
    transport.write(b"b")
    transport.close()
    assert written.did == []
    assert transport.is_closing()
    assert transport.get_write_buffer_size() == 2
    assert len(store.requested) == 1
    store.requested[0](None)
    assert written.did == [b"a", b"b", "closed"]
    assert transport.get_write_buffer_size() == 0


def test_entries_written_later_wait_for_a_later_commit() -> None:
    store, gate, written, transport, _ = made()
    gate.note()
    transport.write(b"a")
    gate.note()
    other = GatedTransport(cast(asyncio.Transport, written), gate.is_open)
    other.write(b"b")
    store.requested[0](None)
    assert written.did == [b"a"]
    store.requested[1](None)
    assert written.did == [b"a", b"b"]


def test_a_later_answer_of_the_same_connection_waits_for_its_own_commit() -> None:
    store, gate, written, transport, _ = made()
    gate.note()
    transport.write(b"a")
    gate.note()
    transport.write(b"b")
    transport.close()
    store.requested[0](None)
    assert written.did == [b"a"]
    assert transport.get_write_buffer_size() == 1
    store.requested[1](None)
    assert written.did == [b"a", b"b", "closed"]


def test_no_answer_leaves_after_a_failure_and_the_failure_is_reported_once() -> None:
    store, gate, written, transport, failures = made()
    gate.note()
    transport.write(b"a")
    gate.note()
    gate.commit()
    for done in store.requested:
        done(WriteFailed("the disk is full"))
    transport.write(b"b")
    transport.abort()
    assert written.did == ["aborted"]
    assert [str(one) for one in failures] == ["the disk is full"]


def test_answers_that_a_lost_lease_leaves_unstored_are_refused_until_the_gate_begins_again() -> None:
    store, gate, written, transport, failures = made()
    gate.note()
    transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
    transport.write(b"more of it")
    begun = Written()
    middle = GatedTransport(cast(asyncio.Transport, begun), gate.is_open)
    middle.write(b"a later piece of a long answer")
    store.requested[0](LeaseLost("the lease has ended"))
    assert written.did == [LEASE_LOST_ANSWER, "closed"]
    assert b'"error":"lease_lost"' in LEASE_LOST_ANSWER
    assert begun.did == ["aborted"]
    assert len(failures) == 1
    gate.begin_again()
    after = Written()
    GatedTransport(cast(asyncio.Transport, after), gate.is_open).write(b"a")
    assert after.did == [b"a"]


def test_a_wait_ends_when_the_lease_is_lost() -> None:
    async def waited() -> None:
        store, gate, *_ = made()
        gate.start()
        gate.note()
        before = asyncio.ensure_future(gate.until_durable())
        await asyncio.sleep(0)
        store.requested[0](LeaseLost("the lease has ended"))
        assert not await before
        assert not await gate.until_durable()
        gate.begin_again()
        assert await gate.until_durable()

    asyncio.run(waited())


def test_bytes_that_are_free_leave_a_closed_gate_behind_earlier_ones() -> None:
    store, gate, written, transport, _ = made()
    gate.note()
    free = Written()
    other = GatedTransport(cast(asyncio.Transport, free), gate.is_open)
    other.is_free = transport.is_free = True
    other.write(b"a")
    assert free.did == [b"a"]
    transport.is_free = False
    transport.write(b"held")
    transport.is_free = True
    transport.write(b"behind")
    assert written.did == []
    store.requested[0](None)
    assert written.did == [b"held", b"behind"]


def test_a_real_store_has_what_was_written_when_the_gate_opens(tmp_path: Path) -> None:
    with Store(tmp_path / "data", version="1") as store:
        gate = Gate(store, lambda error: None)
        store.writer.new_life("one", b"head")
        append(store.writer, "one", 0, b"entry")
        assert gate.is_open(lambda: None)
        assert [data for *_, data in store.reader.entries("one")] == [b"entry"]


def test_an_entry_that_cannot_be_encoded_closes_the_gate_and_stays_off_the_disk(tmp_path: Path) -> None:
    def encoded() -> bytes:
        raise ValueError("no JSON")

    async def main() -> None:
        gate.start()
        life = store.writer.new_life("one", b"head")
        append(store.writer, "one", 0, b"entry")
        assert gate.is_open(lambda: None)
        store.writer.append(life, 0, encoded)
        with pytest.raises(ValueError, match="no JSON"):
            store.writer.begin_snapshot("one")
        assert not gate.is_open(lambda: pytest.fail("it must not leave"))
        append(store.writer, "one", 0, b"later")
        gate.close()

    failures: list[StoreError] = []
    with Store(tmp_path / "data", version="1") as store:
        gate = Gate(store, failures.append)
        asyncio.run(main())
        assert [str(error) for error in failures] == [
            f"{store.place}: what happened cannot be kept (ValueError: no JSON)"
        ]
        assert [data for *_, data in store.reader.entries("one")] == [b"entry"]


OUTGOING = OutgoingRequest("POST", "http://127.0.0.1:9/hook", (), b"{}")
ACCEPTED = AttemptResult(AttemptEnd.ANSWERED, 200)


class Sent:
    """A sender that remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[OutgoingRequest] = []

    def turn(self, url: str, owner: str) -> Turn:
        return nullcontext(lambda: False)

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        self.given.append(outgoing)
        return ACCEPTED


def test_a_callback_waits_only_for_the_commit_of_its_causes() -> None:
    async def main() -> None:
        store, sent = LateStore(), Sent()
        gate = Gate(cast(Store, store), lambda error: None)
        gate.note()
        sending = asyncio.ensure_future(GatedSender(sent, gate.until_durable).send(OUTGOING, 1.0, "default"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert (len(store.requested), sent.given) == (1, [])
        gate.note()
        store.requested[0](None)
        assert await sending is ACCEPTED
        assert sent.given == [OUTGOING]

    asyncio.run(main())
