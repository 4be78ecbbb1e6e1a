"""Writes the parts of a snapshot in a forked process while this process continues.

A forked process has a private copy of the memory at that moment, so the sandbox may change while its snapshot is
written, however large it is. The copy closes everything that it shares with this process, writes the parts into a pipe
and exits. Where processes cannot fork, the parts are made here, a part per turn of the event loop.
"""

import asyncio
import gc
import os
import pickle
import signal
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from typing import IO, Final, NoReturn

from simulator.persistence.snapshot.document import NotNow

Parts = Callable[[], Iterator[tuple[str, bytes]]]
Pieces = AsyncGenerator[tuple[str, bytes], None]

NICENESS: Final = 5
CAN_FORK: Final = hasattr(os, "fork")


async def pieces_apart(parts: Parts) -> Pieces:
    """Yield name and content of each part. Raises `NotNow`, also when the copy ended too early."""
    if not CAN_FORK:
        for piece in parts():
            yield piece
            await asyncio.sleep(0)
        return
    pid, descriptor = _fork(parts)
    with open(descriptor, "rb") as pipe:  # noqa: ASYNC230 - a thread reads it
        try:
            while (piece_read := await asyncio.to_thread(_read_piece, pipe)) is not None:
                yield piece_read
        finally:  # nothing is left to do, and the thread finds the end of the pipe
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended


def _read_piece(pipe: IO[bytes]) -> tuple[str, bytes] | None:
    """Return the next part, None at the end. Raises `NotNow`, and `RuntimeError` for an error in the copy."""
    try:
        piece: tuple[str, bytes] | str | None = pickle.load(pipe)  # noqa: S301 - of our own process
    except (EOFError, pickle.UnpicklingError):
        raise NotNow("the process that wrote the snapshot ended too early") from None
    if isinstance(piece, str):
        raise RuntimeError(f"a snapshot failed: {piece}")
    return piece


def _fork(parts: Parts) -> tuple[int, int]:
    """Start the copy. Return its pid, and the read end of its pipe."""
    reading, writing = os.pipe()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy uses none of what they may hold
            pid = os.fork()
        if pid == 0:
            _write(parts, writing)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(writing)
    return pid, reading


def _write(parts: Parts, descriptor: int) -> NoReturn:
    """In the copy: write all parts, and end."""
    gc.disable()  # collecting would write into the visited memory, which the copy would then duplicate
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.closerange(0, descriptor)
        os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.nice(NICENESS)
        with open(descriptor, "wb") as pipe:
            try:
                for piece in parts():
                    pickle.dump(piece, pipe)
                pickle.dump(None, pipe)
            except NotNow:
                pass
            except Exception as error:  # the other process reports it
                pickle.dump(repr(error), pipe)
    finally:
        os._exit(0)
