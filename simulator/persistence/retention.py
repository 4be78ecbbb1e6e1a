"""What of a life is kept: its latest snapshots, and the entries from which its marks are reached.

A moment is reached from the newest snapshot at or before it, so these are kept: the beginning of the life, which is a
snapshot like the others; the last `snapshots` of them; for each mark, the one from which it is reached; all entries
behind the oldest of these. Then, as long as that is more than `bytes_max`, the oldest goes, with the marks that are
reached only from it. The entries behind the newest snapshot, and that snapshot, are never dropped: they are the state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class SnapshotSize(NamedTuple):
    """A complete snapshot behind entry `n`: where it is, and how many bytes lie before it and in it."""

    key: int
    n: int
    bytes_up_to: int
    size: int


BEGINNING = SnapshotSize(0, 0, 0, 0)


@dataclass(frozen=True)
class Retention:
    """The numbers of the rule: snapshots, and bytes of entries and snapshots of one life; and whether the beginning is
    kept."""

    snapshots: int = 3
    bytes_max: int = 512 * 1024 * 1024
    beginning: bool = True


@dataclass(frozen=True)
class Retained:
    """`floor`: the snapshot behind which the kept entries begin; `BEGINNING`: all are kept."""

    floor: SnapshotSize
    snapshots: frozenset[int]
    marks: frozenset[str]


def what_is_kept(
    rule: Retention, snapshots: Sequence[SnapshotSize], marks: Sequence[tuple[str, int]], floor_n: int, bytes_up_to: int
) -> Retained:
    """Apply the rule to a life with at least one snapshot.

    `snapshots` and `marks` (name and n) are in the order of their `n`; entries up to `floor_n` are gone already;
    `bytes_up_to` is how many bytes the life has appended in all.
    """
    snapshots = [*([BEGINNING] if floor_n == 0 else []), *snapshots]
    newest = snapshots[-1]
    reached = {name: _reached_from(snapshots, n) for name, n in marks if n >= floor_n}
    first = {BEGINNING} if rule.beginning and floor_n == 0 else set()
    bases = sorted({*first, *snapshots[-rule.snapshots :], *reached.values()}, key=lambda one: one.n)
    while bases[0] is not newest and _size(bases, bytes_up_to) > rule.bytes_max:
        bases.pop(0)
    kept = set(bases)
    names = frozenset(name for name, base in reached.items() if base in kept)
    return Retained(bases[0], frozenset(one.key for one in kept if one.key), names)


def _reached_from(snapshots: Sequence[SnapshotSize], n: int) -> SnapshotSize:
    return max((one for one in snapshots if one.n <= n), key=lambda one: one.n)


def _size(bases: Sequence[SnapshotSize], bytes_up_to: int) -> int:
    return bytes_up_to - bases[0].bytes_up_to + sum(one.size for one in bases)
