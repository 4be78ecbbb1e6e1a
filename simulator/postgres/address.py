"""The address of a PostgreSQL database: how to connect to it, and how messages name it without its password."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from simulator.persistence.errors import LeaseLost, StoreError, Unusable, WriteFailed

SCHEMES: Final = ("postgresql://", "postgres://")
SCHEMA: Final = "reseller_sim"
TIMEOUT_S: Final = 5
"""How long a connection, an answer of the database and one of another server may take."""

PAUSE_S: Final = 0.25
"""The time between two looks at something that does not answer."""

_DEFAULTS: Final = {
    "connect_timeout": TIMEOUT_S,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "reseller-sim",
}
IDLE_IN_TRANSACTION: Final = "5s"
"""How long a transaction of a server that was paused may hold its locks."""

LEASE_LOST: Final = "RS001"

logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it reports errors by exceptions as well


class DatabaseAddress(NamedTuple):
    """An address. `name` is for messages; `secrets` must not be shown."""

    conninfo: str
    name: str
    secrets: tuple[str, ...]


def parse_address(text: str) -> DatabaseAddress:
    """Parse `postgresql://…`, as libpq reads it; the rest comes from variables and files of PostgreSQL. Raises
    `Unusable`, without repeating the address, which may have a password."""
    try:
        if not text.startswith(SCHEMES) or _has_bare_password(text):
            raise ValueError
        given = conninfo_to_dict(text)
    except (psycopg.Error, ValueError):
        hint = "write @ and / within a password as %40 and %2F"
        raise Unusable(f"--store: is not an address such as postgresql://host:5432/database; {hint}") from None
    secrets = tuple(str(given[key]) for key in ("password", "sslpassword") if given.get(key))
    host, port, database = (given.get(key) for key in ("host", "port", "dbname"))
    netloc = "" if host is None else f"{host}:{port}" if port else str(host)
    service = f"?service={given['service']}" if given.get("service") else ""
    params: dict[str, Any] = {**_DEFAULTS, **given}
    conninfo = make_conninfo(**params)
    return DatabaseAddress(conninfo, f"postgresql://{netloc}/{database or ''}{service}", secrets)


def _has_bare_password(text: str) -> bool:
    """Return whether libpq would take a part of the password for the host, the port or the database."""
    place, _, database = text.partition("://")[2].partition("/")
    return place.count("@") > 1 or "@" in database.partition("?")[0]


def connect(address: DatabaseAddress, **settings: str) -> "psycopg.Connection[Any]":
    """Open a connection with these settings, which commits each statement. Raises `psycopg.Error`."""
    db = psycopg.connect(address.conninfo, autocommit=True, client_encoding="utf8")
    try:
        set_up(db, **settings)
    except BaseException:
        db.close()
        raise
    return db


def set_up(db: "psycopg.Connection[Any]", **settings: str) -> None:
    """Prepare a new connection, with settings by their names."""
    fixed = {"search_path": SCHEMA, "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION}
    for name, value in (fixed | settings).items():
        db.execute("SELECT set_config(%s, %s, FALSE)", (name.replace("__", "."), value))


def is_outage(error: BaseException) -> bool:
    """Return whether an operation may succeed later: the database does not answer, is full, or has a conflict."""
    if not isinstance(error, psycopg.Error):
        return isinstance(error, OSError)
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    # connection, transaction rollback, resources, operator intervention, system error; read-only after a failover
    return error.sqlstate[:2] in ("08", "40", "53", "57", "58") or error.sqlstate == "25006"


def text_of(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Return an error as a single line, without these secrets."""
    text = " ".join(str(error).split()) or type(error).__name__
    for secret in secrets:
        text = text.replace(secret, "********")
    return text


@contextmanager
def database_errors(address: DatabaseAddress) -> Iterator[None]:
    """Raise errors of PostgreSQL as errors of the store."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        text = text_of(error, address.secrets)
        hint = f"grant its user the schema {SCHEMA}, or CREATE on the database"
        raise Unusable(f"{address.name}: rights are missing ({text}): {hint}") from None
    except psycopg.Error as error:
        raise store_error(error, address) from None


def store_error(error: BaseException, address: DatabaseAddress) -> StoreError:
    """Return the error of the store for an error of PostgreSQL."""
    if getattr(error, "sqlstate", None) == LEASE_LOST:
        return LeaseLost(f"{address.name}: the lease of this server has ended")
    text = text_of(error, address.secrets)
    if is_outage(error):
        return Unusable(
            f"{address.name}: does not answer ({text}): start PostgreSQL, or check the address and the password"
        )
    return WriteFailed(f"{address.name}: refuses what the server asks ({text}): nothing before is lost")
