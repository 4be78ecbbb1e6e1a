"""What is kept of a message that goes through: all of it up to a limit, nothing above, and so much of all together."""

from typing import Final

MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024
IN_FLIGHT_BYTES_MAX: Final = 128 * 1024 * 1024


class Shelf:
    """The bytes that are kept of all messages in flight, at most `bytes_max`."""

    def __init__(self, bytes_max: int = IN_FLIGHT_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.used = 0


class Kept:
    """A body on its way. `total` counts its bytes; `body` is empty when it was too long to be kept."""

    def __init__(self, shelf: Shelf, bytes_max: int = MESSAGE_BYTES_MAX) -> None:
        self.total = 0
        self.is_whole = True
        self._shelf = shelf
        self._bytes_max = bytes_max
        self._pieces: list[bytes] = []
        self._held = 0

    def add(self, piece: bytes) -> None:
        """Keep one more piece, or give up and let go of those before it."""
        self.total += len(piece)
        shelf = self._shelf
        if not self.is_whole or not piece:
            return
        if self.total > self._bytes_max or shelf.used + len(piece) > shelf.bytes_max:
            self.is_whole = False
            self.release()
            return
        self._held += len(piece)
        shelf.used += len(piece)
        self._pieces.append(piece)

    @property
    def body(self) -> bytes:
        """What was kept."""
        return b"".join(self._pieces)

    def release(self) -> None:
        """Let go of it."""
        self._shelf.used -= self._held
        self._held = 0
        self._pieces = []
