"""Reads regular files, within a bound, for flags that name a file."""

import os
import stat


class CannotRead(ValueError):
    """The text says why a file cannot be read, without its name, and `reason` is the system's word for it, if any."""

    def __init__(self, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = reason


def content_of(path: str | os.PathLike[str], bytes_max: int) -> bytes:
    """Return the content of a regular file, following links. Raises `CannotRead`. Never waits, as it would for a
    pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CannotRead("is not a regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(bytes_max + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CannotRead(f"cannot be read: {error.strerror}", error.strerror) from None
    except ValueError as error:
        raise error if isinstance(error, CannotRead) else CannotRead("cannot be read: not a file name") from None
    if len(content) > bytes_max:
        raise CannotRead(f"has more than {bytes_max} bytes")
    return content
