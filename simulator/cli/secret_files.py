"""Small files with secrets, which a running server may read again: bounded, regular, and for their owner alone."""

import os
import stat

from simulator.cli.output import print_to_stderr
from simulator.shortened import one_line


class CannotRead(ValueError):
    """The file cannot be read; the text says why, without its name."""


def content_of(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """What is in a regular file, behind all links. Raises `CannotRead`. Never waits, as it would at the end of a
    pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CannotRead("is no regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(bytes_max + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CannotRead(f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise error if isinstance(error, CannotRead) else CannotRead("cannot be read: not a file name") from None
    if len(content) > bytes_max:
        raise CannotRead(f"has more than {bytes_max} bytes")
    return content


def warn_of_readers(path: str | os.PathLike[str]) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        name = os.fspath(path)
        print_to_stderr(one_line(f"reseller-sim: {name}: {who} can read this secret; chmod 600 {name}"))
