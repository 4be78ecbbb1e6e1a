"""Tapes whose first entries are kept elsewhere: they are read beside the event loop."""

from simulator.persistence.tape.tape import Tape
from simulator.runtime.background import in_background


async def whole(tape: Tape) -> None:
    """Let a tape have all its entries in memory."""
    unread = tape.unread
    if unread is not None:
        tape.has_read(unread, await in_background(unread.read))
