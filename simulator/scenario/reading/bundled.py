"""The bundled scenarios: their names and files."""

import os
from pathlib import Path as FilePath

from simulator.contract.files import data_dir
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.files import SUFFIXES

Fingerprint = tuple[tuple[str, int, int], ...]


def names() -> list[str]:
    """The bundled scenarios, `default` first."""
    return sorted((path.stem for path in _files()), key=lambda name: (name != "default", name))


def bundled_path(name: str) -> FilePath:
    """The file of a bundled scenario."""
    return data_dir("scenarios") / f"{name}.yaml"


def hint(wrong: str) -> str:
    """What to write instead of a name that no bundled scenario has."""
    return suggestion(wrong, names()) or "; `reseller-sim scenarios` lists them"


def bundled_of_file(path: str) -> str:
    """The bundled scenario that is meant by the name of a file that does not exist; empty when it is none."""
    stem = FilePath(path).stem
    return f" (the bundled scenario is {stem!r})" if stem in names() else ""


def fingerprint() -> Fingerprint:
    """Changes when a bundled file does."""
    return tuple((path.name, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in _files())


def is_path(text: str) -> bool:
    """True for a file's path, which cannot be the name of a bundled scenario."""
    return "/" in text or "\\" in text or text.endswith(SUFFIXES)


def _files() -> list[FilePath]:
    folder = data_dir("scenarios")
    return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".yaml")]
