"""Header lines of an answer, and the same as pairs."""

from typing import Final

WITHOUT_BODY: Final = (204, 304)
"""Final statuses whose answers end with their head (RFC 9112 6.3)."""


def header_pairs(lines: bytes) -> list[tuple[bytes, bytes]]:
    """Header lines with their ends as names and values."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    return [(name, value) for name, _, value in pairs]
