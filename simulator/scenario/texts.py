"""Scenarios as they are written: the bundled ones and those of a folder, each with what it says of itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from simulator.domain.errors import Conflict, Unknown
from simulator.scenario.reading.bounds import FROM_ANYWHERE
from simulator.scenario.reading.bundled import bundled_path, is_path, names
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.reading.files import ScenariosFolder, Unreadable
from simulator.scenario.reading.load import load_text

Source = Literal["bundled", "folder"]

BUNDLED: Final = "bundled"
FOLDER: Final = "folder"
DESCRIBED_BYTES_MAX: Final = 64 * 1024
"""A longer file is not read for its description, since a list of thousands would take minutes."""

LISTED_BYTES_MAX: Final = 1024 * 1024
"""When so much was read for one list, the rest has no descriptions."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A scenario in a list; `description` is None when there is none, or the file is too long or makes no sense."""

    name: str
    source: Source
    description: str | None


def listed(folder: ScenariosFolder | None, start: int, count: int) -> tuple[list[Listed], bool]:
    """At most `count` scenarios from the position `start` on, bundled ones first, and whether there are more."""
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
    """The bytes of a file, none when it cannot be read."""
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


def text_of(name: str, source: Source | None, folder: ScenariosFolder | None) -> tuple[Source, str]:
    """The text of a scenario, and where it is. Without a source the name tells it, as files have a suffix.

    Raises `Unknown`, and `Conflict` for one that is longer than a scenario from the network may be, or no text.
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
        return found, content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Conflict("scenario_not_text", f"{name!r} is not UTF-8 text", "name") from None


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
