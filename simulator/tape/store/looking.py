"""A folder that nobody has open: read, and not changed in any way."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from simulator.tape.store.failures import reading_errors
from simulator.tape.store.layout import DATABASE
from simulator.tape.store.opening import (
    connect_to_read,
    lost,
    own_to_read,
    refuse_what_cannot_be_read,
    refuse_what_lacks_tables,
)
from simulator.tape.store.reading import Reading


@contextmanager
def looked_at(folder: Path) -> Iterator[Reading]:
    """What is in a folder. Raises `StoreError`."""
    path = folder / DATABASE
    ownership = own_to_read(folder)
    try:
        refuse_what_cannot_be_read(folder)
        lost(folder, ownership)
        with closing(connect_to_read(path)) as connection, reading_errors(path):
            refuse_what_lacks_tables(connection, path)
            yield Reading(connection, path)
    finally:
        ownership.release()
