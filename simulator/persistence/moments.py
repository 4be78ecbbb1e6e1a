"""The requested moments in the life of a sandbox: by a mark, by a number of entries, or by a time."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.domain.errors import Conflict, Unacceptable
from simulator.domain.model.instants import Times
from simulator.persistence.replay.proof import (
    Moment,
    last_time,
    moment_in,
    moment_until,
    time_behind,
)
from simulator.persistence.replay.rebuilding import load_whole_tape
from simulator.persistence.replay.state_digest import state_digest
from simulator.persistence.replay.tape_reader import ReadTape
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.marks import Mark


class Asked(NamedTuple):
    """A requested moment: the name of a mark, a time of the sandbox, or a number of entries; all empty for the
    present."""

    mark: str | None = None
    to: Times | None = None
    n: int | None = None


def mark_here(live: LiveSandbox, name: str) -> Mark:
    """Mark the present. Raises `Conflict` when the tape is full, during an advance, and like `Marks.add`."""
    live.driver.refuse_while_advancing()
    _refuse_full(live)
    mark = Mark(name, len(live.tape), live.clock.now(), state_digest(live))
    live.marks.add(mark)
    live.keeper.mark(live, mark)
    return mark


async def moment_of(live: LiveSandbox, asked: Asked) -> Moment:
    """Return the requested moment. Raises `Unknown` for an unknown mark, `Unacceptable` for a time or number that is
    not on the tape, and `Conflict` when a full tape lacks it."""
    if asked.mark is not None:
        mark = live.marks.get(asked.mark)
        return Moment(mark.n, mark.at, mark.name)
    until = asked.n if asked.to is None else asked.to
    if until is None:
        _refuse_full(live)
        return Moment(len(live.tape), live.clock.now(), "now")
    await load_whole_tape(live.tape)
    entries = list(live.tape)
    try:
        moment = await in_background(moment_in, entries, until, live.beginning.started, live.clock.now())
    except Unacceptable:
        if asked.to is None:
            _refuse_full(live)
        raise
    if asked.to is None:
        return moment
    if moment.n == len(entries):
        _refuse_full(live)
    marked = (one.at for one in live.marks if one.n <= moment.n and one.at <= asked.to.latest)
    return moment._replace(at=max((moment.at, *marked)))


def moment_of_tape(tape: ReadTape, asked: Asked) -> Moment:
    """Return the requested moment of a tape. Raises `Unacceptable`."""
    until = asked.n if asked.to is None else asked.to
    if asked.mark is not None:
        places = {} if tape.end is None else {mark.mark: mark.n for mark in tape.end.marks}
        if asked.mark not in places:
            text = f"the tape has no mark {asked.mark!r}; it has {', '.join(places) or 'none'}"
            raise Unacceptable("unknown_moment", text, "mark")
        n = places[asked.mark]
        return Moment(n, time_behind(tape.entries[:n], tape.head.started), asked.mark)
    if until is not None:
        return moment_until(tape, until)
    return Moment(len(tape.entries), last_time(tape), f"entry {len(tape.entries)}")


def marks_of_tape(tape: ReadTape, moment: Moment) -> Iterator[Mark]:
    """Yield the marks of a tape up to a moment."""
    for mark in () if tape.end is None else tape.end.marks:
        if mark.n <= moment.n:
            yield Mark(mark.mark, mark.n, time_behind(tape.entries[: mark.n], tape.head.started), mark.state)


def _refuse_full(live: LiveSandbox) -> None:
    if live.tape.left_out and live.tape.keeps_none:
        text = "the sandbox keeps no tape, so that nothing can be repeated: raise limits.tape of the scenario"
        raise Conflict("tape_full", text)
    refuse_lost_beginning(live)
    if live.tape.left_out:
        do = "raise limits.tape or limits.tape_bytes of the scenario, or reset the sandbox"
        if live.tape.is_short_of_budget:
            do = "delete or reset sandboxes (this sandbox, too), or start the server with a larger --tape-budget"
        text = f"the tape was full after {len(live.tape)} entries, so later inputs cannot be repeated: {do}"
        raise Conflict("tape_full", text)


def refuse_lost_beginning(live: LiveSandbox) -> None:
    """Raise `Conflict` when the first entries of a tape are no longer stored."""
    if live.tape.has_lost_beginning:
        text = "the beginning of the tape is not kept any more, so that there is nothing to return to"
        raise Conflict("not_kept", f"{text}; nothing was changed: reset the sandbox to begin another tape")
