"""How many callbacks or webhooks there were, counted as they happen: the logs evict."""

import msgspec


class JobCounts(msgspec.Struct):
    """Jobs that began, the `attempts` that have ended, and the jobs that ended by how they did."""

    begun: int = 0
    attempts: int = 0
    delivered: int = 0
    failed: int = 0

    @property
    def pending(self) -> int:
        """Jobs that have not ended."""
        return self.begun - self.delivered - self.failed

    def count_attempt(self, *, delivered: bool, failed: bool) -> None:
        """Count an attempt that ended, and its job if that ended with it."""
        self.attempts += 1
        self.delivered += delivered
        self.failed += failed
