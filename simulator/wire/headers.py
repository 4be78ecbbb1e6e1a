"""Header lines of an answer, and the same as pairs."""

from simulator.domain.model.effects import WITHOUT_BODY

__all__ = ["WITHOUT_BODY", "header_pairs"]


def header_pairs(lines: bytes) -> list[tuple[bytes, bytes]]:
    """Header lines with their ends as names and values."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    return [(name, value) for name, _, value in pairs]
