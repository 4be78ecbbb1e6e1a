"""One server for the tests of the room, each with a sandbox of its own."""

from collections.abc import Iterator

import pytest

from reseller_sim import Sandbox, Simulator
from tests.support.processes import serving


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """A client of a server."""
    with serving("--port", "0", "--json", "--clock", "manual") as running:
        yield Simulator(running.ready["url"])


@pytest.fixture
def own(simulator: Simulator) -> Iterator[Sandbox]:
    """A sandbox of the test's own."""
    with simulator.sandbox() as made:
        yield made
