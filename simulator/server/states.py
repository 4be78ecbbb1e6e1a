"""The states of a connection and of an answer, and what may come in each.

A connection reads and answers at the same time, so there are two machines. The first is the **reading** of one
connection: requests come one after the other, each as a head and a body, until one is the last. What ends the reading
(a refusal, a request that asks to close, a server that stops) leads to DEAF: requests that came before are still
answered, what comes after is dropped. LINGERING follows when everything is written: our side is closed, and the
client gets a moment to read it, because to close at once would reset the connection and could cost it the answer. The
second machine is the **answer** to one request: a head, a body, the end. GONE is an answer that nobody waits for any
more: the client left, or a fault closes the connection; the application reads a disconnect, and what it sends is
dropped. Requests that came while another is being answered queue up, so of one connection at most one answer is under
way. An event that has no entry in a state cannot come there; to look it up is an error.

A wait has a bound in each state that waits for the client: OPENED, LATE_HEAD and BODY end in a refusal (408), IDLE and
LINGERING just close.
"""

from enum import IntEnum, auto
from typing import Final


class Reading(IntEnum):
    """What a connection waits for. Before DEAF it takes bytes, from there on it drops them."""

    OPENED = auto()
    """The first byte."""
    IDLE = auto()
    """The next request."""
    HEAD = auto()
    """The end of a head, of which nothing is missing so far but what the same packet may still bring."""
    LATE_HEAD = auto()
    """The end of a head that did not come in one packet."""
    OFFER = auto()
    """The end of a head that offered an upgrade, when its framing is read once more without the offer."""
    BODY = auto()
    """The end of a request whose head has come."""
    DEAF = auto()
    """The answers to the requests before; nothing is read."""
    LINGERING = auto()
    """The client's end of the connection; ours is closed."""
    CLOSED = auto()
    """Nothing."""


class Event(IntEnum):
    """What happens to a connection's reading."""

    BEGIN = auto()
    """A message's first byte."""
    PIECE = auto()
    """A packet ended within a head."""
    HEAD_END = auto()
    """A head was read and is in order."""
    OFFERED = auto()
    """The parser left off behind a head that offers an upgrade."""
    END = auto()
    """A request came to its end, and another may follow."""
    LAST_END = auto()
    """A request came to its end, after which the connection closes."""
    REFUSED = auto()
    """What came, or did not come in time, is answered by the server itself."""
    STOP = auto()
    """The server takes no new requests."""
    SENT = auto()
    """The last byte was written, while the client may still be sending."""
    LOST = auto()
    """The connection is closed at both ends."""


_ALWAYS: Final = {Event.SENT: Reading.LINGERING, Event.LOST: Reading.CLOSED}
_WAITING: Final = {Event.BEGIN: Reading.HEAD, Event.REFUSED: Reading.DEAF, Event.STOP: Reading.DEAF, **_ALWAYS}
_IN_HEAD: Final = {Event.HEAD_END: Reading.BODY, Event.REFUSED: Reading.DEAF, Event.STOP: Reading.DEAF, **_ALWAYS}

READING: Final[dict[Reading, dict[Event, Reading]]] = {
    Reading.OPENED: _WAITING,
    Reading.IDLE: _WAITING,
    Reading.HEAD: {**_IN_HEAD, Event.PIECE: Reading.LATE_HEAD},
    Reading.LATE_HEAD: {**_IN_HEAD, Event.PIECE: Reading.LATE_HEAD},
    Reading.BODY: {
        Event.OFFERED: Reading.OFFER,
        Event.END: Reading.IDLE,
        Event.LAST_END: Reading.DEAF,
        Event.REFUSED: Reading.DEAF,
        Event.STOP: Reading.BODY,
        **_ALWAYS,
    },
    Reading.OFFER: {
        Event.BEGIN: Reading.OFFER,
        Event.HEAD_END: Reading.BODY,
        Event.REFUSED: Reading.DEAF,
        **_ALWAYS,
    },
    Reading.DEAF: {Event.STOP: Reading.DEAF, **_ALWAYS},
    Reading.LINGERING: {Event.SENT: Reading.LINGERING, Event.LOST: Reading.CLOSED},
    Reading.CLOSED: {},
}


class Answer(IntEnum):
    """How far the answer to one request has come."""

    AWAITED = auto()
    BEGUN = auto()
    COMPLETE = auto()
    GONE = auto()
