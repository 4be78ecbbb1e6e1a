"""A PostgreSQL for all tests of a worker."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Postgres, postgres


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture
def database(database_server: Postgres) -> str:
    """The address of a new database."""
    return database_server.database()
