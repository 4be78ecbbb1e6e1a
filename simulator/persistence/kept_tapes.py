"""The tapes of the sandboxes in a folder."""

from datetime import UTC, datetime

import msgspec

from simulator.domain.model.instants import Times
from simulator.persistence.reader import Reader, Sandbox
from simulator.persistence.resuming import CannotGoOn, Resuming
from simulator.replay.attempts import unbegun_of
from simulator.replay.entries_of_lines import Answered
from simulator.replay.head import MarkState, TakenTape, digests_of_marks
from simulator.replay.player import Again
from simulator.replay.proof import place_at
from simulator.replay.reading import BadTape, Began, entry_from, head_from
from simulator.replay.rebuilding import nowhere
from simulator.replay.state_digest import state_digest
from simulator.scenario.library import load_scenario
from simulator.tape.entries import Entry


class NoTape(Exception):
    """The tape of a sandbox cannot be had; the text says why."""


def kept_tape(reading: Reader, sandbox: str, again: Again) -> TakenTape:
    """The whole tape of a sandbox, up to the time of its last entry; `again` rebuilds its state. Raises `NoTape`, and
    `StoreError` for what is damaged or not there."""
    kept = reading.sandbox(sandbox)
    if kept.floor:
        text = f"the first {kept.floor} entries of sandbox {sandbox!r} are not kept any more"
        raise NoTape(f"{text}, so that its tape cannot be replayed; export it without --tape")
    entries: list[Entry] = []
    began: Began = {}
    try:
        for line in reading.entries(sandbox):
            entry = entry_from(line.n, line.data, began)
            if not isinstance(entry, Answered):
                entries.append(entry)
        head = head_from(kept.head)
    except BadTape as bad:
        raise NoTape(f"the tape of sandbox {sandbox!r} cannot be read: {bad}") from None
    _, latest = place_at(entries, Times(head.started, datetime.max.replace(tzinfo=UTC)), head.started)
    whole = msgspec.structs.replace(head, entries=len(entries))
    state, marks = _digests(reading, kept, again)
    return TakenTape(whole, entries, 0, latest, unbegun_of(entries), state=state, marks=marks)


def _digests(reading: Reader, kept: Sandbox, again: Again) -> tuple[str, tuple[MarkState, ...]]:
    """The digests of the state at the end and at the marks; none of a sandbox that this version cannot rebuild."""
    try:
        player = Resuming(reading, again, nowhere(), load_scenario("default")).resumed(kept).player
    except CannotGoOn:
        return "", ()
    try:
        return state_digest(player.live), digests_of_marks(player.live)
    finally:
        player.end()
