"""Tapes whose first entries are stored elsewhere, and read in a thread."""

from simulator.persistence.tape.tape import Tape
from simulator.runtime.background import in_background


async def whole(tape: Tape) -> None:
    """Load all entries of a tape into memory."""
    unread = tape.unread
    if unread is not None:
        tape.has_read(unread, await in_background(unread.read))
