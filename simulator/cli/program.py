"""How this program is called again: by a person who pastes a line, and by what `exec` and `explore` start."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import join, quote
from typing import Final

NAME: Final = "reseller-sim"


def pasted() -> str:
    """What begins a line for the user's shell: a virtual environment or one file may not be on the PATH."""
    import shutil

    called = Path(sys.argv[0])
    if shutil.which(NAME):
        return NAME
    if not _is_file_of_ours(called):
        return join(_again())
    name = str(called) if called.name != str(called) else os.path.join(os.curdir, called)  # a shell searches the others
    return quote(name) if os.access(called, os.X_OK) else join([sys.executable, name])


@contextmanager
def on_path() -> Iterator[None]:
    """As long as it lasts, what this process starts finds `reseller-sim`. Where the PATH has none, as with one file or
    a virtual environment that is not active, a folder with this one command stands at its end. Where none can be made,
    the PATH stays as it is."""
    import shutil

    before = os.environ.get("PATH")
    folder = None if shutil.which(NAME) or os.name != "posix" else _made()
    if folder is None:
        yield
        return
    os.environ["PATH"] = f"{os.defpath if before is None else before}{os.pathsep}{folder}"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before
        shutil.rmtree(folder, ignore_errors=True)


def _made() -> Path | None:
    """A new folder with a script of our name, for this user alone."""
    import tempfile

    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{NAME}-"))
        script = folder / NAME
        script.write_text(f'#!/bin/sh\nexec {join(_again())} "$@"\n', "utf-8", "surrogateescape")
        script.chmod(0o700)
    except OSError:
        return None
    return folder


def _again() -> list[str]:
    """The words that call this program, from whatever folder; the package as a command imports no other `simulator`."""
    called = Path(sys.argv[0])
    own = [str(called.absolute())] if _is_file_of_ours(called) else ["-m", "reseller_sim"]
    return [sys.executable, *own]


def _is_file_of_ours(called: Path) -> bool:
    return called.name == NAME
