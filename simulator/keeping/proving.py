"""Whether the sandboxes of a folder can go on: each is rebuilt as a server would, and left alone."""

from collections.abc import Iterator

from simulator.api.again import Again
from simulator.api.pipeline import Pipeline
from simulator.api.routes import routes
from simulator.keeping.resuming import CannotGoOn, Resuming
from simulator.replay.rebuilding import nowhere
from simulator.scenario.library import load_scenario
from simulator.tape.store.errors import StoreError
from simulator.tape.store.reading import Reading


def obstacles(reading: Reading) -> Iterator[str]:
    """A line for each sandbox that a server could not go on with, and for each snapshot that cannot be used."""
    resuming = Resuming(reading, Again(Pipeline(routes())), nowhere(), load_scenario("default"))
    for one in reading.sandboxes():
        try:
            found = resuming.resumed(one)
        except (CannotGoOn, StoreError) as error:
            yield str(error)
            continue
        found.player.end()
        yield from found.passed_over
