"""Where the path of a target leads, whichever way it is written."""

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from simulator.options import CONTROL_PATH

_DOTS = (b".", b"..")


def has_dots(path: bytes) -> bool:
    """True when a segment is `.` or `..`: below a base path it could lead out of it."""
    return any(segment in _DOTS for segment in _segments(path))


def is_control(path: bytes) -> bool:
    """True for what a simulator may take for its control API: escapes undone, dot segments and empty ones resolved."""
    kept: list[bytes] = []
    for segment in _segments(path):
        if segment == b"..":
            kept[-1:] = []
        elif segment not in (b"", b"."):
            kept.append(segment)
    return bool(kept) and kept[0] == CONTROL_PATH[1:].encode()


def _segments(path: bytes) -> Iterator[bytes]:
    """As servers may read them: some take a backslash for a slash, and cut parameters off at a semicolon."""
    for segment in unquote_to_bytes(path).replace(b"\\", b"/").split(b"/"):
        yield segment.partition(b";")[0]
