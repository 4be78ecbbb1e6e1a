"""The scenario files that clients list, read and save: the bundled scenarios and the folder of `--scenarios`.

Files may be larger than a request, and a client may create sandboxes from them without limit. So sandboxes with the
same large scenario share it while its files are unchanged, and the number of different large scenarios is limited. All
files are read in the background thread only.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path as FilePath
from threading import Lock
from typing import Final, Literal, NamedTuple
from weakref import ref

import msgspec

from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.scenario import Scenario
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.reading.files import (
    ABSENT,
    FROM_ANYWHERE,
    LISTED_MAX,
    OWN_FILE,
    Fingerprint,
    Folder,
    ScenariosFolder,
    Unreadable,
    bundled_path,
    fingerprint,
    is_path,
    names,
)
from simulator.scenario.reading.load import load_text

LARGE_MAX = 8


class _Kept(msgspec.Struct, frozen=True):
    """A large scenario that a sandbox uses, and its sources: the digest of each file's content."""

    scenario: "ref[Scenario]"
    wanted: bytes
    files: dict[tuple[Folder, str], bytes]
    bundled: Fingerprint

    def is_unchanged(self) -> bool:
        """Return True if all sources are unchanged."""
        try:
            return self.bundled == fingerprint() and all(
                _digest(folder.read(name)) == digest for (folder, name), digest in self.files.items()
            )
        except Unreadable:
            return False


class _Reads(msgspec.Struct):
    """The files that a scenario has read. `on_large` is called once when they exceed the maximum of a request."""

    on_large: Callable[[], None]
    files: dict[tuple[Folder, str], bytes] = msgspec.field(default_factory=dict)
    size: int = 0

    @property
    def is_large(self) -> bool:
        """Return True if the files make this scenario large."""
        return self.size > FROM_ANYWHERE.bytes_max

    def add(self, folder: Folder, name: str, content: bytes) -> None:
        """Record a file. Raises `Unreadable` when the total exceeds the limit, and any error of `on_large`."""
        if (folder, name) in self.files:
            return
        self.size += len(content)
        if self.files and self.size > OWN_FILE.bytes_max:
            raise Unreadable(f"with this one the files of the scenario have more than {OWN_FILE.bytes_max} bytes")
        self.files[folder, name] = _digest(content)
        if self.is_large:
            self.on_large()


class _Noting(msgspec.Struct, frozen=True):
    """A folder that records the files read."""

    folder: Folder
    reads: _Reads

    def read(self, name: str) -> bytes:
        """See `Folder`."""
        content = self.folder.read(name)
        self.reads.add(self.folder, name, content)
        return content

    def real(self, name: str) -> FilePath:
        """See `Folder`."""
        return self.folder.real(name)

    def source(self, name: str) -> str:
        """See `Folder`."""
        return self.folder.source(name)

    def of(self, name: str) -> "_Noting":
        """See `Folder`."""
        return _Noting(self.folder.of(name), self.reads)


class ClientFiles:
    """The scenario folder, and the cache of the large scenarios that sandboxes of this server use."""

    def __init__(self, folder: ScenariosFolder) -> None:
        self.folder = folder
        self._kept: list[_Kept] = []

    def scenario(self, wanted: bytes, load: Callable[[Folder], Scenario]) -> Scenario:
        """Return the scenario that `load` makes of `wanted` and the folder. Raises any error of `load`, and `Conflict`
        when there are too many large scenarios."""
        digest = _digest(wanted)
        if (found := self._found(digest)) is not None:
            return found
        bundled, reads = fingerprint(), _Reads(self._refuse_more)
        scenario = load(_Noting(self.folder, reads))
        if reads.is_large:
            self._kept.append(_Kept(ref(scenario), digest, reads.files, bundled))
        return scenario

    def reading(self) -> Folder:
        """Return a folder for a single reading without a cache. The limits of a scenario apply to all files read."""
        return _Noting(self.folder, _Reads(lambda: None))

    def _found(self, digest: bytes) -> Scenario | None:
        for kept in self._kept:
            if kept.wanted == digest and (scenario := kept.scenario()) is not None and kept.is_unchanged():
                return scenario
        return None

    def _refuse_more(self) -> None:
        self._kept = [kept for kept in self._kept if kept.scenario() is not None]
        if len(self._kept) >= LARGE_MAX:
            text = f"sandboxes have {LARGE_MAX} different scenarios of large files already; delete some first"
            raise Conflict("too_many_large_scenarios", text, "scenario")


def _digest(content: bytes) -> bytes:
    return sha256(content).digest()


Source = Literal["bundled", "folder"]

BUNDLED: Final = "bundled"
FOLDER: Final = "folder"
DESCRIBED_BYTES_MAX: Final = 64 * 1024
"""The maximum size of a file whose description is read; larger files would make a list of thousands take minutes."""

LISTED_BYTES_MAX: Final = 1024 * 1024
"""The maximum that is read for a list. Beyond it, scenarios are listed without descriptions."""


_SAVING = Lock()  # a save compares the file with its revision and replaces it without another save in between


class SavedText(NamedTuple):
    """The text of a scenario. `revision` identifies its content, and changes with it."""

    source: Source
    text: str
    revision: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A listed scenario; `description` is None if the file has no description, is too long or cannot be parsed."""

    name: str
    source: Source
    description: str | None


def listed(folder: ScenariosFolder | None, start: int, count: int) -> tuple[list[Listed], bool]:
    """Return up to `count` scenarios from the position `start` on, bundled ones first, and whether there are more."""
    known: list[tuple[str, Source]] = [(name, BUNDLED) for name in names()]
    known += [(name, FOLDER) for name in ([] if folder is None else folder.names())]
    return list(_described(known[start : start + count], folder)), len(known) > start + count


def _described(known: Iterable[tuple[str, Source]], folder: ScenariosFolder | None) -> Iterator[Listed]:
    read = 0
    for name, source in known:
        content = _content(name, source, folder) if read < LISTED_BYTES_MAX else b""
        read += min(len(content), DESCRIBED_BYTES_MAX)
        yield Listed(name, source, _description(content))


def _content(name: str, source: Source, folder: ScenariosFolder | None) -> bytes:
    """Return the bytes of a file, empty when it cannot be read."""
    try:
        return _bytes(name, source, folder)
    except Unreadable:
        return b""


def _description(content: bytes) -> str | None:
    if len(content) > DESCRIBED_BYTES_MAX:
        return None
    try:
        root = load_text(content, "").root.value
    except ScenarioError:
        return None
    found = root.get("description") if isinstance(root, dict) else None
    return found.value if found is not None and isinstance(found.value, str) else None


def text_of(name: str, source: Source | None, folder: ScenariosFolder | None) -> SavedText:
    """Return the text of a scenario. Without a source, the name decides, since file names have a suffix.

    Raises `Unknown`, and `Conflict` for a file that is not text, or longer than a scenario from the network may be.
    """
    found: Source = FOLDER if is_path(name) else BUNDLED
    try:
        if source not in (None, found):
            raise Unreadable("")
        content = _bytes(name, found, folder)
    except Unreadable:
        raise Unknown("unknown_scenario", _unknown(name, source, folder), "name") from None
    if len(content) > FROM_ANYWHERE.bytes_max:
        raise Conflict("scenario_too_large", f"{name!r} has {len(content)} bytes; {FROM_ANYWHERE.too_long}", "name")
    try:
        return SavedText(found, content.decode("utf-8-sig"), _revision(content))
    except UnicodeDecodeError:
        raise Conflict("scenario_not_text", f"{name!r} is not UTF-8 text", "name") from None


def save_text(name: str, text: bytes, revision: str | None, folder: ScenariosFolder) -> str:
    """Write a scenario into the folder, and return its new revision. Without `revision` the file must be new.

    Raises `Unacceptable` for a refused name, and `Conflict` if the file has another revision or cannot be written, or
    the folder is full.
    """
    with _SAVING:
        try:
            folder.real(name)
        except Unreadable as error:
            raise Unacceptable("bad_request", f"name: {error.reason}", "name") from None
        try:
            current = _revision(folder.read(name))
        except Unreadable as error:
            if error.reason != ABSENT:
                raise Conflict("scenario_not_saved", f"{name!r}: {error.reason}", "name") from None
            current = None
        if current != revision:
            raise Conflict("scenario_changed", _changed(name, current), "revision")
        if current is None and len(folder.names()) >= LISTED_MAX:
            raise Conflict("too_many_scenarios", f"the folder has {LISTED_MAX} scenarios already", "name")
        try:
            folder.write(name, text)
        except Unreadable as error:
            raise Conflict("scenario_not_saved", f"{name!r}: {error.reason}", "name") from None
        return _revision(text)


def _changed(name: str, current: str | None) -> str:
    if current is None:
        return f"{name!r} is no longer there: save it under a new name, or without `revision`"
    return f"{name!r} has another content than you have read: read it again, and make your change in that"


def _revision(content: bytes) -> str:
    return sha256(content).hexdigest()


def _bytes(name: str, source: Source, folder: ScenariosFolder | None) -> bytes:
    """Raises `Unreadable`."""
    if source == BUNDLED:
        if name not in names():
            raise Unreadable("")
        return bundled_path(name).read_bytes()
    if folder is None:
        raise Unreadable("")
    return folder.read(name)


def _unknown(name: str, source: Source | None, folder: ScenariosFolder | None) -> str:
    known = [] if source == FOLDER else names()
    known += [] if source == BUNDLED or folder is None else folder.names()
    where = {BUNDLED: "bundled scenario", FOLDER: "file in the folder of --scenarios", None: "scenario"}[source]
    return f"there is no {where} {name!r}{suggestion(name, known) or '; GET /_sim/scenarios lists them'}"
