"""Reads the sources of scenarios: bundled ones, files, and what they extend.

A scenario that is an object may extend bundled ones only and name no file, since it may come from the network.
"""

import os
from functools import lru_cache
from pathlib import Path as FilePath

from simulator.contract.files import data_dir
from simulator.scenario.reading.bounds import OWN_FILE
from simulator.scenario.reading.check import check, suggestion
from simulator.scenario.reading.document import (
    Document,
    Node,
    Path,
    Position,
    Problem,
    Report,
    ScenarioError,
    kind_of,
    shown,
)
from simulator.scenario.reading.load import Unreadable, load_file, load_text, read_bytes
from simulator.scenario.reading.merge import merge

CHAIN_MAX = 8
SUFFIXES = (".yaml", ".yml")

_START = "write 'extends: default' to start with a reseller, its key and a catalog, or list your own 'resellers'"

Fingerprint = tuple[tuple[str, int, int], ...]


def names() -> list[str]:
    """The bundled scenarios, `default` first."""
    return sorted((path.stem for path in _bundled_files()), key=lambda name: (name != "default", name))


def bundled_path(name: str) -> FilePath:
    """The file of a bundled scenario."""
    return data_dir("scenarios") / f"{name}.yaml"


def fingerprint() -> Fingerprint:
    """Changes when a bundled file does."""
    return tuple((path.name, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in _bundled_files())


def read_bundled(name: str) -> Document:
    """A bundled scenario merged with all that it extends; cached, so that everything that extends it shares its nodes.

    Raises `ScenarioError`.
    """
    return _read_bundled(name, fingerprint())


def read_file(path: FilePath) -> Document:
    """A scenario file merged with all that it extends. Raises `ScenarioError`."""
    document = load_file(path)
    if not document.root.value:
        raise ScenarioError(
            [*document.problems, Problem(document.source, 1, 1, "", "empty", f"this file is empty; {_START}")]
        )
    return resolved(document, path.parent, (path.resolve(),))


def lack(document: Document) -> Problem | None:
    """The problem of a scenario that neither has nor inherits `resellers`: nobody can call until one is created.

    It loads, since resellers may come later; but a file that lacks them may be half-written.
    """
    root = document.root
    if not isinstance(root.value, dict) or "resellers" in root.value:
        return None
    wanted = root.value.get("extends")
    if wanted is not None and not isinstance(wanted.value, str):
        return None  # a problem of its own
    where = Position(document.source, 1, 1) if wanted is None else wanted.position
    return Problem(*where, "", "missing_key", f"there are no resellers, so nobody can call; {_START}")


def files_behind(wanted: str) -> list[FilePath]:
    """All files of a scenario, given by path or bundled name: its own, those it extends, and those of its catalog,
    whether readable or not."""
    found: list[FilePath] = []
    waiting = [FilePath(wanted) if is_path(wanted) or wanted not in names() else bundled_path(wanted)]
    while waiting and len(found) < 2 * CHAIN_MAX:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += _named_by(path)
    return found


def _named_by(path: FilePath) -> list[FilePath]:
    try:
        root = load_file(path).root.value
    except ScenarioError:
        return []
    named: list[FilePath] = []
    for key in ("extends", "catalog"):
        text = root[key].value if isinstance(root, dict) and key in root else None
        if isinstance(text, str):
            is_name = key == "extends" and not is_path(text)
            named.append(bundled_path(text) if is_name else path.parent / text)
    return named


def is_file(path: FilePath) -> bool:
    """True when there is an ordinary file that can be read."""
    try:
        read_bytes(path)
    except Unreadable:
        return False
    return True


def is_path(text: str) -> bool:
    """True for a file's path, which cannot be the name of a bundled scenario."""
    return "/" in text or "\\" in text or text.endswith(SUFFIXES)


@lru_cache(maxsize=64)
def _read_bundled(name: str, current: Fingerprint) -> Document:
    return read_file(bundled_path(name))


def _bundled_files() -> list[FilePath]:
    folder = data_dir("scenarios")
    return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".yaml")]


def resolved(document: Document, folder: FilePath | None, chain: tuple[FilePath, ...] = ()) -> Document:
    """The document with its catalog file included, merged over what it extends.

    Paths are relative to `folder`; without one they are rejected. `chain` is the chain of extending files.
    Raises `ScenarioError` when one of them cannot be read.
    """
    root, problems = _with_catalog(document, folder)
    wanted = root.value.get("extends") if isinstance(root.value, dict) else None
    if wanted is None or not isinstance(wanted.value, str):
        return Document(root, document.source, problems)
    base = _base(document, wanted, folder, chain)
    return Document(merge(base.root, root), document.source, (*problems, *base.problems))


def _base(document: Document, wanted: Node, folder: FilePath | None, chain: tuple[FilePath, ...]) -> Document:
    text = str(wanted.value)
    if not is_path(text):
        if text not in names():
            message = f"there is no bundled scenario {text!r}{suggestion(text, names())}"
            raise _error(document, wanted, ("extends",), "unknown_scenario", message)
        if bundled_path(text).resolve() in chain:
            raise _error(document, wanted, ("extends",), "cycle", f"{text!r} leads back to itself")
        return read_bundled(text)
    if folder is None:
        raise _error(document, wanted, ("extends",), "no_file", "a scenario without a file extends a bundled one only")
    path = folder / text
    inner = _included(document, wanted, "extends", path)
    real = path.resolve()  # a loop of links was not readable
    if real in chain:
        raise _error(document, wanted, ("extends",), "cycle", f"{text!r} leads back to itself")
    if len(chain) >= CHAIN_MAX:
        raise _error(document, wanted, ("extends",), "cycle", f"more than {CHAIN_MAX} scenarios extend each other")
    return _checked(resolved(inner, path.parent, (*chain, real)))


def _checked(base: Document) -> Document:
    """A scenario before another one is merged over it, which may hide what is wrong with it."""
    report = Report(base.problems)
    check(base, report)
    return Document(base.root, base.source, tuple(report.problems()))


def _included(document: Document, wanted: Node, key: str, path: FilePath) -> Document:
    """The file that `key` names. Raises `ScenarioError`, at the name where there is nothing in the file to blame."""
    try:
        inner = load_text(read_bytes(path), str(path), OWN_FILE)
    except Unreadable as error:
        absent = "there is no file" if error.reason.startswith("there is no") else f"{error.reason}:"
        raise _error(document, wanted, (key,), "no_file", f"{absent} {shown(wanted.value)} beside this one") from None
    except ScenarioError as error:
        raise ScenarioError([*document.problems, *error.problems]) from None
    if not isinstance(inner.root.value, dict) or not inner.root.value:
        what = "a scenario" if key == "extends" else "a catalog"
        found = kind_of(inner.root.value) if inner.root.value else "nothing"
        raise _error(document, wanted, (key,), "no_file", f"{shown(wanted.value)} holds {found}, not {what}")
    return inner


def _with_catalog(document: Document, folder: FilePath | None) -> tuple[Node, tuple[Problem, ...]]:
    """The root with the name of its catalog file replaced by that file's nodes."""
    root = document.root
    wanted = root.value.get("catalog") if isinstance(root.value, dict) else None
    if wanted is None or not isinstance(wanted.value, str):
        return root, document.problems
    if folder is None:
        text = "a scenario without a file has its catalog inline"
        raise _error(document, wanted, ("catalog",), "no_file", text)
    inner = _included(document, wanted, "catalog", folder / wanted.value)
    assert isinstance(root.value, dict)
    values = {**root.value, "catalog": inner.root}
    return Node(values, root.position, root.keys), (*document.problems, *inner.problems)


def _error(document: Document, node: Node, path: Path, code: str, message: str) -> ScenarioError:
    problem = Problem(*node.position, ".".join(map(str, path)), code, message)
    return ScenarioError([*document.problems, problem])
