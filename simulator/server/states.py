"""The states of a connection and of an answer, and what may come in each.

A connection reads and answers at the same time, so there are two machines. The first is the **reading** of one
connection: requests come one after the other, each as a head and a body, until one is the last. What ends the reading
(a refusal, a request that asks to close, a server that stops) leads to DEAF: requests that came before are still
answered, what comes after is dropped. LINGERING follows when everything is written: our side is closed, and the
client gets a moment to read it, because to close at once would reset the connection and could cost it the answer. The
second machine is the **answer** to one request: a head, a body, the end. LEFT is an answer that nobody waits for any
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

    OPENED = auto()  # the first byte
    IDLE = auto()  # the next request
    HEAD = auto()  # the end of a head, of which nothing is missing so far but what the same packet may still bring
    LATE_HEAD = auto()  # the end of a head that did not come in one packet, or of the first, due since the opening
    OFFER = auto()  # the end of a head that offered an upgrade, when its framing is read once more without the offer
    BODY = auto()  # the end of a request whose head has come
    DEAF = auto()  # the answers to the requests before; nothing is read
    LINGERING = auto()  # the client's end of the connection; ours is closed
    CLOSED = auto()  # nothing


class ReadingEvent(IntEnum):
    """What happens to a connection's reading."""

    BEGIN = auto()  # a message's first byte
    PIECE = auto()  # a packet ended within a head
    HEAD_END = auto()  # a head was read and is in order
    OFFERED = auto()  # the parser left off behind a head that offers an upgrade
    END = auto()  # a request came to its end, and another may follow
    LAST_END = auto()  # a request came to its end, after which the connection closes
    REFUSED = auto()  # what came, or did not come in time, is answered by the server itself
    STOP = auto()  # the server takes no new requests
    SENT = auto()  # the last byte was written, while the client may still be sending
    LOST = auto()  # the connection is closed at both ends


# By these names an entry costs 40 ns, by those of the classes 300.
OPENED, IDLE, HEAD, LATE_HEAD, OFFER, BODY, DEAF, LINGERING, CLOSED = Reading
BEGIN, PIECE, HEAD_END, OFFERED, END, LAST_END, REFUSED, STOP, SENT, LOST = ReadingEvent

_ALWAYS: Final = {SENT: LINGERING, LOST: CLOSED}
_WAITING: Final = {BEGIN: HEAD, REFUSED: DEAF, STOP: DEAF, **_ALWAYS}
_IN_HEAD: Final = {HEAD_END: BODY, REFUSED: DEAF, STOP: DEAF, **_ALWAYS}

READING: Final[dict[Reading, dict[ReadingEvent, Reading]]] = {
    OPENED: {**_WAITING, BEGIN: LATE_HEAD},
    IDLE: _WAITING,
    HEAD: {**_IN_HEAD, PIECE: LATE_HEAD},
    LATE_HEAD: {**_IN_HEAD, PIECE: LATE_HEAD},
    BODY: {OFFERED: OFFER, END: IDLE, LAST_END: DEAF, REFUSED: DEAF, STOP: BODY, **_ALWAYS},
    OFFER: {BEGIN: OFFER, HEAD_END: BODY, REFUSED: DEAF, **_ALWAYS},
    DEAF: {STOP: DEAF, **_ALWAYS},
    LINGERING: {SENT: LINGERING, LOST: CLOSED},
    CLOSED: {},
}


class AnswerStage(IntEnum):
    """How far the answer to one request has come."""

    AWAITED = auto()  # not a byte of it was sent
    BEGUN = auto()  # its head was sent
    COMPLETE = auto()  # all of it was sent
    LEFT = auto()  # nobody waits for it any more


AWAITED, BEGUN, COMPLETE, LEFT = AnswerStage
