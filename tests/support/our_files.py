"""The files of the checkout, without installed and generated files."""

import os
from collections.abc import Iterator
from pathlib import Path

INSTALLED = {"node_modules", "__pycache__"}  # tests/interop has tens of thousands of files of others


def our_files(folder: Path, *suffixes: str) -> Iterator[Path]:
    """The files below a folder whose names end with one of these, such as `.py`."""
    for path, folders, names in os.walk(folder):
        folders[:] = set(folders) - INSTALLED
        yield from (Path(path, name) for name in names if name.endswith(suffixes))
