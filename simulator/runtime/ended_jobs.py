"""The jobs of a sandbox whose attempts ended last, for those who wait for them."""

from collections.abc import Callable, Iterable

import msgspec

from simulator.domain.due import DeliveryDue, Fired
from simulator.domain.model.effects import Job
from simulator.runtime.ring import Ring, Tally

KEPT_MAX = 16  # who waits sees each job when it comes


class Ended(msgspec.Struct, gc=False):
    """A job with an attempt that ended, or that ended without one."""

    job: Job
    n: int = 0

    @property
    def size(self) -> int:
        """Nothing of its own: the job is in a log."""
        return 0


class EndedJobs(Ring[Ended]):
    """The latest ones; waiters are notified of each."""

    def __init__(self) -> None:
        super().__init__(KEPT_MAX, bytes_max=0)

    def notice(self, fired: Iterable[Fired]) -> None:
        """Notify waiters of what happened; a delivery without an attempt has ended with that."""
        for one in fired:
            if isinstance(one.item, DeliveryDue) and one.send is None:
                self.add(Ended(one.item.delivery))
        self.notifier.notify()

    def tally(self, matches: Callable[[Job], bool], counted: int) -> Tally[Ended]:
        """Counts, beside those `counted` until now, the jobs that match when they end."""
        return Tally(self, lambda ended: matches(ended.job), after=self.last_n, counted=counted)
