"""Reads what a user names, and no more than a body may have: of a file that has an end, or of stdin."""

import os
import stat
import sys

BYTES_MAX = 10 * 1024 * 1024


class CannotRead(Exception):
    """It cannot be read, or is over 10 MB; the text of the exception says which."""


def read_file(name: str) -> bytes:
    """The bytes of a regular file. Raises `CannotRead`, also for a device, a pipe or a folder."""
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise CannotRead(f"the body {name!r} is no regular file")
        with open(name, "rb") as file:
            raw = file.read(BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotRead(f"the body {name!r} cannot be read: {reason}") from None
    return _bounded(raw, f"the body {name!r}")


def read_stdin() -> bytes:
    """All of stdin. Raises `CannotRead`."""
    return _bounded(sys.stdin.buffer.read(BYTES_MAX + 1), "what stdin has")


def _bounded(raw: bytes, what: str) -> bytes:
    if len(raw) > BYTES_MAX:
        raise CannotRead(f"{what} is over 10 MB")
    return raw
