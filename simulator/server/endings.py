"""How the answer to a request ends, as an application asks for it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Ending:
    """One of the constants below, or a `drip`. `name` is empty where the whole answer goes out, if slowly;
    `bytes_per_second` is the pace of its body, 0 for at once."""

    name: str
    bytes_per_second: float = 0.0


WHOLE: Final = Ending("")
"""As usual: all of it, and the connection is kept."""

ABORT: Final = Ending("abort")
"""The connection is closed without a byte."""

CUT: Final = Ending("cut")
"""The connection is closed in the middle of the body."""

GONE: Final = Ending("gone")
"""The client had left, and nothing is sent."""


def drip(bytes_per_second: float) -> Ending:
    """The head at once and the body at this pace."""
    return Ending("", bytes_per_second)
