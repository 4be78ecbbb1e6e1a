"""Several runs at once, each in a process of its own: workers that are given one job after the other."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, TracebackType
from typing import TypeVar

from simulator.explore.run import Job, Setting, end_commands, run
from simulator.explore.seen import Outcome
from simulator.scenario.reading.document import ScenarioError

Key = TypeVar("Key", bound=Hashable)
STOP_TIMEOUT_S = 5.0


class CannotRun(Exception):
    """A run was not possible. The text says why."""


class Workers:
    """A context: its processes end with it."""

    def __init__(self, setting: Setting, count: int) -> None:
        self._setting = setting
        self._count = count
        self._processes: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> "Workers":
        context = multiprocessing.get_context("spawn")
        for _ in range(self._count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self._setting), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for connection in self._processes:
            connection.close()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(STOP_TIMEOUT_S)

    def run(self, jobs: Iterable[tuple[Key, Job]]) -> Iterator[tuple[Key, Outcome]]:
        """The outcomes as they come. Jobs are taken when there is a worker for them; who stops reading waits for those
        that have begun. Raises `CannotRun`."""
        free, busy, left = list(self._processes), dict[Connection, Key](), iter(jobs)
        try:
            while True:
                while free and (following := next(left, None)) is not None:
                    key, job = following
                    connection = free.pop()
                    connection.send(job)
                    busy[connection] = key
                if not busy:
                    return
                for ready in wait(list(busy)):
                    assert isinstance(ready, Connection)
                    key = busy.pop(ready)
                    outcome = _received(ready)
                    free.append(ready)
                    yield key, outcome
        finally:
            for connection in busy:
                with suppress(EOFError, OSError):
                    connection.recv()


def _received(connection: Connection) -> Outcome:
    try:
        found = connection.recv()
    except (EOFError, OSError):
        raise CannotRun("a worker has ended by itself; is there memory enough for so many?") from None
    if isinstance(found, Outcome):
        return found
    raise CannotRun(str(found))


def _work(connection: Connection, setting: Setting) -> None:
    """What a worker does until nobody gives it jobs any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the first process, which then ends this one
    signal.signal(signal.SIGTERM, _end)
    logging.disable()
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv()
            connection.send(_outcome(setting, job))


def _outcome(setting: Setting, job: Job) -> Outcome | str:
    try:
        return run(setting, job)
    except ScenarioError as error:
        return "\n".join(map(str, error.problems))
    except OSError as error:
        return str(error)


def _end(number: int, frame: FrameType | None) -> None:
    end_commands()
    os._exit(128 + number)
