"""Which paths lead to a simulator's control API, however they are spelled.

Whoever sets a callback URL could otherwise drive the simulator that sends the callback. A proxy before a simulator, or
the simulator itself, may decode a path, resolve its dot segments and merge its slashes, so every reading counts. The
receiving URLs of inboxes and of `reseller-sim proxy` are the exceptions, in their plain spelling alone.
"""

import re
from urllib.parse import unquote

CONTROL = "_sim"
_RECEIVER = re.compile(r"(?:/[^/%]+)*/_sim/(?:inbox/[^/]+/[^/]+|callbacks(?:/[^/]+)*)/?")
_DECODINGS_MAX = 8


def leads_to_control_api(path: str) -> bool:
    """True for the path of a URL that a simulator, or a proxy before it, may read as one of its control API."""
    readings = _readings(path)
    if not any(CONTROL in map(_name, reading) for reading in readings):
        return False
    return not _RECEIVER.fullmatch(path) or any(_leaves_its_folder(reading) for reading in readings)


def _readings(path: str) -> list[list[str]]:
    """The segments of the path as it is, and decoded once, twice and so on."""
    readings = []
    for _ in range(_DECODINGS_MAX):
        readings.append(re.split(r"[/\\]", path))
        decoded = unquote(path)
        if decoded == path:
            return readings
        path = decoded
    return [*readings, [CONTROL]]  # nobody encodes a path so often without something to hide


def _name(segment: str) -> str:
    """A segment without its parameters, in lower case."""
    return segment.partition(";")[0].strip().lower()


def _leaves_its_folder(reading: list[str]) -> bool:
    return any(_name(segment) in (".", "..") for segment in reading) or "" in reading[1:-1]
