"""Runs COMMAND of `exec` and `explore`, which finds this program on its PATH, to its end."""

import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from time import monotonic
from types import FrameType
from typing import Final

from simulator.cli.process import file_limit, signals_handled
from simulator.cli.usage import CannotStart, notify

NAME: Final = "reseller-sim"
STOP_TIMEOUT_S: Final = 5.0
WAIT_S: Final = 1.0
LATE: Final = 124
"""The exit code after a timeout of the command, as with timeout(1)."""


def pasted() -> str:
    """Return the words that call this program in the user's shell. In a virtual environment or a single file the
    command may not be on the PATH."""
    return NAME if shutil.which(NAME) else join(_again())


def check_programs(*commands: Sequence[str]) -> None:
    """Raise `CannotStart` for a command whose program does not exist; a command of no words is passed over."""
    for words in filter(None, commands):
        if shutil.which(words[0]) is None:
            raise CannotStart(f"{words[0]!r} cannot be run: check its name and PATH")


@contextmanager
def on_path() -> Iterator[None]:
    """Make `reseller-sim` available to child processes. If the PATH lacks it, as with a single file or an inactive
    virtual environment, a temporary folder with the command is appended. If the folder cannot be created, the PATH
    stays unchanged."""
    with ExitStack() as stack:
        if not shutil.which(NAME) and os.name == "posix":
            with suppress(OSError):
                folder = stack.enter_context(TemporaryDirectory(prefix=f"{NAME}-", ignore_cleanup_errors=True))
                script = Path(folder, NAME)
                script.write_text(f'#!/bin/sh\nexec {join(_again())} "$@"\n', "utf-8", "surrogateescape")
                script.chmod(0o700)
                path = os.environ.get("PATH", os.defpath)
                stack.callback(os.environ.__setitem__, "PATH", path)
                os.environ["PATH"] = f"{path}{os.pathsep}{folder}"
        yield


def _again() -> list[str]:
    """Return words that call this program from any folder. The `-m` form cannot import another package `simulator`."""
    called = Path(sys.argv[0]).absolute()
    if called.name != NAME:
        return [sys.executable, "-m", "reseller_sim"]
    return [str(called)] if os.access(called, os.X_OK) else [sys.executable, str(called)]


FORWARDED: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def run(
    to_run: list[str], variables: dict[str, str], timeout_s: float | None = None, files_max: int | None = None
) -> int:
    """Run the command until it ends or the time is over, and forward signals to it. Return our exit code. `files_max`
    is its soft limit on open files, by default ours. Raises `CannotStart`."""
    # A process group of its own ends with all children of the command; on a terminal it would get no input.
    has_group = timeout_s is not None and hasattr(os, "killpg") and not _shares_terminal()
    with _forwarding() as forward_to:
        try:
            with file_limit(files_max):
                process = subprocess.Popen(to_run, env=variables, start_new_session=has_group)  # noqa: S603  # the user's own
        except OSError as error:
            raise CannotStart(f"{to_run[0]!r} cannot be run: {error.strerror}") from None
        forward_to(process)
        status = _wait(process, timeout_s)
        if status is None:
            _send(process, signal.SIGTERM, has_group=has_group)
            _wait(process, STOP_TIMEOUT_S)
            _send(process, getattr(signal, "SIGKILL", signal.SIGTERM), has_group=has_group)
            process.wait()
    if status is None:
        notify(f"the command took longer than {timeout_s:g} s (--timeout) and was stopped")
        return LATE
    return status if status >= 0 else 128 - status


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float | None) -> int | None:
    """Return the status of the process; None if it takes longer. It waits in steps, since the handler of a signal that
    comes just before a wait runs after it."""
    ends_at = math.inf if timeout_s is None else monotonic() + timeout_s
    while (left_s := ends_at - monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(WAIT_S, left_s))
    return process.poll()


def _send(process: "subprocess.Popen[bytes]", number: int, *, has_group: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if has_group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


@contextmanager
def _forwarding() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Forward signals to a child process instead of ending this process. Early signals are forwarded when the child
    starts, with which the yielded function is called."""
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        if not children:
            early.append(number)
        elif number != signal.SIGINT or not _shares_terminal():
            children[0].send_signal(number)

    def forward_to(process: subprocess.Popen[bytes]) -> None:
        children.append(process)
        for number in early:
            process.send_signal(number)

    with signals_handled(on_signal, FORWARDED):
        yield forward_to


def _shares_terminal() -> bool:
    """Return whether Ctrl-C reaches the command directly: it is in the terminal's foreground group, as we are."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
