"""A snapshot of a sandbox: named parts, each of them plain bytes. `docs/tape.md` describes the format."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

import msgspec

from simulator.domain.errors import DomainError

VERSION = 4
"""Of the format."""

READ = (3, VERSION)
"""A reader refuses any other version. Parts of nonces have no filters in version 3."""

HEAD = "head"


class NotNow(Exception):
    """There is no snapshot at this moment: a request waits, or an advance runs."""


class BadSnapshot(Exception):
    """A part is missing, damaged or of another version; the text names the part."""


DAMAGES = (
    msgspec.MsgspecError, UnicodeError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    AssertionError, RecursionError, DomainError,
)  # fmt: skip
"""What a damaged part leads to when it is read."""


@contextmanager
def reading_part(name: str) -> Iterator[None]:
    """Whatever is wrong in here is a `BadSnapshot` that names the part."""
    try:
        yield
    except DAMAGES as error:
        raise BadSnapshot(f"the part {name!r} of the snapshot is damaged: {type(error).__name__}: {error}") from None


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part `head`: the version of the format, how many entries of the tape came before, the sandbox's time, and
    how many other parts there are of each log; of what is one part alone there is 1."""

    snapshot: int
    entries: int
    now: datetime
    parts: dict[str, int]


class Snapshot(msgspec.Struct, frozen=True):
    """The state of a sandbox behind the first `n` entries of its tape; `now` is the sandbox's time there."""

    n: int
    now: datetime
    parts: Mapping[str, bytes]


def snapshot_of(parts: Iterable[tuple[str, bytes]]) -> Snapshot:
    """A snapshot of its parts. Raises `BadSnapshot`."""
    named = dict(parts)
    head = head_of(named)
    return Snapshot(head.entries, head.now, named)


def sharing(snapshot: Snapshot, before: Snapshot) -> Snapshot:
    """The same snapshot, which shares the memory of each part that has not changed since the one before."""
    known = {content: content for content in before.parts.values()}
    parts = {name: known.get(content, content) for name, content in snapshot.parts.items()}
    return Snapshot(snapshot.n, snapshot.now, parts)


def head_of(parts: Mapping[str, bytes]) -> Head:
    """The head among parts. Raises `BadSnapshot` when it is missing, is none, or is not of this version, and when parts
    are missing."""
    if HEAD not in parts:
        raise BadSnapshot(f"the snapshot has no part {HEAD!r}")
    with reading_part(HEAD):
        version = msgspec.json.decode(parts[HEAD], type=_Versioned).snapshot
    if version not in READ:
        known = " and ".join(map(str, READ))
        text = f"is of version {version}, this simulator reads versions {known}; use the simulator that wrote it"
        raise BadSnapshot(f"the part {HEAD!r} of the snapshot {text}")
    with reading_part(HEAD):
        head = msgspec.json.decode(parts[HEAD], type=Head)
    found = Counter(log_of(name) for name in parts if name != HEAD)
    for log in sorted(head.parts.keys() | found.keys()):
        if found[log] != (wanted := head.parts.get(log, 0)):
            text = f"the snapshot has {found[log]} of the {wanted} parts {log!r} that its part {HEAD!r} names"
            raise BadSnapshot(text)
    return head


def log_of(name: str) -> str:
    """The name of the log that a part is a piece of; its own when it is none."""
    log, _, place = name.rpartition("/")
    return log if place.isdecimal() else name


class _Versioned(msgspec.Struct):
    snapshot: int
