"""A running sandbox: the state machine with its clock, driver, journal and inboxes.

`Sandboxes` creates it, or `persistence/replay` from a tape. Commands enter it by `apply` alone; two methods add to it:

| method | called by | what it does besides |
|---|---|---|
| `apply` | the pipeline and its endpoints; the pipeline records and publishes the request | due items before it |
| `apply_and_record` | the driver, and the replay of a tape | the command on the tape, its events |
| `settle_and_apply` | the control API, and the watcher of a scenario file | turns for many due items; an action |

A sandbox has one `Life` after another. `_begin` begins a life, and makes its parts attributes of the sandbox. A reset
or a rewind replaces the life; a deletion ends the last life. Records go to the attributes `journal` and `tape`. During
a reset, these two already belong to the next life, while `life` is still the life that ends:

1. `reset` stops the ending life, and opens the journal and the tape of the next life.
2. It waits for the tasks of the ending life and for the next state. Late answers go to the next journal.
3. It disposes of the ending life, and begins the next life with the journal and the tape that it opened.
"""

from collections.abc import Awaitable, Callable, Iterable
from copy import copy
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from simulator.domain.commands import Command, EndAttempt, PassTime
from simulator.domain.errors import Conflict, Unknown
from simulator.domain.model.domain_events import DomainEvent
from simulator.domain.model.scenario import Scenario
from simulator.domain.reports.coverage import Coverage, coverage
from simulator.persistence.tape.entries import CommandApplied
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape
from simulator.redaction import FormerSecrets, Mask, Secrets
from simulator.runtime.background import in_background
from simulator.runtime.clock import Clock
from simulator.runtime.command_log import DUE_BYTES, apply_logged, due_of, publish_command
from simulator.runtime.driver import Driver
from simulator.runtime.events import Action, EventLog
from simulator.runtime.holds import Holds
from simulator.runtime.inboxes import InboxInputs
from simulator.runtime.journal import Exchange, Journal
from simulator.runtime.lives import FirstState, Life, LifeEnding, SandboxSpec, Surroundings, first_state
from simulator.runtime.marks import NO_KEEPER, Keeper
from simulator.runtime.operations import ServerCounts
from simulator.runtime.traces import Trace, caller
from simulator.runtime.wait_limits import Delays, Notifier, Turnstile, WaitingRoom


class LiveSandbox:
    """The state machine, `core`, and everything around it. Messages to inboxes enter by `inbox_inputs`."""

    def __init__(self, id_: str, spec: SandboxSpec, first: FirstState, surroundings: Surroundings) -> None:
        # The sandbox, in all its lives
        self.id = id_
        self.spec = spec
        self.request_pace = spec.quotas.pace()
        self.delays = Delays()  # the delays of faults in progress
        self.unanswered: list[Exchange] = []  # executed; their answers wait for the delay of a fault
        self.new_events: list[DomainEvent] = []  # of the input that is being applied
        self.events = EventLog(id_)
        self.last_ending: LifeEnding = "reset"  # why the previous life ended, if there was one
        self.is_deleted = False
        self.is_touched = True  # used since the last sweep for idle sandboxes
        self.last_used_s = 0.0
        self._mask = Mask()
        # Of the server; `Sandboxes` sets most of these when it admits the sandbox
        self._surroundings = surroundings
        self.keeper: Keeper[LiveSandbox] = NO_KEEPER
        self.on_ending: Callable[[LiveSandbox, LifeEnding], None] = lambda live, ending: None
        self.server_counts = ServerCounts()
        self.server_secrets = Secrets()
        self.former_secrets = FormerSecrets()  # of ended lives of all sandboxes
        self.waiting_room = WaitingRoom(Turnstile())
        self._open_logs()
        self._begin(self._new_life(first), first.clock)

    # The beginning of a life

    def _open_logs(self) -> None:
        """Open the journal and the tape of the next life."""
        limits = self.spec.scenario.limits
        self.journal = Journal(limits.journal, limits.journal_bytes)
        self.tape = Tape(limits.tape, limits.tape_bytes, self._surroundings.tape_budget)

    def _new_life(self, first: FirstState) -> Life:
        return Life(self.id, self.spec, first, self.journal, self.tape, self._surroundings)

    def _begin(self, life: Life, clock: Clock) -> None:
        """Begin a life, and run it on this clock. Its parts become attributes, which spares readers a look-up."""
        self.life = life
        self.core, self.beginning = life.core, life.beginning
        self.seed, self.scenario = life.core.state.seed, life.core.state.scenario
        self.journal, self.tape = life.journal, life.tape
        self.inboxes, self.courier, self.counters = life.inboxes, life.courier, life.counters
        self.marks, self.probes = life.marks, life.probes
        self.core.watch(self.new_events.append)
        self.counters.server_counts = self.courier.server_counts = self.server_counts
        self.is_closed = False
        self.run_on_clock(clock)

    def run_on_clock(self, clock: Clock) -> None:
        """Run on this clock from now on, with a new driver and new holds. Call `start` when the event loop runs."""
        self.clock = self.events.clock = clock
        self.sleep: Callable[[float], Awaitable[object]] = self.delays.sleep  # a replay replaces it
        self.holds = self.courier.holds = Holds(self.events, clock)
        self.inbox_inputs = InboxInputs(self.inboxes, clock, self.tape)
        self.evicted_at_start = self.journal.left_out  # records that a rebuild evicted; the server does not count them
        self.driver = Driver(self.apply_and_record, self.core.state.agenda, clock, self.courier, self.tape.add)
        self.driver.lanes.collect(self.core.state.in_flight.values())

    def start(self) -> None:
        """Start the driver; needs a running event loop. With a manual clock, unfinished work waits for an advance."""
        if self.clock.runs:
            self.driver.lanes.start()
        self.driver.rearm(self.clock.now())

    # Commands

    def apply(self, command: Command, now: datetime | None = None) -> Any:
        """Apply a command: the only way into the state machine.

        `now` is the sandbox's time at which the driver has caught up; without it, the items that are due are processed
        first. The command's type determines the answer's type. Raises `DomainError`, and `ScenarioError` for a command
        with a document; the state is then unchanged.
        """
        if self.is_closed:
            raise Unknown("unknown_sandbox", f"the sandbox {self.id!r} was deleted or is being reset")
        now = now or self.driver.catch_up_at_once()
        agenda = self.core.state.agenda
        added = agenda.added
        answer = self.core.apply(command, now)
        if agenda.added != added:
            self.driver.rearm(now)
        return answer

    def apply_and_record(self, command: Command, now: datetime | None = None, trace: Trace = None) -> Any:
        """Apply a command that is not part of a request of the reseller API, record it on the tape, and publish its
        events. Takes `now` as `apply` does, and raises the same.

        The end of an attempt is recorded before it is applied, every other command afterwards. `PassTime` is recorded
        with the attempts that become due: a replay reports a difference when other attempts become due.
        """
        if self.is_closed:
            return self.apply(command, now)  # which raises
        now = now or self.driver.catch_up_at_once()
        if isinstance(command, PassTime):
            answer = self.apply(command, now)
            due = due_of(answer)
            self.tape.add(CommandApplied(now, command, due), ENTRY_BYTES + DUE_BYTES * len(due))
        elif isinstance(command, EndAttempt):
            self.tape.add(CommandApplied(now, command))
            answer = self.apply(command, now)
            self.courier.sent.end(command.job)
        else:
            answer = apply_logged(self.apply, command, now, self.tape, self.courier, self.core.state.deliveries, trace)
        if self.new_events:
            self.publish()
        return answer

    def publish(self, *requests: int) -> None:
        """Publish the events of the commands that were applied, after the `requests` of the journal that caused
        them."""
        self.events.note(*requests, *self.new_events)
        self.new_events.clear()

    async def settle_and_apply(self, command: Command) -> Any:
        """Apply and record a command of the control API once all items due by now are processed, which may take several
        turns of the event loop. Publish it as an action.

        Raises the same as `apply`, and `Conflict` when the sandbox is reset or the server stopped meanwhile.
        """
        driver, now = self.driver, self.clock.now()
        if not driver.catch_up(now):
            await driver.settle(now)
            if driver.is_stopping:
                raise Conflict("server_stopping", "the server is being stopped; this request was not executed")
            has_life_ended = self.is_closed or driver is not self.driver
            if has_life_ended and not self.is_deleted:  # a deleted sandbox is refused by `apply`
                text = f"the sandbox {self.id!r} was {self.last_ending} before this request was executed"
                raise Conflict("sandbox_reset", text)
        answer = self.apply_and_record(command, now, caller.get())
        publish_command(self.events, command, answer, now)
        return answer

    def follow(self, scenario: Scenario) -> None:
        """Apply a loaded scenario to everything around the state machine, which has loaded it by a command."""
        self.inboxes.follow(scenario.inboxes, before=self.scenario.inboxes)
        self.spec = replace(self.spec, scenario=scenario)
        self.scenario = scenario
        self.courier.follow(scenario)
        self.counters.follow(scenario.expect, self.journal)

    # Due items

    async def process_due(self) -> None:
        """Process the items that a running clock has made due, over as many turns as needed."""
        now = self.clock.now()
        if not self.driver.catch_up(now):
            await self.process_rest(now)

    async def process_rest(self, now: datetime) -> datetime:
        """Process the items due by `now` that `driver.catch_up` has left. Return `now`, or the new clock's time after a
        reset meanwhile."""
        driver = self.driver
        await driver.settle(now)
        return now if driver is self.driver else self.clock.now()

    # The end of a life, and the next one

    async def reset(self) -> None:
        """Return to the start of the scenario. Raises `Conflict` during an advance, `Unknown` if deleted meanwhile.

        The next life's journal gets all later answers, even those to earlier requests, so it opens before the first
        wait.
        """
        self.driver.refuse_while_advancing()
        ended = self.life
        if self.journal is ended.journal:  # else a concurrent reset has stopped this life
            self._stop_life("reset")
            self._open_logs()
            self.keeper.collect(self)
        await self.driver.close()
        first = await in_background(first_state, self.id, self.spec, self._surroundings.wall)
        if self.is_deleted:
            self.tape.leave()
            raise Unknown("unknown_sandbox", f"the sandbox {self.id!r} was deleted while it was being reset")
        if self.life is ended:  # else a concurrent reset or a rewind has begun the next life
            self._replace_life(self._new_life(first), first.clock)
            self.keeper.begin(self)
            self.events.note(Action("reset", self.clock.now()))
            self.start()

    async def rewind_to(self, rebuilt: "LiveSandbox", moment: str) -> None:
        """Continue with the life of `rebuilt`: this sandbox as it was at an earlier place on its tape. `moment` is the
        name of the place in the event of the rewind."""
        old_driver = self.driver
        self._stop_life("rewound")
        rebuilt.join(self._surroundings)
        self.spec = rebuilt.spec
        self._replace_life(rebuilt.life, rebuilt.clock)
        self.keeper.begin(self)
        self.events.note(Action("rewound", self.clock.now(), moment))
        self.start()
        await old_driver.close()

    def _stop_life(self, ending: LifeEnding) -> None:
        """Stop for a reset or a rewind. The life's records stay until `_replace_life`."""
        self.last_ending = ending
        self.stop()
        self.events.end_life()

    def _replace_life(self, life: Life, clock: Clock) -> None:
        """Report and discard the life that was stopped, and begin another."""
        self.on_ending(self, self.last_ending)
        self.retire_secrets(next_life=life.core.state.secrets)
        self.life.dispose()
        self._begin(life, clock)

    def join(self, surroundings: Surroundings) -> None:
        """Join the sandboxes of a server, after a rebuild with own budgets."""
        self._surroundings = surroundings
        self.life.join(surroundings)

    def frozen_copy(self) -> "LiveSandbox":
        """Return a copy with the records of this life, which is about to end. Threads may read the copy; no command may
        be applied to it."""
        self.life.secrets.index()  # cached now, so that reading the copy changes nothing
        self.life.tape.freeze()
        frozen = copy(self)
        frozen.journal, frozen.tape = self.life.journal, self.life.tape
        return frozen

    def stop(self) -> None:
        """Accept no more commands, end all tasks, and wake all waiters."""
        self.is_closed = True
        self.driver.stop()
        self.delays.end()
        self.holds.close()
        self.journal.notifier.close()
        self.inboxes.close()

    async def close(self) -> None:
        """Stop, and wait until the tasks have ended."""
        self.stop()
        await self.driver.close()

    def end_waits(self) -> None:
        """End all waits before the server stops: waiting requests get the present state, callers that wait for due
        items an error."""
        if self.driver.is_settling:
            self.is_closed = True
            self.driver.stop()
        self.driver.end_waits()
        self.holds.end_answers()
        self.journal.notifier.close()
        self.inboxes.end_waits()

    # Waiting, and reports

    async def wait_until(
        self, is_true: Callable[[], bool], timeout_s: float, notifier: Notifier, *others: Notifier
    ) -> bool:
        """Wait as `Notifier.wait_until` does, within the limit of waiting requests. Raises `Busy`."""
        return await self.waiting_room.wait(lambda: notifier.wait_until(is_true, timeout_s, *others))

    @property
    def is_busy(self) -> bool:
        """Return whether work or a waiting client keeps the sandbox from expiring as idle."""
        is_awaited = self.journal.notifier.waiting or self.inboxes.has_waiters or self.events.is_watched
        return self.driver.is_busy or bool(is_awaited)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Return the indexes of secrets to redact: of this life, of the server, and of former lives."""
        return self.life.secrets.index(), self.server_secrets, *self.former_secrets.generations

    @property
    def mask(self) -> Mask:
        """Return the mask of `secrets`, cached until their indexes or the keys are replaced."""
        keys, secrets = self.core.state.keys, self.secrets
        if self._mask.keys is not keys or self._mask.secrets != secrets:
            self._mask = Mask(secrets, keys)
        return self._mask

    def retire_secrets(self, next_life: Iterable[str] = ()) -> None:
        """Add the secrets of this life to those of former lives, except secrets that the next life shares."""
        self.former_secrets.add(set(self.core.state.secrets).difference(next_life))

    def coverage(self) -> Coverage:
        """Return the coverage of rules, answers and outcomes in this life."""
        return coverage(self.core.state, self.counters.answers)

    def signing_time(self, wall: datetime | None = None) -> datetime:
        """Return the time that clients' timestamps are compared with: the wall clock's, unless the scenario sets its
        own. `wall` is the wall time, if it was read."""
        setting, wall = self.scenario.clock, wall or self.clock.wall()
        return self.clock.at(wall) if setting.signature == "sandbox" else wall + setting.skew
