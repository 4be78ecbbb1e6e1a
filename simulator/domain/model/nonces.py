"""Spent nonces (SPEC 3.6), which expire."""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final

from simulator.domain.model.packed.nonce_parts import NonceParts, Row, Spent, SpentAt
from simulator.domain.model.part_counts import PartCounts, parts_between
from simulator.domain.model.split_dicts import SplitDict

LatestSpent = tuple[Spent, SpentAt | None] | None
"""The nonce that was spent last, with what was known of it before."""

GONE_MAX: Final = 1_000
"""How many places of nonces that were spent again are left in the order, or as many as nonces are known."""

FORGOTTEN_AT_ONCE: Final = 2_000
"""How many a request forgets at most, which takes ten milliseconds: the next one goes on. More than one go at once when
the clock was moved, or there may be fewer."""


class Nonces:
    """The recently spent nonces, by API key, bounded by time and by count.

    A nonce can be reused after the window in sandbox time, but only with a later timestamp. An entry expires only after
    its timestamp, too, is too old to be accepted. So no request is accepted twice, however far the sandbox's clock and
    the clock that timestamps are compared with diverge.

    Above `count_max` the oldest is evicted: it could be replayed, but memory stays bounded. One that has expired and is
    remembered still, since many have, refuses nothing: what it would refuse is refused for its timestamp.
    """

    def __init__(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        self._spent: SplitDict[Spent, SpentAt] = SplitDict()  # but for those that are packed
        # The order has three pieces, the oldest first.
        self._oldest: deque[Row] = deque()  # a part that was packed
        self._packed = NonceParts()
        self._older = 0  # how many places these two pieces have
        self._order: deque[Row] = deque()
        self._unpacked: set[Spent] = set()  # those whose places are packed, but which were spent again
        self._gone = 0  # how many places in the order are of nonces that were spent again
        self._latest: LatestSpent = None
        self._added = 0
        self.removed = PartCounts()
        self.bound(window, tolerance_s, count_max)

    def __len__(self) -> int:
        return len(self._order) + self._older - self._gone

    def bound(self, window: timedelta, tolerance_s: float, count_max: int) -> None:
        """Change the bounds from now on; remembered nonces stay."""
        self._window, self._tolerance_s, self._count_max = window, tolerance_s, count_max
        self._oldest_until = datetime.min.replace(tzinfo=UTC)

    def items(self) -> Iterator[Row]:
        """All that are remembered, in the order of their numbers. Raises `RuntimeError` when one is spent meanwhile."""
        if not self._gone:
            return chain(self._oldest, self._packed, self._order)
        return chain(*self._known_of(iter(self._oldest), iter(self._packed), iter(self._order)))

    def held(self) -> Iterator[Row]:
        """Those of them that are objects here: what is packed is made anew for whoever reads it. Raises the same."""
        return chain(filter(self._is_known, self._oldest), filter(self._is_known, self._order))

    def newest_first(self) -> Iterator[Row]:
        """As `items`, from the other end."""
        oldest, packed, order = reversed(self._oldest), reversed(self._packed), reversed(self._order)
        if not self._gone:
            return chain(order, packed, oldest)
        return chain(*reversed(self._known_of(oldest, packed, order)))

    @property
    def parts(self) -> range:
        """The parts of the numbers of those that are remembered."""
        first, last = next(self.items(), None), next(self.newest_first(), None)
        return parts_between(first[1][2], last[1][2]) if first and last else parts_between(None, None)

    def kept(self) -> tuple[datetime, LatestSpent, int]:
        """What a snapshot has beside `items`: until when nothing expires, the latest, and how many were ever spent."""
        return self._oldest_until, self._latest, self._added

    def restore(
        self, packed: NonceParts, spent: Iterable[Row], oldest_until: datetime, latest: LatestSpent, added: int
    ) -> None:
        """Remember what was kept, instead of all else: `spent` are the newest ones, behind those that stay packed."""
        self._oldest_until, self._latest, self._added = oldest_until, latest, added
        self._have(deque(spent))
        self._packed, self._older = packed, len(packed)

    def share(self, others: Iterable[Row]) -> int:
        """Have these very objects, which another one holds, in the place of equal ones, so that they take no memory
        twice. Answers how many there are without one."""
        theirs = {one[1][2]: one for one in others}  # by number
        pairs = [(one, theirs.get(one[1][2])) for one in self.items()]
        found = [one if other is None or one != other else other for one, other in pairs]
        self._have(deque(found))
        if self._latest is not None and found and found[-1][0] == self._latest[0]:
            self._latest = found[-1][0], self._latest[1]
        return sum(one is not other for one, (_, other) in zip(found, pairs, strict=True))

    def is_spent(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime) -> bool:
        """Whether `spend` would refuse this nonce."""
        key = scope, nonce
        known = self._spent.get(key)
        if known is None and self._older:
            known = self._packed.find(key)
        return known is not None and (now - known[0] < self._window or timestamp_s <= known[1])

    def spend(self, scope: str, nonce: bytes, timestamp_s: int, now: datetime, signing_s: float) -> bool:
        """Check and spend atomically: False when `nonce` was spent in `scope` within the window, or with this timestamp
        or a later one.

        `now` is the sandbox's time, `signing_s` the Unix time that `timestamp_s` was compared with.
        """
        key = scope, nonce
        known = self._spent.get(key)
        if known is None and self._older:
            known = self._packed.find(key)
        if known is not None:
            spent_at, newest_s, _ = known
            if now - spent_at < self._window or timestamp_s <= newest_s:
                return False
            self._remove(key, known)
        if now >= self._oldest_until or len(self) >= self._count_max:
            self._forget(now, signing_s)
        self._add(key, now, timestamp_s)
        self._latest = (key, known)
        return True

    def take_back(self, scope: str, nonce: bytes) -> None:
        """Undo the spending of the latest nonce, which is this one."""
        assert self._latest is not None, "only what was spent is taken back"
        key, before = self._latest
        assert key == (scope, nonce), "only the latest is taken back"
        _, (_, _, number) = self._order.pop()
        self._spent.pop(key)
        self.removed.count(number)
        if before is not None:
            self._add(key, *before[:2])

    def _add(self, key: Spent, at: datetime, timestamp_s: int) -> None:
        self._added = number = self._added + 1
        spent = at, timestamp_s, number
        self._spent[key] = spent
        self._order.append((key, spent))

    def _remove(self, key: Spent, spent: SpentAt) -> None:
        """Forget one in the middle, whose place stays until it is the oldest, or too many are left so."""
        if self._spent.pop(key) is None:
            self._unpacked.add(key)
        self.removed.count(spent[2])
        self._gone += 1
        if self._gone > max(GONE_MAX, len(self)):
            self._have(deque(self.items()))

    def _forget(self, now: datetime, signing_s: float) -> None:
        left = FORGOTTEN_AT_ONCE
        while left and (order := self._with_oldest()):
            place = order[0]
            if not self._is_known(place):
                self._drop_first(order)
                self._gone -= 1
                continue
            key, (spent_at, timestamp_s, number) = place
            is_alive = now - spent_at < self._window or signing_s - timestamp_s <= self._tolerance_s
            if is_alive and len(self) < self._count_max:
                self._oldest_until = spent_at + self._window
                return
            self._drop_first(order)
            self._spent.pop(key)
            self.removed.count(number)
            left -= 1

    def _drop_first(self, order: deque[Row]) -> None:
        order.popleft()
        if order is self._oldest:
            self._older -= 1

    def _with_oldest(self) -> deque[Row]:
        """The piece of the order that begins with the oldest place of all, if there is one."""
        if self._older and not self._oldest:
            self._oldest.extend(self._packed.take_oldest())
            for key, spent in self._oldest:
                if key in self._unpacked:
                    self._unpacked.remove(key)
                else:
                    self._spent[key] = spent
        return self._oldest or self._order

    def _known_of(
        self, oldest: Iterator[Row], packed: Iterator[Row], order: Iterator[Row]
    ) -> tuple[Iterator[Row], Iterator[Row], Iterator[Row]]:
        """The places that are those of nonces as they were spent last."""
        known = (place for place in packed if place[0] not in self._unpacked)
        return filter(self._is_known, oldest), known, filter(self._is_known, order)

    def _is_known(self, place: Row) -> bool:
        """The same of one that is not packed."""
        key, spent = place
        return self._spent.get(key) is spent

    def _have(self, order: deque[Row]) -> None:
        self._spent, self._order, self._gone = SplitDict(order), order, 0
        self._oldest, self._packed, self._older, self._unpacked = deque(), NonceParts(), 0, set()
