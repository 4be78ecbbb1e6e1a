"""A real PostgreSQL in a temporary folder, which can be killed and started again."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from tests.support.processes import DEADLINE_S, free_port
from tests.support.programs import PROGRAMS, program

SETTINGS = (
    "fsync=off",
    "shared_buffers=32MB",
    "max_connections=80",
    "listen_addresses=127.0.0.1",
    "log_min_messages=fatal",
)
USER, PASSWORD = "sim", "xyzzy-pass-5"
_PAUSE_S = 0.05


class Postgres:
    """A PostgreSQL in a folder, for a user with a password."""

    def __init__(self, folder: Path, encoding: str, settings: Sequence[str]) -> None:
        self.folder, self.port, self._settings = folder, free_port(), (*SETTINGS, *settings)
        self._programs = Path(program("initdb")).resolve().parent
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = count(1)
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # which PostgreSQL refuses
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = [str(self._programs / "initdb"), "-D", str(folder / "data"), "-U", USER, "-E", encoding, "--locale=C"]
        made += ["--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, cwd="/", **self._as)

    def url(self, database: str = "postgres", user: str = USER, password: str = PASSWORD) -> str:
        """Return the address of a database."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = [
            word
            for setting in (*self._settings, f"port={self.port}", "unix_socket_directories=")
            for word in ("-c", setting)
        ]
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *options]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
        ends_s = time.monotonic() + DEADLINE_S  # clock: how long it may take to start
        while True:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(command, **quiet, **self._as)
            with suppress(psycopg.OperationalError), psycopg.connect(self.url(), connect_timeout=2):
                return
            assert time.monotonic() < ends_s, "PostgreSQL does not start"
            time.sleep(_PAUSE_S)  # sleep: another process starts

    def kill(self) -> None:
        """Kill all its processes, by SIGKILL."""
        assert self._process is not None
        for child in (self._process.pid, *_children(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Stop it, without waiting for its clients."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()

    def database(self) -> str:
        """Create a database, and return its address."""
        name = f"test{next(self._databases)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def run(self, statement: str, database: str = "postgres") -> list[Any]:
        """Run a statement, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def rows_of(url: str, statement: str) -> list[Any]:
    """Return the rows that a statement returns in the tables of the simulator."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=reseller_sim") as db:
        cursor = db.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def initdb() -> str | None:
    """Return the program that makes a folder for PostgreSQL, or None where it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS["initdb"].names)), None)


@contextmanager
def postgres(*settings: str, encoding: str = "UTF8") -> Iterator[Postgres]:
    """Run a PostgreSQL with these settings in a new folder."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    folder.chmod(0o755)
    running = None
    try:
        running = Postgres(folder, encoding, settings)
        running.start()
        yield running
    finally:
        if running is not None:
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)
