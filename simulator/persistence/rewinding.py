"""Rewinds a running sandbox to a moment, or forks it there.

A sandbox is rebuilt from its tape in a thread, while it continues, and then replaced in a single turn. A failure before
that changes nothing.
"""

from asyncio import Semaphore
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.instants import Times
from simulator.persistence.replay import rebuilding
from simulator.persistence.replay.differences import Difference, state_digest
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.rebuilding import Moment
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.persistence.replay.tape_writer import beginning_of
from simulator.persistence.snapshot.cache import SnapshotCache
from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import NotNow, snapshot_of
from simulator.persistence.snapshot.restore import restored
from simulator.persistence.tape.entries import Entry
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS, Beginning, Life, Surroundings
from simulator.runtime.marks import Mark
from simulator.runtime.operations import report
from simulator.runtime.sandboxes import Sandboxes
from simulator.scenario.build import ScenarioCompiler

PLAYED_AT_ONCE: Final = 2_000
"""The number of entries after which other background work gets a turn, and a snapshot is taken."""

REPORT: Final = "; GET …/tape has the tape for a report of this"

REBUILT_MAX: Final = 4
"""The limit of concurrent rebuilds; others wait in order."""


class MomentRef(NamedTuple):
    """A requested moment: the name of a mark, a time of the sandbox, or a number of entries; all empty for the
    present."""

    mark: str | None = None
    to: Times | None = None
    n: int | None = None


class Rewinder:
    """Rewinds and forks the sandboxes of a server. `replayer` replays the requests of a tape, within the surroundings
    `surroundings`. Rebuilding begins at the nearest snapshot; it takes snapshots at marks, and at intervals."""

    def __init__(self, replayer: RequestReplay, surroundings: Surroundings) -> None:
        self._replayer = replayer
        self._surroundings = surroundings
        self.snapshots = SnapshotCache(surroundings.tape_budget.bytes_max / 4)
        self._rebuilding = Semaphore(REBUILT_MAX)

    def mark(self, live: LiveSandbox, name: str) -> Mark:
        """Mark the present of a sandbox, and take a snapshot of it soon. Raises `Unknown` when it was deleted, and
        `Conflict` when the tape is full, during an advance or a reset, and like `Marks.add`."""
        refuse_lost(live, live.life)
        live.driver.refuse_while_advancing()
        _refuse_full(live)
        mark = Mark(name, len(live.tape), live.clock.now(), state_digest(live))
        live.marks.add(mark)
        live.keeper.mark(live, mark)
        self.snapshots.want(live)
        return mark

    async def rewind(self, live: LiveSandbox, ref: MomentRef) -> None:
        """Rewind a sandbox to a moment. Raises `Unknown` for an unknown mark, or when it is deleted;
        `Unacceptable` for a moment that is not on the tape; `Conflict` when a full tape lacks it, during an advance,
        when the sandbox is reset or rewound meanwhile, or cannot be rebuilt."""
        life = live.life
        refuse_lost(live, life)
        live.driver.refuse_while_advancing()
        moment = await _moment_of(live, ref)
        async with self._rebuilding:
            player = await self._rebuilt(live, life, moment, live.id, live.beginning)
        rebuilt, known = player.live, self.snapshots.of(live)
        await live.keeper.prepare(rebuilt)
        try:
            refuse_lost(live, life)
            live.driver.refuse_while_advancing()
            _copy_marks_and_probes(live, rebuilt, moment)
            rebuilt.run_on_clock(rebuilding.leave_tape(player, self._surroundings.wall, moment.at, rebuilding.REWOUND))
            await live.rewind_to(rebuilt, moment.about)
        except BaseException:
            live.keeper.abandon(rebuilt)
            raise
        self.snapshots.forget(life)
        self.snapshots.add(live, rebuilt.life, *(snapshot for snapshot in known if snapshot.n <= moment.n))

    async def fork(self, live: LiveSandbox, ref: MomentRef, sandboxes: Sandboxes, wanted_id: str | None) -> LiveSandbox:
        """Create a second sandbox that begins at a moment of the first. Raises the same as `rewind`, the same as
        `Sandboxes.build` for its id, and `Conflict` when the budget of tapes is used up."""
        id_ = sandboxes.free_id(wanted_id)
        life = live.life
        refuse_lost(live, life)
        live.driver.refuse_while_advancing()
        moment = await _moment_of(live, ref)
        before = live.beginning
        beginning = replace(before, spec=replace(before.spec, id=id_, drawn_for=before.spec.drawn_for or live.id))
        async with self._rebuilding:
            player = await self._rebuilt(live, life, moment, id_, beginning)
        _copy_marks_and_probes(live, player.live, moment)
        return await self._added(player, moment, sandboxes, live.id, lambda: refuse_lost(live, life))

    async def begin(self, tape: ReadTape, ref: MomentRef, sandboxes: Sandboxes, wanted_id: str | None) -> LiveSandbox:
        """Create a sandbox that begins at a moment of a tape. Raises `Unacceptable`, `ScenarioError`, the same as
        `Sandboxes.build` for its id, and `Conflict` when the tape cannot be replayed or takes too much memory."""
        id_ = sandboxes.free_id(wanted_id)
        moment = _moment_of_tape(tape, ref)
        async with self._rebuilding:
            player = await self._begun(tape, moment, sandboxes, id_)
        for mark in _marks_of(tape).values():
            if mark.n <= moment.n:
                player.live.marks.add(mark)
        return await self._added(player, moment, sandboxes, f"the tape of {tape.head.sandbox}")

    async def _added(
        self,
        player: Player,
        moment: Moment,
        sandboxes: Sandboxes,
        origin: str,
        refuse: Callable[[], object] = lambda: None,
    ) -> LiveSandbox:
        """Add a rebuilt sandbox to the sandboxes of the server. `refuse` raises when its origin is lost meanwhile.
        Raises `Conflict` when the budget of tapes has no room for its tape."""
        budget, size = sandboxes.surroundings.tape_budget, player.live.tape.bytes
        if budget.bytes + size > budget.bytes_max:
            text = (
                f"the tapes of this server hold {budget.bytes} bytes, and this fork needs {size} more than the limit"
                f" of {budget.bytes_max} leaves; delete or reset some first, or raise --tape-budget"
            )
            raise Conflict("too_many_fork_bytes", text, "fork")
        await sandboxes.keeper.prepare(player.live)
        try:
            refuse()
            sandboxes.free_id(player.live.id)  # another may have taken it meanwhile
            live = player.live
            live.run_on_clock(rebuilding.leave_tape(player, self._surroundings.wall, moment.at, rebuilding.FORKED))
            sandboxes.add_rebuilt(live, origin)
        except BaseException:
            sandboxes.keeper.abandon(player.live)
            raise
        return live

    async def _begun(self, tape: ReadTape, moment: Moment, sandboxes: Sandboxes, id_: str) -> Player:
        compiler = await in_background(rebuilding.compiler_for, tape.head)
        first = await in_background(beginning_of, tape.head, compiler)
        spec = replace(first.spec, id=id_, drawn_for=first.spec.drawn_for or tape.head.sandbox, quotas=NO_QUOTAS)
        beginning = replace(first, spec=sandboxes.bounded(spec))
        arguments = id_, beginning, self._replayer, self._surroundings.with_own_budgets(), compiler
        try:
            player = await in_background(rebuilding.player_of, *arguments)
        except (ValueError, ArithmeticError, LookupError, TypeError) as error:  # it was written by hand
            raise Conflict("not_repeatable", f"the tape cannot be repeated ({error})") from None
        hint = f"; reseller-sim {tape.head.version} recorded it"
        for start in range(0, moment.n, PLAYED_AT_ONCE):
            sandboxes.free_id(id_)  # not when the server stops
            await in_background(_play, player, tape.entries[start : min(start + PLAYED_AT_ONCE, moment.n)], hint)
        return player

    async def _rebuilt(self, live: LiveSandbox, life: Life, moment: Moment, id_: str, beginning: Beginning) -> Player:
        """Return a player that has played the tape of a sandbox up to a moment, while its `life` lasts."""
        refuse_lost(live, life)
        await rebuilding.load_whole_tape(live.tape)
        _refuse_lost_beginning(live)
        entries = live.tape.frozen_entries(moment.n)
        compiler = await in_background(ScenarioCompiler, live.spec.scenario)
        refuse_lost(live, life)
        arguments = id_, beginning, self._replayer, self._surroundings.with_own_budgets(), compiler
        # The journal names the sandbox whose unique credentials were refused, so a fork's journal differs.
        is_alike = id_ == live.id or not beginning.spec.unique_credentials
        player: Player | None = None
        nearest = self.snapshots.nearest(live, moment.n) if is_alike else None
        if nearest is not None:
            try:
                player = await in_background(restored, nearest, *arguments, entries=entries[: nearest.n])
            except Exception as error:  # our mistake: the tape has it all
                report(error, "a snapshot")
                self.snapshots.drop(live, nearest)
        if player is None:
            player = await in_background(rebuilding.player_of, *arguments)
        for start in range(player.place, len(entries), PLAYED_AT_ONCE):
            refuse_lost(live, life)
            await in_background(_play, player, entries[start : start + PLAYED_AT_ONCE])
            if is_alike and player.place % PLAYED_AT_ONCE == 0:
                with suppress(NotNow):
                    parts = await in_background(list, parts_of(player.live, player.place))
                    self.snapshots.add(live, life, snapshot_of(parts))
        refuse_lost(live, life)
        return player


def _play(player: Player, entries: Iterable[Entry], hint: str = REPORT) -> None:
    """Play entries. Raises `Conflict` at the first entry that replays differently."""
    try:
        found = next((found for entry in entries if (found := player.play(entry))), None)
    except Exception as error:  # our mistake: the log has its place
        if hint is REPORT:
            report(error, "a rewind")
        found = Difference(player.place, "an entry", "was played", "failed")
    if found is not None:
        text = f"entry {found.entry} of the tape cannot be repeated ({found.what}), so that nothing was changed"
        raise Conflict("not_repeatable", f"{text}{hint}")


def _copy_marks_and_probes(live: LiveSandbox, rebuilt: LiveSandbox, moment: Moment) -> None:
    """Copy the marks and probes of a sandbox up to a moment, which its tape does not have, to a rebuilt one."""
    rebuilt.marks.restore(live.marks.up_to(moment.n, moment.at))
    rebuilt.probes.clear()  # a snapshot has some of them
    rebuilt.probes.extend(probe for probe in live.probes if probe.at <= moment.at)


def refuse_lost(live: LiveSandbox, life: Life) -> None:
    """Raise `Unknown` or `Conflict` when a sandbox has been deleted, reset or rewound."""
    if live.is_deleted:
        raise Unknown("unknown_sandbox", f"the sandbox {live.id!r} was deleted meanwhile")
    if live.driver.is_stopping:
        raise Conflict("server_stopping", "the server is being stopped; this request was not executed")
    if live.is_closed or live.life is not life:
        text = f"the sandbox {live.id!r} was {live.last_ending} before this request was executed"
        raise Conflict("sandbox_reset", text)


async def _moment_of(live: LiveSandbox, ref: MomentRef) -> Moment:
    """Return the requested moment. Raises `Unknown` for an unknown mark, `Unacceptable` for a time or number that is
    not on the tape, and `Conflict` when a full tape lacks it."""
    if ref.mark is not None:
        mark = live.marks.get(ref.mark)
        return Moment(mark.n, mark.at, mark.name)
    until = ref.n if ref.to is None else ref.to
    if until is None:
        _refuse_full(live)
        return Moment(len(live.tape), live.clock.now(), "now")
    await rebuilding.load_whole_tape(live.tape)
    entries, span = live.tape.frozen_entries(), (live.beginning.started, live.clock.now())
    try:
        moment = await in_background(lambda: rebuilding.moment_in(list(entries), until, *span))
    except Unacceptable:
        if ref.to is None:
            _refuse_full(live)
        raise
    if ref.to is None:
        return moment
    if moment.n == len(entries):
        _refuse_full(live)
    marked = (mark.at for mark in live.marks if mark.n <= moment.n and mark.at <= ref.to.latest)
    return moment._replace(at=max((moment.at, *marked)))


def _moment_of_tape(tape: ReadTape, ref: MomentRef) -> Moment:
    """Return the requested moment of a tape. Raises `Unacceptable`."""
    until = ref.n if ref.to is None else ref.to
    if ref.mark is not None:
        marks = _marks_of(tape)
        if ref.mark not in marks:
            text = f"the tape has no mark {ref.mark!r}; it has {', '.join(marks) or 'none'}"
            raise Unacceptable("unknown_moment", text, "mark")
        mark = marks[ref.mark]
        return Moment(mark.n, mark.at, mark.name)
    if until is not None:
        return rebuilding.moment_until(tape, until)
    return Moment(len(tape.entries), rebuilding.last_time(tape), f"entry {len(tape.entries)}")


def _marks_of(tape: ReadTape) -> dict[str, Mark]:
    found = {}
    for mark in () if tape.end is None else tape.end.marks:
        at = rebuilding.time_behind(tape.entries[: mark.n], tape.head.started)
        found[mark.mark] = Mark(mark.mark, mark.n, at, mark.state)
    return found


def _refuse_full(live: LiveSandbox) -> None:
    _refuse_lost_beginning(live)
    if live.tape.left_out:
        text = (
            f"the tape was full after {len(live.tape)} entries, so later inputs cannot be repeated: raise limits.tape"
            " or limits.tape_bytes of the scenario or --tape-budget of the server, or reset the sandbox"
        )
        raise Conflict("tape_full", text)


def _refuse_lost_beginning(live: LiveSandbox) -> None:
    """Raise `Conflict` when the first entries of a tape are no longer stored."""
    if not len(live.tape) and live.tape.bytes > 0:
        text = "the beginning of the tape is not kept any more, so that there is nothing to return to"
        raise Conflict("not_kept", f"{text}; nothing was changed: reset the sandbox to begin another tape")
