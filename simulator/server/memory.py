"""Returns freed memory to the system."""

from collections.abc import Callable


def trim_memory() -> None:
    """Let the C library return what was freed. glibc keeps it otherwise: once a block of ten megabytes was freed, it
    takes the next ones from its heap, where one small block above them keeps them all. Does nothing elsewhere."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def _malloc_trim() -> Callable[[int], int] | None:
    try:
        import ctypes  # late: most servers never need it

        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (ImportError, OSError, TypeError, AttributeError):  # another C library, or another system
        return None
    return found
