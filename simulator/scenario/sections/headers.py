"""Reads the headers of scripted answers: of faults and of inboxes."""

import re
from collections.abc import Iterator

from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import Reader

CONTENT_TYPE = "content-type"
OWN_PREFIX = "x-sim-"

# They follow from the body, the connection and the time of the answer.
FRAMING = frozenset({"connection", "content-length", "date", "keep-alive", "trailer", "transfer-encoding", "upgrade"})

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)


def headers(section: Reader) -> tuple[tuple[str, str], ...]:
    """Names and values as written. Names that HTTP or the simulator itself uses are reported."""
    return tuple(_valid(section))


def _valid(section: Reader) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for name, entry in section.entries():
        lower = name.lower()
        if not _NAME.fullmatch(name):
            _refuse(section, entry, "bad_header", f"{shown(name)} must be the name of a header")
        elif lower in FRAMING or lower.startswith(OWN_PREFIX):
            _refuse(section, entry, "bad_header", f"{shown(name)} is set by the server itself; it cannot be chosen")
        elif lower in seen:
            _refuse(section, entry, "duplicate", f"the header {shown(name)} is written twice")
        seen.add(lower)
        yield name, entry.text()


def _refuse(section: Reader, entry: Reader, code: str, message: str) -> None:
    """At the name; the path is that of all headers, since a name may have any character."""
    section.report.add(entry.key_position, section.path, code, message)
