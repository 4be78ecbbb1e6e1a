"""Sources of scenarios: bundled scenarios, files, and the layers that they extend.

A scenario and all that it extends are layers, one layer per file. Layers are merged bottom-up: each once, above the
layers that it extends itself, ordered by first mention. So a base that several layers extend lies below them all, and
hides none of their changes.

A scenario from the network may extend bundled scenarios, and files of the folder of `--scenarios`.
"""

from collections.abc import Iterator
from functools import lru_cache, reduce
from pathlib import Path as FilePath

import msgspec

from simulator.scenario.reading.merge import merge, refuse_removals
from simulator.scenario.reading.nodes import (
    Document,
    Node,
    Path,
    Position,
    Problem,
    ProblemReport,
    ScenarioError,
    kind_of,
    path_text,
    shown,
)
from simulator.scenario.reading.scenario_files import (
    ABSENT,
    OWN_FILE,
    Fingerprint,
    ScenarioFolder,
    Unreadable,
    bundled_of_file,
    bundled_path,
    fingerprint,
    hint,
    is_path,
    names,
)
from simulator.scenario.reading.schema_check import check
from simulator.scenario.reading.yaml_parser import load_file, load_text

BASES_MAX = 16

_START = "write 'extends: default' to start with a reseller, its key and a catalog, or list your own 'resellers'"

Layers = dict[FilePath, Node]


class _MergedScenario(msgspec.Struct, frozen=True):
    """A scenario with all that it extends: its layers bottom-up, its own last if it is a file; and the merged
    document."""

    layers: Layers
    document: Document


def read_bundled(name: str) -> Document:
    """Return a bundled scenario merged with all that it extends; cached, so that all scenarios share its nodes.

    Raises `ScenarioError`.
    """
    return _bundled(name, fingerprint()).document


def read_file(path: FilePath) -> Document:
    """Return a scenario file merged with all that it extends. Raises `ScenarioError`."""
    document = _refuse_empty(load_file(path))
    return _Reading().whole(document, ScenarioFolder(path.parent), path.resolve()).document


def read_in(folder: ScenarioFolder, name: str) -> Document:
    """Return a file of this folder merged with all that it extends. Raises `ScenarioError`, and `Unreadable`."""
    document = _refuse_empty(load_text(folder.read(name), folder.source(name), OWN_FILE))
    return _Reading().whole(document, folder.of(name), folder.real(name)).document


def read_text(text: bytes, source: str, folder: ScenarioFolder | None) -> Document:
    """Return the text of a scenario merged with all that it extends. Raises `ScenarioError`."""
    return resolved(_refuse_empty(load_text(text, source)), folder)


def resolved(document: Document, folder: ScenarioFolder | None) -> Document:
    """Return a document without a file, with its catalog file included, merged over all that it extends.

    Paths are relative to `folder`; without it they are rejected. Raises `ScenarioError` when a file cannot be read.
    """
    return _Reading().whole(document, folder, None).document


def lack(document: Document) -> Problem | None:
    """Return the problem of a scenario that neither has nor inherits `resellers`, so that no client can call.

    The scenario loads, since resellers may be added later; but a file without them may be incomplete.
    """
    root = document.root
    if not isinstance(root.value, dict) or "resellers" in root.value:
        return None
    wanted = root.value.get("extends")
    if wanted is not None and not isinstance(wanted.value, str | list):
        return None  # a separate problem
    where = Position(document.source, 1, 1) if wanted is None else wanted.position
    return Problem.at(where, "", "missing_key", f"without resellers no client can call; {_START}")


def files_behind(wanted: str) -> list[FilePath]:
    """Return all files of a scenario, given by path or bundled name: its own, the extended files, and the catalog
    files, whether readable or not."""
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
def _bundled(name: str, current: Fingerprint) -> _MergedScenario:
    path = bundled_path(name)
    return _Reading().whole(load_file(path), ScenarioFolder(path.parent), path.resolve())


class _Name(msgspec.Struct, frozen=True):
    """The name of a file in a document, and its position."""

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
    """A reading of a scenario: each extended file is read, and checked by itself, once."""

    def __init__(self) -> None:
        self._read: dict[FilePath, _MergedScenario | None] = {}  # None while a file is read

    def whole(self, document: Document, folder: ScenarioFolder | None, file: FilePath | None) -> _MergedScenario:
        """Return the document with all that it extends. `file` is its own path."""
        self._read[file or FilePath()] = None
        own = _with_catalog(document, folder)
        layers: Layers = {}
        report = ProblemReport(own.problems)
        inherited: list[Problem] = []
        named: set[str] = set()
        for path, node in _bases(own.root):
            name = _Name(own, node, path)
            if name.text in named:
                report.add(node.position, path, "duplicate", f"{name.text!r} is extended twice")
                continue
            named.add(name.text)
            base = self._base(name, folder)
            layers |= base.layers
            inherited += base.document.problems
        if layers:
            # Problems between the bases were reported with the base that contains them.
            below = reduce(lambda lower, upper: merge(lower, upper, ProblemReport()), layers.values())
            root = merge(below, own.root, report)
        else:
            root = own.root
            refuse_removals(root, report)
        if file is not None:
            layers = layers | {file: own.root}
        return _MergedScenario(layers, Document(root, own.source, (*report.problems(), *inherited)))

    def _base(self, name: _Name, folder: ScenarioFolder | None) -> _MergedScenario:
        inner = None
        if not is_path(name.text):
            if name.text not in names():
                raise name.error("unknown_scenario", f"there is no bundled scenario {name.text!r}{hint(name.text)}")
            real = bundled_path(name.text).resolve()
        elif folder is None:
            raise name.error("no_file", "a scenario in a request can extend bundled ones and files of --scenarios")
        else:
            inner = _included(name, folder, "a scenario")
            real = folder.real(name.text)  # a loop of links was not readable
        found = self._read.get(real)
        if found is None and real in self._read:
            raise name.error("cycle", f"{name.text!r} extends itself, directly or through other files")
        if found is None and len(self._read) > BASES_MAX:
            raise name.error("too_big", f"a scenario extends at most {BASES_MAX} others, including indirect bases")
        if found is None and inner is None:
            found = _bundled(name.text, fingerprint())
        elif found is None:
            assert inner is not None, "a file was parsed"
            assert folder is not None, "in a folder"
            found = _checked(self.whole(inner, folder.of(name.text), real))
        self._read[real] = found
        return found


def _bases(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yield the names in `extends`, a text or a list, each with its path; other values are left to the schema."""
    wanted = root.value.get("extends") if isinstance(root.value, dict) else None
    if wanted is None:
        return
    if isinstance(wanted.value, list):
        yield from ((("extends", at), node) for at, node in enumerate(wanted.value) if isinstance(node.value, str))
    elif isinstance(wanted.value, str):
        yield ("extends",), wanted


def _checked(base: _MergedScenario) -> _MergedScenario:
    """Validate a scenario before another scenario is merged over it, which may hide its problems."""
    document = base.document
    report = ProblemReport(document.problems)
    check(document, report)
    return _MergedScenario(base.layers, Document(document.root, document.source, tuple(report.problems())))


def _included(name: _Name, folder: ScenarioFolder, what: str) -> Document:
    """Parse the file of this name. Raises `ScenarioError`, at the name where the file itself has no position."""
    try:
        inner = load_text(folder.read(name.text), folder.source(name.text), OWN_FILE)
    except Unreadable as error:
        absent = "there is no file" if error.reason == ABSENT else f"{error.reason}:"
        bundled = bundled_of_file(name.text) if error.reason == ABSENT else ""
        raise name.error("no_file", f"{absent} {shown(name.text)} beside this file{bundled}") from None
    except ScenarioError as error:
        raise ScenarioError([*name.document.problems, *error.problems]) from None
    if not isinstance(inner.root.value, dict) or not inner.root.value:
        found = kind_of(inner.root.value) if inner.root.value else "nothing"
        raise name.error("no_file", f"{shown(name.text)} holds {found}, not {what}")
    return inner


def _with_catalog(document: Document, folder: ScenarioFolder | None) -> Document:
    """Return the document with its catalog file's name replaced by the nodes of that file."""
    root = document.root
    wanted = root.value.get("catalog") if isinstance(root.value, dict) else None
    if wanted is None or not isinstance(wanted.value, str):
        return document
    name = _Name(document, wanted, ("catalog",))
    if folder is None:
        raise name.error("no_file", "a scenario without a file needs an inline catalog")
    inner = _included(name, folder, "a catalog")
    assert isinstance(root.value, dict)
    values = {**root.value, "catalog": inner.root}
    return Document(Node(values, root.position, root.keys), document.source, (*document.problems, *inner.problems))
