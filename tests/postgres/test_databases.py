"""Requirements of a database, its address, and the refusal of a database that a server cannot use."""

from pathlib import Path
from typing import Any

import pytest

from simulator.persistence.errors import Unusable
from simulator.postgres.address import parse_address
from simulator.postgres.migration import MIGRATIONS
from tests.support.postgres import PASSWORD, USER, Postgres, rows_of
from tests.support.processes import run
from tests.support.sharing import server

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]


def refusal(address: str) -> str:
    """Return the one line with which a server refuses a database."""
    done = run("serve", "--port", "0", "--store", address)
    assert done.status == 3
    assert PASSWORD not in done.only_error_line
    return done.only_error_line


def test_a_database_that_cannot_be_used_is_refused_in_one_line(database_server: Postgres) -> None:
    database_server.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    database_server.run(f"CREATE ROLE poor LOGIN PASSWORD '{PASSWORD}'")
    other = database_server.database()
    port = f"127.0.0.1:{database_server.port}"
    refused = {
        database_server.url("latin"): f"postgresql://{port}/latin: its encoding is LATIN1",
        other.replace(USER, "poor", 1): "rights are missing (permission denied for database",
        f"{other}missing": "does not exist",
        other.replace(PASSWORD, "wrong-pass"): "password authentication failed",
        other.replace(port, "127.0.0.1:9"): "does not answer (",
        "postgresql://[": "--store: is not an address such as postgresql://host:5432/database",
        "mysql://db/x": "--store: is not an address such as postgresql://host:5432/database",
    }
    for address, told in refused.items():
        assert told in refusal(address)


def test_tables_of_a_newer_version_are_refused_and_left_alone(database: str) -> None:
    with server(database):
        pass
    rows_of(database, "INSERT INTO migrations SELECT max(number) + 1, now() FROM migrations")
    assert f"its tables have number {len(MIGRATIONS) + 1}, known are {len(MIGRATIONS)}" in refusal(database)


def test_servers_that_start_at_once_migrate_one_after_the_other(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert first.ready["url"] != second.ready["url"]
    assert rows_of(database, "SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]


def test_a_password_file_and_a_service_file_are_read(database: str, database_server: Postgres, tmp_path: Path) -> None:
    name = database.rpartition("/")[2]
    passwords = tmp_path / "passwords"
    passwords.write_text(f"127.0.0.1:{database_server.port}:*:{USER}:{PASSWORD}\n")
    passwords.chmod(0o600)
    services = tmp_path / "services"
    services.write_text(f"[shop]\nhost=127.0.0.1\nport={database_server.port}\ndbname={name}\nuser={USER}\n")
    variables: dict[str, Any] = {"PGPASSFILE": str(passwords), "PGSERVICEFILE": str(services)}
    with server("postgresql:///?service=shop", **variables) as running:
        assert running.ready["sandbox"] == "default"


def test_an_address_is_named_without_its_password() -> None:
    found = parse_address(f"postgresql://me:{PASSWORD}@db:5433/sim?connect_timeout=3")
    assert found.name == "postgresql://db:5433/sim"
    assert found.secrets == (PASSWORD,)
    with pytest.raises(Unusable) as refused:
        parse_address(f"postgresql://me:{PASSWORD}@db:port/sim?nonsense={PASSWORD}")
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("password", ["left/right", "12/right", "left@right", "left@12/right"])
def test_a_password_with_bare_punctuation_is_not_taken_for_a_host_or_a_database(password: str) -> None:
    with pytest.raises(Unusable) as refused:
        parse_address(f"postgresql://me:{password}@db/sim")
    assert "left" not in str(refused.value)
    assert "right" not in str(refused.value)
    assert "%2F" in str(refused.value)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql://me:a%2Fb%40c@db/sim", "postgresql://db/sim"),
        ("postgresql://me:a?b:c@db/sim", "postgresql://db/sim"),
        ("postgresql://db1:5432,db2:5433/sim", "postgresql://db1,db2:5432,5433/sim"),
        ("postgresql:///sim?host=/var/run/postgresql&user=me@example.com", "postgresql:///var/run/postgresql/sim"),
    ],
)
def test_an_address_may_name_several_hosts_a_socket_and_encoded_punctuation(address: str, name: str) -> None:
    assert parse_address(address).name == name
