"""Files that are read whole, within a bound, and files that are written whole or not changed at all."""

import os
import stat
import tempfile
from collections.abc import Callable
from errno import EINVAL
from pathlib import Path

FILE_BYTES_MAX = 1024 * 1024
"""The maximum size of a file of certificates or tokens."""


class CannotRead(ValueError):
    """The text says why a file cannot be read, without its name, and `reason` is the system's word for it, if any."""

    def __init__(self, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = reason


def content_of(path: str | os.PathLike[str], bytes_max: int = FILE_BYTES_MAX) -> bytes:
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


def write_whole(path: Path, content: bytes, check: Callable[[Path], None] = lambda _: None) -> None:
    """Replace or create a file; its permissions stay. `check` may refuse the written file before it replaces the old
    one. Raise `OSError`, also for a link, a device or anything else that is not a regular file."""
    refuse_other_than_file(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check(Path(name))
        os.chmod(name, _mode_of(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def refuse_other_than_file(path: Path) -> None:
    """Raise `OSError` when the path exists and is not a regular file. A link may lead anywhere."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(EINVAL, "it is not a regular file", str(path))


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
