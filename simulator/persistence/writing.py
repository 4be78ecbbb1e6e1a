"""What the program wants written, as lists until a commit takes them. Nothing here touches the disk.

All of it is called in one thread, the owner's.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from simulator.persistence.bounds import bounded, named, placed
from simulator.persistence.errors import NoSandbox
from simulator.persistence.layout import BLOB_BYTES_MAX, KEPT, LIVES_MAX, NOT_KEPT
from simulator.persistence.lives import Life

DIGEST_BYTES = 16
Parts = dict[str, tuple[bytes, int]]  # by name: digest and key


@dataclass(slots=True)
class Pending:
    """What one commit writes, all of it or nothing."""

    statements: list[tuple[str, tuple[object, ...]]] = field(default_factory=list)
    entries: list[tuple[int, int, int, bytes]] = field(default_factory=list)  # key, at_us, bytes_up_to, data
    shares: list[tuple[int, str, int]] = field(default_factory=list)  # snapshot, name, part
    lives_gone: list[int] = field(default_factory=list)
    snapshots_gone: list[int] = field(default_factory=list)
    lives_with_snapshots: list[int] = field(default_factory=list)
    cuts: dict[int, int] = field(default_factory=dict)  # by life: the entry behind which all goes
    entries_cut: int = 0

    def __bool__(self) -> bool:
        rest = self.lives_gone or self.lives_with_snapshots or self.cuts
        return bool(self.statements or self.entries or self.shares or rest)


@dataclass(slots=True)
class Counters:
    """The keys that come next."""

    life: int
    snapshot: int
    part: int


class Writing:
    """The lives of a store, and what is pending. `on_pending` is called by the first that is since it was taken, so
    that nobody who writes has to think of the commit."""

    def __init__(self, lives: dict[str, Life], counters: Counters, read_parts: Callable[[int], Parts]) -> None:
        self.lives = lives
        self.on_pending: Callable[[], None] = lambda: None
        self._pending: Pending | None = None
        self._counters = counters
        self._read_parts = read_parts

    @property
    def pending(self) -> Pending:
        """What the next commit writes, for whoever adds to it."""
        if self._pending is None:
            self._pending = Pending()
            self.on_pending()
        return self._pending

    def take(self) -> Pending:
        """What is pending, which is then another's."""
        taken, self._pending = self._pending, None
        return Pending() if taken is None else taken

    def life_of(self, sandbox: str) -> Life:
        """Raises `NoSandbox`."""
        try:
            return self.lives[sandbox]
        except KeyError:
            raise NoSandbox(f"the store has no sandbox {sandbox!r}") from None

    def lives_of(self, sandbox: str) -> int:
        """How many lives it has had; 0 when the store has none of this name."""
        life = self.lives.get(sandbox)
        return life.number if life else 0

    def append(self, sandbox: str, at_us: int, data: bytes) -> int:
        """Add an entry behind the last one. Returns its number. Raises `NoSandbox`."""
        return self.append_to(self.life_of(sandbox), at_us, data)

    def append_to(self, life: Life, at_us: int, data: bytes) -> int:
        """Add an entry to a life."""
        if len(data) > BLOB_BYTES_MAX:
            bounded("an entry", data)
        life.n = n = life.n + 1
        life.bytes_up_to = total = life.bytes_up_to + len(data)
        self.pending.entries.append((life.zero + n, at_us, total, data))
        return n

    def cut(self, sandbox: str, n: int, bytes_up_to: int) -> None:
        """Let a sandbox be as it was behind entry `n`, when its entries had so many bytes (see `Reading.place`): what
        came later goes, with its snapshots and marks. Raises `NoSandbox`, and `ValueError` when no commit is requested
        yet of what came before."""
        life = self.life_of(sandbox)
        placed("a cut", n, life)
        if self._pending:
            raise ValueError("a cut comes behind a commit")
        self.pending.cuts[life.key] = n
        self.pending.entries_cut += life.n - n
        if life.open_snapshot:
            self.pending.snapshots_gone.append(life.open_snapshot)
        life.n, life.bytes_up_to, life.parts, life.open_snapshot = n, bytes_up_to, {}, 0

    def put_mark(self, sandbox: str, name: str, n: int | None = None, note: bytes = b"") -> None:
        """Name a moment: behind entry `n`, or the last one; `note` is the caller's. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        self.put_mark_of(life, name, life.n if n is None else n, note)

    def put_mark_of(self, life: Life, name: str, n: int, note: bytes = b"") -> None:
        """Name a moment of a life. Raises `ValueError` for one that it does not have."""
        named("a mark", name)
        placed("a mark", n, life)
        bounded("a note", note)
        self._write("INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)", life.key, name, n, note)

    def drop_mark(self, sandbox: str, name: str) -> None:
        """Forget a name. Raises `NoSandbox`, not for a mark that is not there."""
        self._write("DELETE FROM marks WHERE life = ? AND name = ?", self.life_of(sandbox).key, name)

    def put_head(self, sandbox: str, head: bytes) -> None:
        """Write the head of this life anew. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        bounded("a head", head)
        self._write("UPDATE lives SET head = ?, crc = ? WHERE id = ?", head, zlib.crc32(head), life.key)

    def new_life(self, sandbox: str, head: bytes) -> int:
        """Begin a sandbox, or begin it anew: all that it has written goes. Returns the number of the life, from 1."""
        before = self.lives.get(sandbox)
        number = before.number + 1 if before else 1
        life = self.begin_life(sandbox, number, head)
        self.keep_life(life)
        return number

    def forget(self, sandbox: str) -> None:
        """Remove a sandbox. Raises `NoSandbox`."""
        self._let_go(self.life_of(sandbox))
        del self.lives[sandbox]

    def begin_life(self, sandbox: str, number: int, head: bytes, floor: int = 0, floor_bytes: int = 0) -> Life:
        """A life that nobody sees, until `keep_life`."""
        named("a sandbox", sandbox)
        bounded("a head", head)
        if self._counters.life >= LIVES_MAX:
            raise ValueError(f"the store has had {LIVES_MAX} lives of sandboxes: export what is needed to a new one")
        life = Life(self._counters.life, sandbox, number, floor, floor_bytes)
        life.parts = {}
        self._counters.life += 1
        row = (life.key, sandbox, number, NOT_KEPT, floor, floor_bytes, zlib.crc32(head), head)
        self._write("INSERT INTO lives VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
        return life

    def keep_life(self, life: Life) -> None:
        """From the next commit on the sandbox is there, in the place of one of its name."""
        before = self.lives.get(life.sandbox)
        if before:
            self._let_go(before)
        self._write("UPDATE lives SET state = ? WHERE id = ?", KEPT, life.key)
        self.lives[life.sandbox] = life

    def abandon_life(self, life: Life) -> None:
        """Remove a life that nobody has seen."""
        self.pending.lives_gone.append(life.key)
        life.open_snapshot = 0

    def begin_snapshot(self, sandbox: str) -> "SnapshotWriter":
        """A snapshot behind the last entry. One that was begun and not completed goes. Raises `NoSandbox`."""
        life = self.life_of(sandbox)
        return self.begin_snapshot_of(life, life.n, life.bytes_up_to)

    def begin_snapshot_of(self, life: Life, n: int, bytes_up_to: int) -> "SnapshotWriter":
        """A snapshot of a life behind its `n`th entry. Raises `ValueError` when it has none."""
        placed("a snapshot", n, life)
        if life.parts is None:
            life.parts = self._read_parts(life.key)
        if life.open_snapshot:
            self.pending.snapshots_gone.append(life.open_snapshot)
        key = life.open_snapshot = self._counters.snapshot
        self._counters.snapshot += 1
        self._write("INSERT INTO snapshots VALUES (?, ?, ?, ?, 0, ?)", key, life.key, n, bytes_up_to, NOT_KEPT)
        return SnapshotWriter(self, life, key)

    def write_part(self, snapshot: int, name: str, digest: bytes, data: bytes) -> int:
        """A part that was not there before, of one snapshot. Returns its key."""
        key = self._counters.part
        self._counters.part += 1
        self._write("INSERT INTO parts VALUES (?, ?, ?)", key, digest, data)
        self.share_part(snapshot, name, key)
        return key

    def share_part(self, snapshot: int, name: str, part: int) -> None:
        """A part that is there already."""
        self.pending.shares.append((snapshot, name, part))

    def complete(self, life: Life, snapshot: int, bytes_own: int, *, applies_rule: bool) -> None:
        """From the next commit on the snapshot is there, and the rule of retention may be applied to its life."""
        self._write("UPDATE snapshots SET state = ?, bytes_own = ? WHERE id = ?", KEPT, bytes_own, snapshot)
        if applies_rule:
            life.completed += 1
            self.pending.lives_with_snapshots.append(life.key)

    def _let_go(self, life: Life) -> None:
        self._write("UPDATE lives SET state = ? WHERE id = ?", NOT_KEPT, life.key)
        self.pending.lives_gone.append(life.key)
        life.open_snapshot = 0

    def _write(self, statement: str, *values: object) -> None:
        self.pending.statements.append((statement, values))


class SnapshotWriter:
    """Takes the parts of a snapshot, in as many commits as they need. It is there when it is complete, or not at all.

    Of a life that is over, or a snapshot that was begun anew, nothing is written."""

    def __init__(self, writing: Writing, life: Life, key: int) -> None:
        self._writing = writing
        self._life = life
        self._key = key
        self._before: Parts = life.parts or {}
        self._by_digest = dict(self._before.values())
        self._parts: Parts = {}
        self._bytes_own = 0

    @property
    def before(self) -> dict[str, bytes]:
        """The digests of the parts of the snapshot before, by the names that `keep` takes."""
        return {name: digest for name, (digest, _) in self._before.items()}

    def put(self, name: str, data: bytes) -> None:
        """Add a part. What the snapshot before has already is not written again. A name is given once."""
        named("a part", name)
        bounded("a part", data)
        digest = digest_of(data)
        if (part := self._by_digest.get(digest)) is not None:
            self._share(name, digest, part)
        elif self._begins(name):
            part = self._writing.write_part(self._key, name, digest, data)
            self._by_digest[digest] = part
            self._parts[name] = digest, part
            self._bytes_own += len(data)

    def keep(self, name: str) -> None:
        """Add the part of this name as the snapshot before has it. Raises `KeyError` when it has none."""
        digest, part = self._before[name]
        self._share(name, digest, part)

    def complete(self, *, applies_rule: bool = True) -> bool:
        """End with the parts that were added; False when nothing is written any more. The commit applies the rule of
        retention, unless that is for later."""
        if not self._is_open():
            return False
        self._writing.complete(self._life, self._key, self._bytes_own, applies_rule=applies_rule)
        self._life.parts = self._parts
        self._life.open_snapshot = 0
        return True

    def _share(self, name: str, digest: bytes, part: int) -> None:
        if self._begins(name):
            self._writing.share_part(self._key, name, part)
            self._parts[name] = digest, part

    def _begins(self, name: str) -> bool:
        if name in self._parts:
            raise ValueError(f"the snapshot has a part {name!r} already")
        return self._is_open()

    def _is_open(self) -> bool:
        return self._life.open_snapshot == self._key


def digest_of(data: bytes) -> bytes:
    """By which a part is known, and its damage is seen."""
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
