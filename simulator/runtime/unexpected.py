"""Reports a mistake of ours: one line for the diagnosis, a traceback for the log, both without what a client sent."""

import logging
import traceback
from pathlib import Path
from typing import Final

_LOG: Final = logging.getLogger(__name__)
_reports: Final = [0]


def reported() -> int:
    """How many there were in this process."""
    return _reports[0]


def report(error: Exception, doing: str) -> str:
    """Log an exception that nothing foresaw, and return its type and place: `KeyError in payments.py, line 12`.

    Its message is left out, since it may quote a secret. `doing` says what failed.
    """
    _reports[0] += 1
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "no place"
    what = f"{type(error).__name__} in {place}"
    _LOG.error("%s failed: %s\n%s", doing, what, "".join(traceback.format_list(frames)).rstrip())
    return what
