"""The retention rule of a life: it keeps the latest snapshots, and the entries needed to reach the marks.

A moment is reached from the newest snapshot at or before it. So the rule keeps the beginning of the life, which counts
as a snapshot; the last `snapshots` snapshots; the snapshot that each mark is reached from; and all entries after the
oldest of these. While they exceed `bytes_max`, the oldest snapshot is dropped, with the marks that need it. The newest
snapshot and the entries after it are never dropped: they are the state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple


class SnapshotSize(NamedTuple):
    """A complete snapshot after entry `n`: its key, the bytes of the life before it, its own bytes, and its number of
    parts."""

    key: int
    n: int
    bytes_up_to: int
    size: int
    parts: int = 0


BEGINNING = SnapshotSize(0, 0, 0, 0)


@dataclass(frozen=True)
class Retention:
    """The parameters of the rule: the number of snapshots, the bytes of a life's entries and snapshots, and whether the
    beginning is kept."""

    snapshots: int = 3
    bytes_max: int = 512 * 1024 * 1024
    beginning: bool = True


@dataclass(frozen=True)
class Retained:
    """The result of the rule. `floor` is the snapshot before the first kept entry; with `BEGINNING` all are kept."""

    floor: SnapshotSize
    snapshots: frozenset[int]
    marks: frozenset[str]


def apply_retention(
    rule: Retention, snapshots: Sequence[SnapshotSize], marks: Sequence[tuple[str, int]], floor_n: int, bytes_up_to: int
) -> Retained:
    """Return what the rule keeps of a life with at least one snapshot.

    `snapshots` and `marks` (name and n) are ordered by `n`; entries up to `floor_n` are already removed; `bytes_up_to`
    is the number of bytes that the life has appended in total.
    """
    snapshots = [*([BEGINNING] if floor_n == 0 else []), *snapshots]
    newest = snapshots[-1]
    by_n = attrgetter("n")
    reached = {name: max((one for one in snapshots if one.n <= n), key=by_n) for name, n in marks if n >= floor_n}
    first = {BEGINNING} if rule.beginning and floor_n == 0 else set()
    bases = sorted({*first, *snapshots[-rule.snapshots :], *reached.values()}, key=by_n)
    while bases[0] is not newest and _size(bases, bytes_up_to) > rule.bytes_max:
        bases.pop(0)
    kept = set(bases)
    names = frozenset(name for name, base in reached.items() if base in kept)
    return Retained(bases[0], frozenset(one.key for one in kept if one.key), names)


def _size(bases: Sequence[SnapshotSize], bytes_up_to: int) -> int:
    return bytes_up_to - bases[0].bytes_up_to + sum(one.size for one in bases)
