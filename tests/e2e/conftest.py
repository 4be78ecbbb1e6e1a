"""The server that the tests of a module share; each of them has a sandbox of its own in it."""

from collections.abc import Iterator

import pytest

from tests.support.processes import Serving, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """`serve` as a real process, its default sandbox under a manual clock."""
    with serving("--port", "0", "--json", "--clock", "manual") as running:
        yield running
