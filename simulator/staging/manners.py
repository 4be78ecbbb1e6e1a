"""What all clients of a deployment have in common: their pace, how much of an answer they take, and how they tell that
there was none.

There are two. `upstream/client`, for `import`, is asynchronous and only reads: it asks again after a Retry-After, and
one deadline covers an exchange with all its retries of a connection. `conform/service` is for `conform`, whose checks
are plain functions in one order, which tests call without an event loop. It sends each request exactly once, since a
payment may be among them, after looking whether the kept connection is still there; an answer that says "later" is
what a check wants to see, not a reason to wait; and requests go without the headers that a library adds.
One client would need a switch for each of these.
"""

TIMEOUT_S = 60.0
BODY_BYTES_MAX = 64 * 1024 * 1024
_REASON_CHARS_MAX = 200


class NoAnswer(Exception):
    """There was no complete answer; the text says why, on one line. Whether the request had an effect is unknown."""


class Pace:
    """Turns at most `per_second` times a second, for one who takes them one after another."""

    def __init__(self, per_second: float) -> None:
        self._pause_s = 1 / per_second
        self._next_s = 0.0

    def wait_s(self, now: float) -> float:
        """Take the next turn, and answer how many seconds after `now` it is: at most one pause, also when the clock was
        set back."""
        wait = min(max(self._next_s - now, 0.0), self._pause_s)
        self._next_s = now + wait + self._pause_s
        return wait


def reason_of(error: Exception) -> str:
    """Why an exchange failed, on one line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())[:_REASON_CHARS_MAX]
