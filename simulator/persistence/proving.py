"""Whether the sandboxes of a folder can go on: each is rebuilt as a server would, and left alone."""

from collections.abc import Iterator

from simulator.persistence.errors import StoreError
from simulator.persistence.reader import Reader
from simulator.persistence.resuming import CannotGoOn, Resuming
from simulator.replay.player import Again
from simulator.replay.rebuilding import nowhere
from simulator.scenario.library import load_scenario


def obstacles(reading: Reader, again: Again) -> Iterator[str]:
    """A line for each sandbox that a server could not go on with, and for each snapshot that cannot be used. `again`
    answers the requests of a tape once more."""
    resuming = Resuming(reading, again, nowhere(), load_scenario("default"))
    for one in reading.sandboxes():
        try:
            found = resuming.resumed(one)
        except (CannotGoOn, StoreError) as error:
            yield str(error)
            continue
        found.player.end()
        yield from found.passed_over
