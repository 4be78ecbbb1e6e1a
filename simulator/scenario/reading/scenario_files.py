"""Reads scenario files, and confines scenarios from the network to a folder and a size; lists the bundled scenarios.

Names in a scenario are relative to a `ScenarioFolder`: any folder for local files, the folder of `--scenarios` for
network clients. No file outside that folder is read, not even through a link. A refusal does not reveal whether a file
exists.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path as FilePath
from pathlib import PurePosixPath
from typing import BinaryIO

import msgspec

from simulator.contract.files import data_dir
from simulator.scenario.reading.hints import suggestion

BYTES_MAX = 1024 * 1024
NODES_MAX = 25_000


class Bounds(msgspec.Struct, frozen=True):
    """The limits of a scenario: bytes of its text, and number of values, keys included."""

    bytes_max: int = BYTES_MAX
    nodes_max: int = NODES_MAX


FROM_ANYWHERE = Bounds()  # bodies of the control API
OWN_FILE = Bounds(
    16 * BYTES_MAX, 40 * NODES_MAX
)  # also files of `--scenarios`: clients name them, the owner writes them


LISTED_MAX = 1000
SUFFIXES = (".yaml", ".yml")
TAPE_SUFFIXES = (".tape",)
TAPE_BYTES_MAX = 64 * 1024 * 1024

ABSENT = "there is no such file"
_BAD_NAME = "this is not the name of a file"
_CONFINED = "a file of --scenarios is named by its path below that folder, without '..', and ends in {}"
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Unreadable(Exception):
    """A file that cannot be read, and the reason as users see it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ScenarioFolder(msgspec.Struct, frozen=True):
    """A folder that resolves the names in a scenario, relative to `below`. With a `root`, that of `--scenarios` without
    links, files outside it are refused, also behind a link. `on_read` gets each file that was read.

    The methods raise `Unreadable` for a refused name.
    """

    below: FilePath
    root: FilePath | None = None
    on_read: Callable[[FilePath, bytes], None] | None = None

    @classmethod
    def of_scenarios(cls, path: FilePath) -> "ScenarioFolder":
        """Return the folder of `--scenarios` at this path."""
        root = _real(path)
        return cls(root, root)

    def read(self, name: str, bytes_max: int | None = None) -> bytes:
        """Return the content of the file, at most one byte more than a scenario may have, or `bytes_max`."""
        path = self.real(name) if self.root else self.below / name
        content = read_bytes(path, root=self.root, bytes_max=bytes_max)
        if self.on_read is not None:
            self.on_read(path, content)
        return content

    def real(self, name: str, suffixes: tuple[str, ...] = SUFFIXES) -> FilePath:
        """Return the path of the file itself, the same for all links to it."""
        real = _real(self.below / name if self.root is None else self._confined(name, suffixes))
        if self.root is not None and not real.is_relative_to(self.root):
            raise Unreadable(ABSENT)
        return real

    def source(self, name: str) -> str:
        """Return the file's name in problems."""
        return str(self.below / name if self.root is None else self._confined(name).relative_to(self.root))

    def of(self, name: str) -> "ScenarioFolder":
        """Return the folder for names in that file."""
        path = self.below / name if self.root is None else self._confined(name)
        return msgspec.structs.replace(self, below=path.parent)

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file atomically."""
        from simulator.whole_files import write_whole  # imported lazily: few servers save

        real = self.real(name)
        try:
            if real.exists():
                _refuse_special(real.stat().st_mode)
            write_whole(real, content, _refuse_linked)
        except FileNotFoundError:
            raise Unreadable("there is no such folder in the folder of --scenarios") from None
        except OSError as error:
            raise Unreadable(f"cannot be written: {error.strerror or 'unknown error'}") from None

    def tape(self, name: str) -> bytes:
        """Return the content of a file of tapes, up to `TAPE_BYTES_MAX` and a byte."""
        return read_bytes(self.real(name, TAPE_SUFFIXES), root=self.root, bytes_max=TAPE_BYTES_MAX)

    def names(self) -> list[str]:
        """Return the readable scenario files among the first thousand entries of the folder."""
        with suppress(OSError), os.scandir(self.below) as entries:
            return sorted(entry.name for entry in islice(entries, LISTED_MAX) if self._has(entry))
        return []

    def _has(self, entry: os.DirEntry[str]) -> bool:
        """Return True for an ordinary file with a valid name, whose link target, if any, is in the folder as well."""
        try:
            return entry.name.endswith(SUFFIXES) and entry.is_file() and self.real(entry.name) is not None
        except (OSError, Unreadable):
            return False

    def _confined(self, name: str, suffixes: tuple[str, ...] = SUFFIXES) -> FilePath:
        path = PurePosixPath(name)
        if (
            not name.isprintable()
            or "\\" in name
            or not name.endswith(suffixes)
            or path.is_absolute()
            or ".." in path.parts
        ):
            raise Unreadable(_CONFINED.format(" or ".join(suffixes)))
        return self.below / path


def read_bytes(path: FilePath, *, root: FilePath | None = None, bytes_max: int | None = None) -> bytes:
    """Return the content of an ordinary file, at most one byte more than a scenario, or `bytes_max`. Raises
    `Unreadable`.

    With a `root`, `path` has no links, and must still be below the root after the file was opened.
    """
    try:
        _refuse_special(path.stat().st_mode)
        with open(path, "rb", opener=lambda name, _: os.open(name, _FLAGS | (_NO_LINK if root else 0))) as file:
            _refuse_special(os.fstat(file.fileno()).st_mode)
            if root is not None and not _is_at(file, path, root):
                raise Unreadable(ABSENT)
            return file.read((bytes_max or OWN_FILE.bytes_max) + 1)
    except FileNotFoundError:
        raise Unreadable(ABSENT) from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or 'unknown error'}") from None
    except ValueError:  # NUL in the name
        raise Unreadable(_BAD_NAME) from None


def _refuse_linked(path: FilePath) -> None:
    """Refuse a path that has become a link since it was resolved."""
    if _real(path) != path:
        raise Unreadable(ABSENT)


def _refuse_special(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise Unreadable("this is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise Unreadable("this is not an ordinary file")


def _is_at(file: BinaryIO, path: FilePath, root: FilePath) -> bool:
    """Return True if this is the file at `path`, without links: a link may be newer than the resolved path."""
    is_unchanged = _real(path) == path and path.is_relative_to(root)
    return is_unchanged and os.path.samestat(os.fstat(file.fileno()), os.lstat(path))


def _real(path: FilePath) -> FilePath:
    try:
        return FilePath(os.path.realpath(path))
    except (OSError, ValueError):
        raise Unreadable(_BAD_NAME) from None


Fingerprint = tuple[tuple[str, int, int], ...]


def names() -> list[str]:
    """Return the names of the bundled scenarios, `default` first."""
    return sorted((path.stem for path in _files()), key=lambda name: (name != "default", name))


def bundled_path(name: str) -> FilePath:
    """Return the file of a bundled scenario."""
    return data_dir("scenarios") / f"{name}.yaml"


def hint(wrong: str) -> str:
    """Return a suggestion for a name that no bundled scenario has."""
    return suggestion(wrong, names()) or "; `reseller-sim scenarios` lists them"


def bundled_of_file(path: str) -> str:
    """Return the bundled scenario that the name of a missing file probably means; empty for other names."""
    stem = FilePath(path).stem
    return f" (the bundled scenario is {stem!r})" if stem in names() else ""


def fingerprint() -> Fingerprint:
    """Return a value that changes when a bundled file does."""
    return tuple((path.name, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in _files())


def is_path(text: str) -> bool:
    """Return True for a file's path, which cannot be the name of a bundled scenario."""
    return "/" in text or "\\" in text or text.endswith(SUFFIXES)


def _files() -> list[FilePath]:
    folder = data_dir("scenarios")
    return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".yaml")]
