"""Atomically written files: complete, or not changed at all."""

import os
import stat
import tempfile
from collections.abc import Callable
from errno import EINVAL
from pathlib import Path


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
