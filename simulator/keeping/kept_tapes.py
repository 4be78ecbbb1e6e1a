"""The tapes of the sandboxes in a folder."""

from datetime import UTC, datetime

import msgspec

from simulator.domain.model.instants import Times
from simulator.replay.attempts import unbegun_of
from simulator.replay.entries_of_lines import Answered
from simulator.replay.head import TakenTape
from simulator.replay.proof import place_at
from simulator.replay.reading import BadTape, Began, entry_from, head_from
from simulator.tape.entries import Entry
from simulator.tape.store.reading import Reading


class NoTape(Exception):
    """The tape of a sandbox cannot be had; the text says why."""


def kept_tape(reading: Reading, sandbox: str) -> TakenTape:
    """The whole tape of a sandbox, up to the time of its last entry. Raises `NoTape`, and `StoreError` for what is
    damaged or not there."""
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
    return TakenTape(whole, entries, 0, latest, unbegun_of(entries))
