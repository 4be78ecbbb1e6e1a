"""The inputs from outside to the inboxes of a sandbox, each recorded on its tape."""

from collections.abc import Mapping
from typing import Any

from simulator.domain.model.inboxes import InboxProgram, InboxReply
from simulator.persistence.tape.entries import Entry, InboxCleared, InboxProgrammed, InboxReceived
from simulator.persistence.tape.tape import ENTRY_BYTES
from simulator.runtime.live_sandbox import LiveSandbox


def receive(
    live: LiveSandbox, inbox: str, method: str, query: bytes, headers: tuple[tuple[bytes, bytes], ...], body: bytes
) -> InboxReply:
    """Let an inbox receive a request from outside."""
    wall = live.clock.wall()
    came = InboxReceived(live.clock.at(wall), wall, inbox, method, query, headers, body)
    _note(live, came, ENTRY_BYTES + len(body))
    return live.inboxes.receive(came)


def program(live: LiveSandbox, inbox: str, document: Mapping[str, Any], made: InboxProgram) -> None:
    """Set the replies of an inbox, from a document and the program compiled from it. Raises `Conflict`."""
    live.inboxes.set_program(inbox, made)
    _note(live, InboxProgrammed(live.clock.now(), inbox, document))


def clear(live: LiveSandbox, inbox: str) -> None:
    """Delete the messages and replies of an inbox."""
    live.inboxes.forget(inbox)
    _note(live, InboxCleared(live.clock.now(), inbox))


def _note(live: LiveSandbox, entry: Entry, size: int = ENTRY_BYTES) -> None:
    """Record an input. Between two lives, inboxes store nothing, and the tape is already the tape of the next life."""
    if not live.inboxes.is_closed:
        live.tape.add(entry, size)
