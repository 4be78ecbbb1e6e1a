"""What is refused before it is listed for a commit, which it would fail."""

from simulator.persistence.layout import BLOB_BYTES_MAX, NAME_CHARACTERS_MAX
from simulator.persistence.lives import Life


def bounded(what: str, data: bytes) -> None:
    """Refuse data of too many bytes. Raises `ValueError`."""
    if len(data) > BLOB_BYTES_MAX:
        raise ValueError(f"{what} has {len(data)} bytes; {BLOB_BYTES_MAX} are allowed")


def placed(what: str, n: int, life: Life) -> None:
    """Refuse a place that a life does not have. Raises `ValueError`."""
    if not 0 <= n <= life.n:
        raise ValueError(f"sandbox {life.sandbox!r} has {life.n} entries; {what} at {n} is beyond them")


def named(what: str, name: str) -> None:
    """Refuse a name that is none. Raises `ValueError`."""
    name.encode()  # a lone surrogate is no text: it raises a `ValueError`
    if not 0 < len(name) <= NAME_CHARACTERS_MAX:
        raise ValueError(f"the name of {what} has {len(name)} characters; 1 to {NAME_CHARACTERS_MAX} are allowed")
