"""A wall clock that moves only when a test sets it."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)


class Wall:
    """To be given to `build_app(clock=…)` or to a `Clock`."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
