"""Reads what a user names, and no more than a body may have: of a file that has an end, or of stdin."""

import os
import stat
import sys

BYTES_MAX = 10 * 1024 * 1024


class CannotRead(Exception):
    """It cannot be read, or is too long; the text of the exception says which."""


def read_file(name: str, what: str = "the body", bytes_max: int = BYTES_MAX) -> bytes:
    """The bytes of a regular file; `what` it is called. Raises `CannotRead`, also for a device, a pipe or a folder."""
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise CannotRead(f"{what} {name!r} is no regular file")
        with open(name, "rb") as file:
            raw = file.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotRead(f"{what} {name!r} cannot be read: {reason}") from None
    return bounded(raw, f"{what} {name!r}", bytes_max)


def read_stdin(bytes_max: int = BYTES_MAX) -> bytes:
    """All of stdin. Raises `CannotRead`."""
    if sys.stdin is None:
        raise CannotRead("stdin is closed")
    try:
        raw = sys.stdin.buffer.read(bytes_max + 1)
    except OSError as error:
        raise CannotRead(f"stdin cannot be read: {error.strerror or error}") from None
    return bounded(raw, "what stdin has", bytes_max)


def bounded(raw: bytes, what: str, bytes_max: int) -> bytes:
    """The same bytes. Raises `CannotRead` when they are more than `bytes_max`."""
    if len(raw) > bytes_max:
        size = f"{bytes_max // 1024 // 1024} MB" if bytes_max >= 1024 * 1024 else f"{bytes_max} bytes"
        raise CannotRead(f"{what} is over {size}")
    return raw
