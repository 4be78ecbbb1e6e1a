"""What a folder has no more, or cannot be read of it, is refused to whoever asks a sandbox that runs for it."""

from collections.abc import Iterator
from contextlib import contextmanager

from simulator.domain.errors import Conflict
from simulator.persistence.errors import StoreError
from simulator.replay.reading import BadTape


def not_kept(why: object) -> Conflict:
    """The refusal, for this reason."""
    return Conflict("not_kept", f"the tape cannot be read, and nothing was changed: {why}")


@contextmanager
def refused() -> Iterator[None]:
    """What is not there any more, or damaged, is a `Conflict`: the sandbox itself is in memory, and goes on."""
    try:
        yield
    except (StoreError, BadTape) as error:
        raise not_kept(error) from None
