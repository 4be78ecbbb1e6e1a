"""The tapes of the sandboxes in a folder."""

import msgspec

from simulator.replay.head import TakenTape
from simulator.replay.reading import Answered, BadTape, Began, entry_from, head_from
from simulator.tape.entries import Entry
from simulator.tape.store.reading import Reading


class NoTape(Exception):
    """The tape of a sandbox cannot be had; the text says why."""


def kept_tape(reading: Reading, sandbox: str) -> TakenTape:
    """The whole tape of a sandbox. Raises `NoTape`, and `StoreError` for what is damaged or not there."""
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
    return TakenTape(msgspec.structs.replace(head, entries=len(entries)), entries, 0)
