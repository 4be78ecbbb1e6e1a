"""Fixtures of the tests of verbs that ask a running simulator."""

from collections.abc import Iterator

import pytest

from tests.support.asking import Asking
from tests.support.processes import serving


@pytest.fixture(scope="session")
def simulator_url() -> Iterator[str]:
    """A simulator with an open control API; each test makes a sandbox of its own."""
    with serving("--port", "0", "--json", "--clock", "manual") as server:
        yield server.ready["url"]


@pytest.fixture
def asking(simulator_url: str) -> Iterator[Asking]:
    """Verbs for a new sandbox, whose clock stands."""
    asked = Asking.of_new_sandbox(simulator_url)
    yield asked
    asked.verb("sandbox", "rm", asked.sandbox)
