"""Reads the sources of scenarios: bundled ones, files, and what they extend.

A scenario and all that it extends are layers, one for each file. They are merged from the bottom up: each once, above
those that it extends itself, in the order in which they are named first. So a base that several extend lies below them
all, and hides nothing that they change.

A scenario that comes from the network may extend bundled ones, and files of the folder of `--scenarios`.
"""

from collections.abc import Iterator
from functools import lru_cache, reduce
from pathlib import Path as FilePath

import msgspec

from simulator.scenario.reading.check import check
from simulator.scenario.reading.document import (
    Document,
    Node,
    Path,
    Position,
    Problem,
    Report,
    ScenarioError,
    kind_of,
    path_text,
    shown,
)
from simulator.scenario.reading.files import (
    ABSENT,
    OWN_FILE,
    AnyFolder,
    Fingerprint,
    Folder,
    Unreadable,
    bundled_of_file,
    bundled_path,
    fingerprint,
    hint,
    is_path,
    names,
)
from simulator.scenario.reading.load import load_file, load_text
from simulator.scenario.reading.merge import merge, refuse_removals

CHAIN_MAX = 8
BASES_MAX = 16

_START = "write 'extends: default' to start with a reseller, its key and a catalog, or list your own 'resellers'"

Layers = dict[FilePath, Node]


class _Whole(msgspec.Struct, frozen=True):
    """A scenario with all that it extends: its layers from the bottom up, its own last if it is a file; all merged; and
    how many files deep it is."""

    layers: Layers
    document: Document
    height: int


def read_bundled(name: str) -> Document:
    """A bundled scenario merged with all that it extends; cached, so that everything that extends it shares its nodes.

    Raises `ScenarioError`.
    """
    return _bundled(name, fingerprint()).document


def read_file(path: FilePath) -> Document:
    """A scenario file merged with all that it extends. Raises `ScenarioError`."""
    document = _refuse_empty(load_file(path))
    return _Reading().whole(document, AnyFolder(path.parent), (path.resolve(),)).document


def read_in(folder: Folder, name: str) -> Document:
    """A file of this folder merged with all that it extends. Raises `ScenarioError`, and `Unreadable`."""
    document = _refuse_empty(load_text(folder.read(name), folder.source(name), OWN_FILE))
    return _Reading().whole(document, folder.of(name), (folder.real(name),)).document


def read_text(text: bytes, source: str, folder: Folder | None) -> Document:
    """The text of a scenario merged with all that it extends. Raises `ScenarioError`."""
    return resolved(_refuse_empty(load_text(text, source)), folder)


def resolved(document: Document, folder: Folder | None) -> Document:
    """A document that is no file, with its catalog file included, merged over what it extends.

    Paths are relative to `folder`; without one they are rejected. Raises `ScenarioError` when one of them cannot be
    read.
    """
    return _Reading().whole(document, folder, ()).document


def lack(document: Document) -> Problem | None:
    """The problem of a scenario that neither has nor inherits `resellers`: nobody can call until one is created.

    It loads, since resellers may come later; but a file that lacks them may be half-written.
    """
    root = document.root
    if not isinstance(root.value, dict) or "resellers" in root.value:
        return None
    wanted = root.value.get("extends")
    if wanted is not None and not isinstance(wanted.value, str | list):
        return None  # a problem of its own
    where = Position(document.source, 1, 1) if wanted is None else wanted.position
    return Problem.at(where, "", "missing_key", f"there are no resellers, so nobody can call; {_START}")


def files_behind(wanted: str) -> list[FilePath]:
    """All files of a scenario, given by path or bundled name: its own, those it extends, and those of its catalog,
    whether readable or not."""
    found: list[FilePath] = []
    waiting = [FilePath(wanted) if is_path(wanted) or wanted not in names() else bundled_path(wanted)]
    while waiting and len(found) < 2 * (1 + BASES_MAX):
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += _named_by(path)
    return found


def _named_by(path: FilePath) -> list[FilePath]:
    try:
        root = load_file(path).root
    except ScenarioError:
        return []
    bases = [str(node.value) for _, node in _bases(root)]
    named = [path.parent / name if is_path(name) else bundled_path(name) for name in bases]
    catalog = root.value.get("catalog") if isinstance(root.value, dict) else None
    if catalog is not None and isinstance(catalog.value, str):
        named.append(path.parent / catalog.value)
    return named


def _refuse_empty(document: Document) -> Document:
    if not document.root.value:
        empty = Problem(document.source, 1, 1, "", "empty", f"this file is empty; {_START}")
        raise ScenarioError([*document.problems, empty])
    return document


@lru_cache(maxsize=64)
def _bundled(name: str, current: Fingerprint) -> _Whole:
    path = bundled_path(name)
    return _Reading().whole(load_file(path), AnyFolder(path.parent), (path.resolve(),))


class _Name(msgspec.Struct, frozen=True):
    """The name of a file in a document, and where it is."""

    document: Document
    node: Node
    path: Path

    @property
    def text(self) -> str:
        return str(self.node.value)

    def error(self, code: str, message: str) -> ScenarioError:
        problem = Problem.at(self.node.position, path_text(self.path), code, message)
        return ScenarioError([*self.document.problems, problem])


class _Reading:
    """One reading of a scenario: each file that it extends is read, and checked by itself, once."""

    def __init__(self) -> None:
        self._read: dict[FilePath, _Whole] = {}

    def whole(self, document: Document, folder: Folder | None, chain: tuple[FilePath, ...]) -> _Whole:
        """The document with all that it extends. `chain` has the files that extend each other, down to its own."""
        own = _with_catalog(document, folder)
        layers: Layers = {}
        report, height = Report(own.problems), 0
        inherited: list[Problem] = []
        named: set[str] = set()
        for path, node in _bases(own.root):
            name = _Name(own, node, path)
            if name.text in named:
                report.add(node.position, path, "duplicate", f"{name.text!r} is extended twice")
                continue
            named.add(name.text)
            if len(named) > BASES_MAX:
                raise name.error("too_big", f"a scenario extends at most {BASES_MAX} others")
            base = self._base(name, folder, chain)
            layers |= base.layers
            inherited += base.document.problems
            height = max(height, base.height)
        if layers:
            # What is wrong between the bases was reported with the one that it is in.
            below = reduce(lambda lower, upper: merge(lower, upper, Report()), layers.values())
            root = merge(below, own.root, report)
        else:
            root = own.root
            refuse_removals(root, report)
        if chain:
            layers = layers | {chain[-1]: own.root}
        return _Whole(layers, Document(root, own.source, (*report.problems(), *inherited)), height + 1)

    def _base(self, name: _Name, folder: Folder | None, chain: tuple[FilePath, ...]) -> _Whole:
        if not is_path(name.text):
            return self._bundled(name, chain)
        if folder is None:
            raise name.error("no_file", "a scenario without a file extends a bundled one only")
        inner = _included(name, folder, "a scenario")
        real = folder.real(name.text)  # a loop of links was not readable
        if real in chain:
            raise name.error("cycle", f"{name.text!r} leads back to itself")
        found = self._read.get(real)
        if len(chain) + (found.height if found else 1) > CHAIN_MAX:
            raise name.error("cycle", f"more than {CHAIN_MAX} scenarios extend each other")
        if found is None:
            found = _checked(self.whole(inner, folder.of(name.text), (*chain, real)))
            self._keep(name, real, found)
        return found

    def _bundled(self, name: _Name, chain: tuple[FilePath, ...]) -> _Whole:
        if name.text not in names():
            message = f"there is no bundled scenario {name.text!r}{hint(name.text)}"
            raise name.error("unknown_scenario", message)
        real = bundled_path(name.text).resolve()
        if real in chain:
            raise name.error("cycle", f"{name.text!r} leads back to itself")
        found = _bundled(name.text, fingerprint())
        self._keep(name, real, found)
        return found

    def _keep(self, name: _Name, real: FilePath, found: _Whole) -> None:
        self._read[real] = found
        if len(self._read) > BASES_MAX:
            raise name.error("too_big", f"a scenario extends at most {BASES_MAX} others, and those that they extend")


def _bases(root: Node) -> Iterator[tuple[Path, Node]]:
    """The names in `extends`, one or a list, each with its path; what is no text is left to the schema."""
    wanted = root.value.get("extends") if isinstance(root.value, dict) else None
    if wanted is None:
        return
    if isinstance(wanted.value, list):
        yield from ((("extends", at), node) for at, node in enumerate(wanted.value) if isinstance(node.value, str))
    elif isinstance(wanted.value, str):
        yield ("extends",), wanted


def _checked(base: _Whole) -> _Whole:
    """A scenario before another one is merged over it, which may hide what is wrong with it."""
    document = base.document
    report = Report(document.problems)
    check(document, report)
    return _Whole(base.layers, Document(document.root, document.source, tuple(report.problems())), base.height)


def _included(name: _Name, folder: Folder, what: str) -> Document:
    """The file of this name. Raises `ScenarioError`, at the name where there is nothing in the file to blame."""
    try:
        inner = load_text(folder.read(name.text), folder.source(name.text), OWN_FILE)
    except Unreadable as error:
        absent = "there is no file" if error.reason == ABSENT else f"{error.reason}:"
        bundled = bundled_of_file(name.text) if error.reason == ABSENT else ""
        raise name.error("no_file", f"{absent} {shown(name.text)} beside this one{bundled}") from None
    except ScenarioError as error:
        raise ScenarioError([*name.document.problems, *error.problems]) from None
    if not isinstance(inner.root.value, dict) or not inner.root.value:
        found = kind_of(inner.root.value) if inner.root.value else "nothing"
        raise name.error("no_file", f"{shown(name.text)} holds {found}, not {what}")
    return inner


def _with_catalog(document: Document, folder: Folder | None) -> Document:
    """The document with the name of its catalog file replaced by that file's nodes."""
    root = document.root
    wanted = root.value.get("catalog") if isinstance(root.value, dict) else None
    if wanted is None or not isinstance(wanted.value, str):
        return document
    name = _Name(document, wanted, ("catalog",))
    if folder is None:
        raise name.error("no_file", "a scenario without a file has its catalog inline")
    inner = _included(name, folder, "a catalog")
    assert isinstance(root.value, dict)
    values = {**root.value, "catalog": inner.root}
    return Document(Node(values, root.position, root.keys), document.source, (*document.problems, *inner.problems))
