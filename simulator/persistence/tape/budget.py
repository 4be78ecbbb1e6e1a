"""The memory that the tapes of all sandboxes of a server may take together."""

from collections.abc import Callable
from typing import Final

TAPES_BYTES_MAX: Final = 1024 * 1024 * 1024


class TapeBudget:
    """Counts what is on tapes in memory. Beyond `bytes_max` no tape gets longer, until others are let go of;
    `on_passed` is called whenever that begins."""

    def __init__(self, bytes_max: float = TAPES_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.bytes = 0
        self.on_passed: Callable[[], object] = lambda: None
        self._is_passed = False

    def has_room(self, size: int) -> bool:
        """Whether an entry of so many bytes has room."""
        if self.bytes + size <= self.bytes_max:
            self._is_passed = False
            return True
        if not self._is_passed:
            self._is_passed = True
            self.on_passed()
        return False

    def count(self, size: int) -> None:
        """Count so many bytes more, or less."""
        self.bytes += size
