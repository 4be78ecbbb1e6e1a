"""Writes what the tape of one life gets into a store, as lines of `replay/lines`."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from simulator.keeping.gate import Gate
from simulator.replay.writing import Began, answered_line, entry_line, resumed_line
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.tape.entries import Entry, Recorded, RequestBegan, RequestResumed
from simulator.tape.store.store import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Recorder:
    """Writes what one life's tape gets, each line with the time of the wall. A request that waits has a line when it
    begins, and one with its answer."""

    def __init__(self, store: Store, gate: Gate, live: LiveSandbox) -> None:
        self._writing = store.writing
        self._gate = gate
        self._live = live
        self._began: Began = {}
        self._waiting: dict[int, Recorded] = {}  # so that no other record gets the id of one

    def add(self, entry: Entry) -> None:
        """Write an entry."""
        to_line = resumed_line if isinstance(entry, RequestResumed) else entry_line
        n = self._append(to_line(entry, self._began))  # type: ignore[arg-type]  # as was looked at
        if isinstance(entry, RequestBegan):
            self._began[id(entry.exchange)] = n
            self._waiting[id(entry.exchange)] = entry.exchange

    def add_all(self, entries: Iterable[Entry]) -> None:
        """Write entries."""
        for one in entries:
            self.add(one)

    def answered(self, recorded: Recorded) -> None:
        """Write the answer to a request that waited."""
        place = self._began.pop(id(recorded), None)
        self._waiting.pop(id(recorded), None)
        if place is not None:
            assert isinstance(recorded, Exchange), "the journal records requests so"
            self._append(answered_line(recorded, place))

    def _append(self, line: bytes) -> int:
        self._gate.note()
        return self._writing.append(self._live.id, micros_of(self._live.clock.latest), line)


def micros_of(time: datetime) -> int:
    """Microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def time_of(micros: int) -> datetime:
    """The time at so many microseconds since 1970."""
    return _EPOCH + micros * _MICROSECOND
