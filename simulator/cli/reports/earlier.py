"""The folder of a report before its run has ended: what an earlier run left there is removed, and the page says that
there is no result yet, or why there is none."""

import re
from contextlib import suppress
from pathlib import Path

from simulator.cli.flags import CannotStart
from simulator.cli.output import one_line
from simulator.cli.reports.flags import UNFINISHED
from simulator.cli.reports.page import TITLE, page

INDEX = "index.html"
FILES = ("journal.har", "payments.json", "callbacks.json", "audit.json", "coverage.json", "expectations.json")
"""The files of one sandbox."""

_NAME = re.compile(r"[0-9]{3}-[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HEAD_CHARS = 2000


def begin(folder: Path) -> None:
    """Create the folder, or remove what an earlier report wrote there. Raises `CannotStart` when it cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _has_report(folder):
            for path in filter(_is_of_report, list(folder.iterdir())):
                _remove(path)
        (folder / INDEX).write_text(page((), (), UNFINISHED), "utf-8")
    except OSError as error:
        text = f"reseller-sim exec: the folder {folder} cannot be written: {error.strerror}"
        raise CannotStart(one_line(text)) from None


def not_run(folder: Path, message: str) -> None:
    """Write a page that says why there is no result, if it can be written."""
    with suppress(OSError, CannotStart):
        begin(folder)
        (folder / INDEX).write_text(page((), (), *message.split("\n")), "utf-8")


def _has_report(folder: Path) -> bool:
    try:
        with (folder / INDEX).open(encoding="utf-8", errors="replace") as file:
            return f"<title>{TITLE}</title>" in file.read(_HEAD_CHARS)
    except FileNotFoundError:
        return False


def _is_of_report(path: Path) -> bool:
    """True for a folder that is named as those of sandboxes are and has only their files, so that nothing else is ever
    removed."""
    return (
        _NAME.fullmatch(path.name) is not None
        and path.is_dir()
        and not path.is_symlink()
        and all(one.name in FILES and one.is_file() and not one.is_symlink() for one in path.iterdir())
    )


def _remove(path: Path) -> None:
    for name in FILES:
        (path / name).unlink(missing_ok=True)
    path.rmdir()
