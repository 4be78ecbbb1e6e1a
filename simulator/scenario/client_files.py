"""The scenario files that clients list, read and save: the bundled scenarios and the folder of `--scenarios`.

Files may be larger than a request, and a client may create sandboxes from them without limit. So sandboxes with the
same large scenario share it while its files are unchanged, and the number of different large scenarios is limited. All
files are read in the background thread only.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path as FilePath
from threading import Lock
from typing import Final, Literal, NamedTuple
from weakref import ref

import msgspec
from msgspec.structs import replace

from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.scenario import Scenario
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.scenario_files import (
    ABSENT,
    FROM_ANYWHERE,
    LISTED_MAX,
    OWN_FILE,
    Fingerprint,
    ScenarioFolder,
    Unreadable,
    bundled_path,
    fingerprint,
    is_path,
    names,
    read_bytes,
)
from simulator.scenario.reading.yaml_parser import load_text

LARGE_MAX = 8


class _Sources(msgspec.Struct):
    """The files that a scenario has read, with the revision of each, and the bundled scenarios of that time. `on_large`
    is called when the files exceed the maximum of a request."""

    on_large: Callable[[], None] = lambda: None
    files: dict[FilePath, str] = msgspec.field(default_factory=dict)
    size: int = 0
    bundled: Fingerprint = msgspec.field(default_factory=fingerprint)

    def add(self, path: FilePath, content: bytes) -> None:
        """Record a file. Raises `Unreadable` when the total exceeds the limit, and any error of `on_large`."""
        if path in self.files:
            return
        self.size += len(content)
        if self.files and self.size > OWN_FILE.bytes_max:
            raise Unreadable(f"with this file the files of the scenario have more than {OWN_FILE.bytes_max} bytes")
        self.files[path] = _revision(content)
        if self.is_large:
            self.on_large()

    @property
    def is_large(self) -> bool:
        """Return True if the files make this scenario large."""
        return self.size > FROM_ANYWHERE.bytes_max

    def are_unchanged(self, root: FilePath | None) -> bool:
        """Return True if all files are unchanged."""
        try:
            unchanged = all(_revision(read_bytes(path, root=root)) == found for path, found in self.files.items())
        except Unreadable:
            return False
        return unchanged and self.bundled == fingerprint()


class ClientFiles:
    """The scenario folder, and the cache of the large scenarios that sandboxes of this server use."""

    def __init__(self, folder: ScenarioFolder) -> None:
        self.folder = folder
        self._large: list[tuple[ref[Scenario], str, _Sources]] = []

    def scenario(self, wanted: bytes, load: Callable[[ScenarioFolder], Scenario]) -> Scenario:
        """Return the scenario that `load` makes of `wanted` and the folder. Raises any error of `load`, and `Conflict`
        when there are too many large scenarios."""
        digest = _revision(wanted)
        for kept, of, sources in self._large:
            if of == digest and (found := kept()) is not None and sources.are_unchanged(self.folder.root):
                return found
        sources = _Sources(self._refuse_more)
        scenario = load(replace(self.folder, on_read=sources.add))
        if sources.is_large:
            self._large.append((ref(scenario), digest, sources))
        return scenario

    def reading(self) -> ScenarioFolder:
        """Return a folder for a single reading without a cache. The limits of a scenario apply to all files read."""
        return replace(self.folder, on_read=_Sources().add)

    def _refuse_more(self) -> None:
        self._large = [kept for kept in self._large if kept[0]() is not None]
        if len(self._large) >= LARGE_MAX:
            text = f"sandboxes have {LARGE_MAX} different scenarios of large files already; delete some first"
            raise Conflict("too_many_large_scenarios", text, "scenario")


Source = Literal["bundled", "folder"]

BUNDLED: Final = "bundled"
FOLDER: Final = "folder"
HEAD_BYTES: Final = 64 * 1024
"""A description is looked for in this part of a file."""

_DESCRIPTION: Final = re.compile(rb"^description:.*", re.MULTILINE)
_SAVING = Lock()  # a save compares the file with its revision and replaces it without another save in between


class SavedText(NamedTuple):
    """The text of a scenario. `revision` identifies its content, and changes with it."""

    source: Source
    text: str
    revision: str


@dataclass(frozen=True, slots=True)
class ListItem:
    """A listed scenario; `description` is None if none is found at the beginning of the file."""

    name: str
    source: Source
    description: str | None


def listed(folder: ScenarioFolder | None, start: int, count: int) -> tuple[list[ListItem], bool]:
    """Return up to `count` scenarios from the position `start` on, bundled first, and whether there are more."""
    known: list[tuple[str, Source]] = [(name, BUNDLED) for name in names()]
    known += [(name, FOLDER) for name in ([] if folder is None else folder.names())]
    rows = [ListItem(name, source, _description(name, source, folder)) for name, source in known[start : start + count]]
    return rows, len(known) > start + count


def _description(name: str, source: Source, folder: ScenarioFolder | None) -> str | None:
    try:
        line = _DESCRIPTION.search(_bytes(name, source, folder, HEAD_BYTES))
        root = load_text(line[0], "").root.value if line else None
    except (Unreadable, ScenarioError):
        return None
    found = root.get("description") if isinstance(root, dict) else None
    return found.value if found is not None and isinstance(found.value, str) else None


def text_of(name: str, source: Source | None, folder: ScenarioFolder | None) -> SavedText:
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
        text = f"{name!r} has {len(content)} bytes; a scenario has at most {FROM_ANYWHERE.bytes_max} bytes"
        raise Conflict("scenario_too_large", text, "name")
    try:
        return SavedText(found, content.decode("utf-8-sig"), _revision(content))
    except UnicodeDecodeError:
        raise Conflict("scenario_not_text", f"{name!r} is not UTF-8 text", "name") from None


def save_text(name: str, text: bytes, revision: str | None, folder: ScenarioFolder) -> str:
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
            problem = "no longer exists: save it under a new name, or without `revision`"
            if current is not None:
                problem = "was changed after you read it: read it again, and repeat your change"
            raise Conflict("scenario_changed", f"{name!r} {problem}", "revision")
        if current is None and len(folder.names()) >= LISTED_MAX:
            raise Conflict("too_many_scenarios", f"the folder has {LISTED_MAX} scenarios already", "name")
        try:
            folder.write(name, text)
        except Unreadable as error:
            raise Conflict("scenario_not_saved", f"{name!r}: {error.reason}", "name") from None
        return _revision(text)


def _revision(content: bytes) -> str:
    return sha256(content).hexdigest()


def _bytes(name: str, source: Source, folder: ScenarioFolder | None, bytes_max: int | None = None) -> bytes:
    """Raises `Unreadable`."""
    if source == FOLDER and folder is not None:
        return folder.read(name, bytes_max)
    if source == FOLDER or name not in names():
        raise Unreadable("")
    return bundled_path(name).read_bytes()


def _unknown(name: str, source: Source | None, folder: ScenarioFolder | None) -> str:
    known = [] if source == FOLDER else names()
    known += [] if source == BUNDLED or folder is None else folder.names()
    where = {BUNDLED: "bundled scenario", FOLDER: "file in the folder of --scenarios", None: "scenario"}[source]
    return f"there is no {where} {name!r}{suggestion(name, known) or '; GET /_sim/scenarios lists them'}"
