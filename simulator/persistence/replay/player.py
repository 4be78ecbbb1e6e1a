"""Plays the entries of a tape in order into a sandbox that began in the same state.

It runs the same code as a server: requests pass the pipeline, commands the domain. The tape supplies the times, late
bodies, the ends of delays and the answers of receivers.
"""

from collections.abc import Callable, Coroutine, Generator
from datetime import datetime
from functools import cache
from types import coroutine
from typing import Any

import msgspec

from simulator.domain.commands import EndAttempt, LoadScenario, PassTime
from simulator.domain.errors import DomainError
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.instants import EARLIEST, LATEST
from simulator.persistence.replay import differences
from simulator.persistence.replay.differences import Difference, called, state_digest, unbegun
from simulator.persistence.tape import entries
from simulator.runtime.clock import Clock, effective_rate
from simulator.runtime.command_log import SCENARIO, answer_text, due_of, refusal_text
from simulator.runtime.journal import UNEXPECTED, Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.traces import trace_from
from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.sections.scripted_answers import build_inbox
from simulator.wire.outbound import without_body

Answering = Coroutine[Any, Any, Any]
RequestReplay = Callable[..., Answering]
"""See `simulator.api.request_replayer`."""


@coroutine
def _wait() -> Generator[None, entries.Resumption, entries.Resumption]:
    """Wait until the tape says how the wait ended, and return that."""
    return (yield)


class TapeClock(Clock):
    """A clock that is set to the time, mode and rate of each entry."""

    def __init__(self, mode: str, rate: float, now: datetime) -> None:
        self.stand_at(now, now)
        super().__init__(lambda: self._wall, mode, rate, now)

    def stand_at(self, now: datetime, wall: datetime) -> None:
        """Show these times until the next entry. Raises `ValueError` for times out of range."""
        for time in (now, wall):
            if not EARLIEST <= time <= LATEST:
                raise ValueError(f"{time.isoformat()} is not from {EARLIEST.year} to {LATEST.year}")
        self._now, self._wall = now, wall

    def at(self, wall: datetime) -> datetime:
        """Return the time of the entry, at any wall time."""
        self.latest = wall
        return self._now


class Player:
    """Rebuilds a sandbox. `live` is a sandbox that has just begun, with `clock`; `elsewhere` makes a sandbox to record
    the requests that the taped sandbox did not record itself. `place` counts the entries played."""

    def __init__(
        self,
        live: LiveSandbox,
        clock: TapeClock,
        replayer: RequestReplay,
        elsewhere: Callable[[], LiveSandbox],
        compiler: ScenarioCompiler,
    ) -> None:
        self.live = live
        self.place = 0
        self.clock = clock
        self._replayer = replayer
        self.compiler = compiler
        self._elsewhere = cache(elsewhere)
        self._waiting: dict[int, tuple[Answering, Exchange]] = {}
        self._set_to = EARLIEST  # the time to which the clock was set last
        self._unanswered: dict[int, tuple[Exchange, Exchange]] = {}  # by the id of the first, with what was replayed
        live.sleep = lambda seconds: _wait()
        live.holds.pause = _wait
        live.driver.stop()  # time passes as the tape says

    def play(self, entry: entries.Entry) -> Difference | None:
        """Play the next entry. Return the difference from the tape, if any."""
        self.place += 1
        if (now := getattr(entry, "now", None)) is not None:  # a request has its times itself
            self.clock.stand_at(now, getattr(entry, "wall", now))
        return _PLAYS[type(entry)](self, entry)

    def answered(self, recorded: Exchange) -> Difference | None:
        """Process a late answer to a request that was played. Return the difference from the tape, if any."""
        replayed = self._unanswered.pop(id(recorded), None)
        return None if replayed is None else self._compare_with(recorded, replayed[1])

    def of_state(self, where: str, recorded: str) -> Difference | None:
        """Return the difference between the state and the digest on the tape at this place, if any; `recorded` is empty
        when the tape has no digest."""
        what = f"the state {where}"
        return differences.of_value(self.place, what, recorded, state_digest(self.live)) if recorded else None

    def of_end(self, due: entries.Due | None, state: str = "") -> Difference | None:
        """Return the difference at the end of the tape, if any. `due` are the attempts that had not begun there, None
        when the tape does not say; `state` is the digest of the state."""
        for _, recorded in self._waiting.values():
            if recorded.n or recorded.status:
                return Difference(self.place, called(recorded), "was answered", "waits")
        found = None if due is None else differences.of_due(self.place, due, unbegun(self.live))
        return found or self.of_state("at the end", state)

    def end(self) -> None:
        """Drop the requests that still wait."""
        for answering, _ in self._waiting.values():
            answering.close()
        self._waiting.clear()
        self.live.tape.forget_waiting()

    def _request(self, recorded: Exchange) -> Difference | None:
        answering = self._begin(recorded)
        if not self._ends(answering):
            answering.close()
            return Difference(self.place, called(recorded), "answered at once", "waits")
        return self._compare(recorded)

    def _begin(self, recorded: Exchange, *, has_begun: bool = False) -> Answering:
        assert recorded.wall is not None, "the pipeline reads the wall clock"
        self.clock.stand_at(recorded.at, recorded.wall)
        recorder = None
        if recorded.owner:
            recorder = self._elsewhere()
            recorder.journal.last_n = recorded.n - 1
        is_masked = self.live.beginning.spec.is_masked
        return self._replayer(self.live, recorded, _wait, recorder, is_masked=is_masked, has_begun=has_begun)

    @staticmethod
    def _ends(answering: Answering, how: entries.Resumption | None = None) -> bool:
        """Resume a request. Return False when it waits again."""
        try:
            answering.send(how)
        except StopIteration:
            return True
        return False

    def _compare(self, recorded: Exchange) -> Difference | None:
        """Return the difference between the record of a request and the newest record of the journal, if any."""
        recorder = self._elsewhere() if recorded.owner else self.live
        replayed = next(reversed(recorder.journal), None)
        if replayed is None:
            return Difference(self.place, called(recorded), "recorded", "nobody recorded it")
        if recorded.status or recorded.n:
            return self._compare_with(recorded, replayed)
        self._unanswered[id(recorded)] = recorded, replayed  # its answer comes, unless the tape ends before that
        return None

    def _compare_with(self, recorded: Exchange, replayed: Exchange) -> Difference | None:
        found = differences.of_requests(self.place, recorded, replayed)
        if found is not None and recorded.error != UNEXPECTED:  # that was a mistake of the version that recorded it
            return found
        replayed.duration_us = recorded.duration_us
        return None

    def _request_began(self, entry: entries.RequestBegan) -> Difference | None:
        recorded = entry.exchange
        answering = self._begin(recorded, has_begun=True)
        if self._ends(answering):
            return Difference(self.place, called(recorded), "waits", "answered at once")
        self._waiting[id(recorded)] = answering, recorded
        return None

    def _request_resumed(self, entry: entries.RequestResumed) -> Difference | None:
        recorded = entry.exchange
        found = self._waiting.get(id(recorded))
        if found is None:
            return Difference(self.place, called(recorded), "resumes after a wait", "was answered before")
        if not self._ends(found[0], entry.how):
            return None
        del self._waiting[id(recorded)]
        return self._compare(recorded)

    def _request_shown(self, entry: entries.RequestShown) -> Difference | None:
        recorded = entry.exchange
        shown = msgspec.structs.replace(recorded)
        size = self.live.journal.add(shown)
        self.live.tape.add(entries.RequestShown(shown), size)
        return differences.of_value(self.place, f"{called(recorded)}: n", recorded.n, shown.n)

    def _command(self, entry: entries.CommandApplied) -> Difference | None:
        command = entry.command
        if isinstance(command, EndAttempt):
            if found := differences.of_attempt(self.place, command.job, command.attempt, self.live, ends=True):
                return found
        elif self._set_to > entry.now:
            text = f"not before {self._set_to.isoformat()}"
            return Difference(self.place, f"{type(command).__name__}: now", entry.now, text)
        try:
            answer = self.live.apply_and_record(command, entry.now, trace_from(entry.trace))
        except DomainError as error:
            return self._of_answer(entry, refusal_text(error.code))
        except ScenarioError:
            return self._of_answer(entry, refusal_text(SCENARIO))
        if isinstance(command, PassTime):
            due = due_of(answer)
            found = differences.of_due(self.place, entry.due, due)
            return found or differences.of_value(self.place, "the order of attempts", entry.due, due)
        if isinstance(command, LoadScenario):
            self.live.follow(self.compiler.scenario(command.document, command.name))
        return None if isinstance(command, EndAttempt) else self._of_answer(entry, answer_text(answer))

    def _of_answer(self, entry: entries.CommandApplied, replayed: str) -> Difference | None:
        """Return the difference between the answers to a command, if any. Older tapes have none."""
        what = f"{type(entry.command).__name__}: answer"
        return differences.of_value(self.place, what, entry.answer, replayed) if entry.answer else None

    def _attempt(self, entry: entries.AttemptSent) -> Difference | None:
        live = self.live
        if found := differences.of_attempt(self.place, entry.job, entry.attempt, live, ends=False):
            return found
        send = live.core.state.in_flight[entry.job]
        request = live.courier.attempt(send, entry.wall)
        live.courier.sent.add(send, request)
        live.tape.add(msgspec.structs.replace(entry, request=without_body(send.job, request)))
        if send.job.url.startswith(INBOX_SCHEME):
            live.courier.into_inbox(send.job.url, request, entry.now, entry.wall)
        return differences.of_attempts(self.place, entry, request)

    def _clock_set(self, entry: entries.ClockSet) -> None:
        self._set_to = entry.now
        self.clock.mode, self.clock.rate = entry.mode, effective_rate(entry.mode, entry.rate)
        self.live.tape.add(entry)

    def _inbox_received(self, entry: entries.InboxReceived) -> None:
        self.live.inbox_inputs.receive(entry.name, entry.method, entry.query, entry.headers, entry.body)


_PLAYS: dict[type, Callable[[Player, Any], Difference | None]] = {
    Exchange: Player._request,
    entries.RequestBegan: Player._request_began,
    entries.RequestResumed: Player._request_resumed,
    entries.RequestShown: Player._request_shown,
    entries.CommandApplied: Player._command,
    entries.AttemptSent: Player._attempt,
    entries.ClockSet: Player._clock_set,
    entries.InboxReceived: Player._inbox_received,
    entries.InboxProgrammed: lambda player, entry: player.live.inbox_inputs.set_program(
        entry.name, entry.document, build_inbox(entry.document)
    ),
    entries.InboxCleared: lambda player, entry: player.live.inbox_inputs.clear(entry.name),
}
