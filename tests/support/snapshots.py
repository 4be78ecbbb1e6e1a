"""Snapshots along a tape: a sandbox restored from a snapshot must continue exactly as the original."""

import asyncio
from collections.abc import Iterable
from typing import Any

from simulator.app import App
from simulator.domain.agenda import StepDue
from simulator.domain.model.rules import ScenarioOrigin, SourceLine
from simulator.persistence.replay.player import Player
from simulator.persistence.replay.rebuilding import leave_tape, nowhere, player_for
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import beginning_of
from simulator.persistence.snapshot.cache import SnapshotCache
from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import Snapshot, snapshot_of
from simulator.persistence.snapshot.restore import restored
from simulator.runtime.clock import Wall
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import ScenarioCompiler
from tests.support.anatomy import anatomy

INDEXES = ("_totals", "categories", "by_code", "active", "inactive", "by_denomination", "payment_kinds")
"""Indexes that are derived from other members on demand."""

ORDERLESS = ("_by_size", "_heap", "counts", "added")
"""Looked at for themselves, since their order does not matter."""

COPIES = ("transaction",)
"""Copies from the time of settlement, which later changes do not affect. Tests compare them separately."""

OF_SERVERS = ("serial", "compiler", "publish")


def resume(player: Player, wall: Wall) -> LiveSandbox:
    """Return a rebuilt sandbox under a clock of its own."""
    player.live.run_on_clock(leave_tape(player, wall))
    return player.live


def insides(live: LiveSandbox) -> Any:
    """Return all parts of a sandbox that determine its behaviour."""
    state = live.core.state
    left_out = (*INDEXES, *ORDERLESS, *OF_SERVERS, *COPIES, "notifier", "home", "scenario")
    received = [(one.name, one.left_out, one.replied, one.program, list(one.received)) for one in live.inboxes]
    around = [live.journal, received, list(live.probes)]
    counters = live.counters.answers, live.counters.calls, live.counters.first, live.counters.notes
    values = {place: one.kept() for place, one in live.counters.values.items()}
    logs = list(live.events.entries()), live.events.count, list(live.courier.sent), live.courier.sent.begun
    clock = live.clock.mode, live.clock.rate, live.clock.latest, live.clock.at(live.clock.latest)
    budget = live.inboxes.budget.bytes, [one.name for one in live.inboxes.budget.by_use]
    counts = [(rule.id, count) for book in state.books.values() for rule, count in book.counted_rules()]
    waiting = sorted((at, ticket) for at, ticket, _ in state.agenda.waiting())
    of_payments = [(trxid, [one.id for one in state.callbacks.of(trxid)]) for trxid in state.transactions]
    of_same_names = repr(state.catalog.groups), [one.serial for one in state.deliveries], state.agenda.added
    around += [of_same_names, counts, waiting, sorted(state.added.items()), of_payments]
    around += [_about(live)]
    everything = [state, *around, counters, values, logs, clock, budget, live.tape.bytes, len(live.tape)]
    return anatomy(everything, left_out, told=(SourceLine, ScenarioOrigin), values_apart=True)


def _about(live: LiveSandbox) -> list[Any]:
    """Return the transactions of jobs, cases and the agenda. An open transaction must be a single shared object."""
    state = live.core.state
    jobs = [(one.id, one.transaction.number) for one in state.callbacks]
    cases = [(one.id, one.transaction.number) for ones in state.cases.values() for one in ones]
    steps = [item for _, _, item in state.agenda.waiting() if isinstance(item, StepDue)]
    assert all(state.transactions.by_number[one.number].ticket is not None for one in steps)
    return [jobs, cases, sorted(one.number for one in steps)]


def first_difference(one: Any, other: Any, path: str = "") -> str:
    """Where two anatomies differ first; empty when they do not."""
    if one == other:
        return ""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        place, pair = next((at, pair) for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        name = pair[0][0] if isinstance(pair[0], list | tuple) and pair[0] and isinstance(pair[0][0], str) else place
        return first_difference(*pair, f"{path}/{name}")
    return f"{path}: {str(one)[:300]} is {str(other)[:300]}"


def differing(one: Snapshot, other: Snapshot) -> dict[str, tuple[bytes | None, bytes | None]]:
    """The parts that differ, by name."""
    names = {*one.parts, *other.parts}
    return {each: (a, b) for each in sorted(names) if (a := one.parts.get(each)) != (b := other.parts.get(each))}


def take(live: LiveSandbox, n: int) -> Snapshot:
    """Return a snapshot of a sandbox after the first `n` entries of its tape, taken at once."""
    return snapshot_of(parts_of(live, n))


def resumed(app: App, tape: ReadTape, snapshot: Snapshot) -> Player:
    """A player made of a snapshot of this tape."""
    head, compiler = tape.head, ScenarioCompiler()
    beginning = beginning_of(head, compiler)
    entries = tape.entries[: snapshot.n]
    arguments = head.sandbox, beginning, app.replayer, nowhere(), compiler
    return restored(snapshot, *arguments, entries=entries)


def snapshots_at(app: App, tape: ReadTape, places: Iterable[int]) -> tuple[list[Snapshot], Player]:
    """Return snapshots at these places of a tape, or at the next places where no request waits, and a player that has
    played the whole tape."""
    player = player_for(tape.head, app.replayer, nowhere())
    wanted = sorted({min(one, len(tape.entries)) for one in places})
    found: list[Snapshot] = []
    for place in range(len(tape.entries) + 1):
        if wanted and place >= wanted[0] and not player.live.tape.waiting_requests():
            wanted = [one for one in wanted if one > place]
            found.append(take(player.live, place))
        if place < len(tape.entries):
            difference = player.play(tape.entries[place])
            assert difference is None, difference
    player.end()
    return found, player


def taken(player: Player) -> Snapshot | None:
    """Return a snapshot of a player, None if a request waits."""
    return None if player.live.tape.waiting_requests() else take(player.live, player.place)


def assert_goes_on(app: App, tape: ReadTape, places: Iterable[int]) -> int:
    """Assert that a sandbox restored from a snapshot at each place plays the rest of the tape without a difference, and
    ends in the state of the whole replay. Return the number of snapshots."""
    found, whole = snapshots_at(app, tape, places)
    inside, end = insides(whole.live), taken(whole)
    for snapshot in found:
        player = resumed(app, tape, snapshot)
        assert not (other := differing(take(player.live, snapshot.n), snapshot)), (snapshot.n, other)
        for entry in tape.entries[snapshot.n :]:
            difference = player.play(entry)
            assert difference is None, (snapshot.n, difference)
        player.end()
        assert not (unlike := first_difference(insides(player.live), inside)), (snapshot.n, unlike)
        assert player.live.core.violations() == whole.live.core.violations()
        last = taken(player)
        assert (last is None) == (end is None)
        if last is not None and end is not None:
            assert not (other := differing(last, end)), (snapshot.n, other)
    return len(found)


async def all_taken(cache: SnapshotCache) -> None:
    """Wait until all wanted snapshots are taken."""
    while cache._task is not None:
        await asyncio.wait([cache._task])
