"""Writes what the tape of one life gets into a store, as lines of `replay/lines`."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from simulator.persistence.gate import Gate
from simulator.persistence.lives import Life
from simulator.persistence.writer import Writer
from simulator.replay.writing import Began, answered_line, entry_line, resumed_line
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.tape.entries import Entry, Recorded, RequestBegan, RequestResumed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Recorder:
    """Writes what the tape of one `life` gets, each line with the time of the wall. A request that waits has a line
    when it begins, and one with its answer. What cannot be written closes the gate."""

    def __init__(self, writing: Writer, life: Life, gate: Gate, live: LiveSandbox) -> None:
        self._writing = writing
        self._life = life
        self._gate = gate
        self._live = live
        self._began: Began = {}
        self._waiting: dict[int, Recorded] = {}  # so that no other record gets the id of one

    def add(self, entry: Entry) -> None:
        """Write an entry. Raises `StoreError`."""
        to_line = resumed_line if isinstance(entry, RequestResumed) else entry_line
        try:
            n = self._append(to_line(entry, self._began))  # type: ignore[arg-type]  # as was looked at
        except Exception as error:
            raise self._gate.fail(error) from error
        if isinstance(entry, RequestBegan):
            self._began[id(entry.exchange)] = n
            self._waiting[id(entry.exchange)] = entry.exchange

    def add_all(self, entries: Iterable[Entry]) -> None:
        """Write entries."""
        for one in entries:
            self.add(one)

    def answered(self, recorded: Recorded) -> None:
        """Write the answer to a request that waited. Raises `StoreError`."""
        place = self._began.pop(id(recorded), None)
        self._waiting.pop(id(recorded), None)
        if place is not None:
            assert isinstance(recorded, Exchange), "the journal records requests so"
            with self._gate.whole():
                self._append(answered_line(recorded, place))

    def _append(self, line: bytes) -> int:
        return self._writing.append_to(self._life, micros_of(self._live.clock.latest), line)


def micros_of(time: datetime) -> int:
    """Microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def time_of(micros: int) -> datetime:
    """The time at so many microseconds since 1970."""
    return _EPOCH + micros * _MICROSECOND
