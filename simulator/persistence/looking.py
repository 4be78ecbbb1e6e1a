"""A folder that nobody has open: read, and not changed in any way."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.persistence.ends import refuse_what_is_missing
from simulator.persistence.failures import reading_errors
from simulator.persistence.layout import DATABASE
from simulator.persistence.opening import connected_to_read, examined, own_to_read
from simulator.persistence.reading import Reading


@contextmanager
def looked_at(folder: Path) -> Iterator[Reading]:
    """What is in a folder. Raises `StoreError`."""
    path = folder / DATABASE
    ownership = own_to_read(folder)
    try:
        examined(folder, ownership)
        with reading_errors(path), connected_to_read(path) as connection:
            refuse_what_is_missing(connection, path)
            yield Reading(connection, path)
    finally:
        ownership.release()
