"""Several runs at once, each in a process of its own: workers that are given one job after the other."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, TracebackType
from typing import TypeVar, cast

from simulator.explore.command import end_commands
from simulator.explore.observation import Outcome
from simulator.explore.run import RUNNING, Job, Setting, run
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
        self._busy: dict[Connection, tuple[object, Hashable]] = {}  # with whose job and which
        self._is_alone = False  # what runs is to run alone

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
            (self._setting.folder / f"{RUNNING}{process.pid}.yaml").unlink(missing_ok=True)

    def run(
        self, following: Callable[[], tuple[Key, Job] | None], left_s: Callable[[], float | None] = lambda: None
    ) -> Iterator[tuple[Key, Outcome | str]]:
        """The outcomes as they come, a text for a scenario that cannot be loaded. `following` is asked for a job when
        there is a worker for it, and again after each outcome although it had none before. It ends when no time is
        left. Who stops reading leaves behind what has begun. Raises `CannotRun`."""
        owner, held = object(), None
        while True:
            held = self._give(owner, held, following)
            if held is None and all(whose is not owner for whose, _ in self._busy.values()):
                return
            found = wait(list(self._busy), left_s())
            if not found:
                return
            for ready in found:
                assert isinstance(ready, Connection)
                whose, done = self._busy.pop(ready)
                self._is_alone = False
                outcome = _received(ready)
                if whose is owner:
                    yield cast(Key, done), outcome

    def _give(
        self, owner: object, held: tuple[Key, Job] | None, following: Callable[[], tuple[Key, Job] | None]
    ) -> tuple[Key, Job] | None:
        """Give jobs to those who have none; returns one that has to wait until it would be alone."""
        for connection in self._processes:
            if connection in self._busy or self._is_alone:
                continue
            held = held or following()
            if held is None or (held[1].alone and self._busy):
                return held
            (key, job), held = held, None
            connection.send(job)
            self._busy[connection] = owner, key
            self._is_alone = job.alone
        return held


def _received(connection: Connection) -> Outcome | str:
    try:
        found: Outcome | str | OSError = connection.recv()
    except (EOFError, OSError):
        raise CannotRun("a worker has ended by itself; is there memory enough for so many?") from None
    if isinstance(found, OSError):
        raise CannotRun(str(found))
    return found


def _work(connection: Connection, setting: Setting) -> None:
    """What a worker does until nobody gives it jobs any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the first process, which then ends this one
    signal.signal(signal.SIGTERM, _end)
    logging.disable()
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv()
            connection.send(_outcome(setting, job))


def _outcome(setting: Setting, job: Job) -> Outcome | str | OSError:
    try:
        return run(setting, job)
    except ScenarioError as error:
        return "\n".join(map(str, error.problems))
    except OSError as error:
        return error


def _end(number: int, frame: FrameType | None) -> None:
    end_commands()
    os._exit(128 + number)
