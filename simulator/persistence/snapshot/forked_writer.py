"""Writes the parts of a snapshot in a forked process while this process continues.

A forked process has a private copy of the memory at that moment, so the sandbox may change while its snapshot is
written, however large it is. The copy closes everything that it shares with this process, writes the parts into a pipe
and exits. Where processes cannot fork, the parts are made here, a part per turn of the event loop.
"""

import asyncio
import gc
import os
import signal
import struct
import sys
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from typing import IO, Final, NoReturn

from simulator.persistence.snapshot.document import NotNow

Parts = Callable[[], Iterator[tuple[str, bytes]]]
"""Parts without content are skipped."""
Pieces = AsyncGenerator[tuple[str, bytes], None]

_HEAD = struct.Struct(">IQ")
_END = b"\0" * _HEAD.size
"""A head without a name marks the end of the parts."""

NICENESS: Final = 5
CAN_FORK: Final = hasattr(os, "fork") and sys.platform != "win32"


async def pieces_apart(parts: Parts) -> Pieces:
    """Yield name and content of each part. Raises `NotNow`, also when the copy ended too early."""
    async with aclosing(_forked(parts) if CAN_FORK else _here(parts)) as pieces:
        async for piece in pieces:
            yield piece


async def _here(parts: Parts) -> Pieces:
    for name, content in parts():
        if content:
            yield name, content
        await asyncio.sleep(0)


async def _forked(parts: Parts) -> Pieces:
    pid, descriptor = _fork(parts)
    with open(descriptor, "rb") as pipe:  # noqa: ASYNC230 - a thread reads it
        try:
            while (piece := await asyncio.to_thread(_read_piece, pipe)) is not None:
                name, content = piece
                if not name:
                    raise RuntimeError(f"a snapshot failed: {content.decode()}")
                yield name, content
        finally:  # nothing is left to do, and the thread finds the end of the pipe
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended


def _read_piece(pipe: IO[bytes]) -> tuple[str, bytes] | None:
    """Return the next part, None at the end. Raises `NotNow`."""
    head = _read_whole(pipe, _HEAD.size)
    if head == _END:
        return None
    name_size, size = _HEAD.unpack(head)
    return _read_whole(pipe, name_size).decode(), _read_whole(pipe, size)


def _read_whole(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise NotNow("the process that wrote the snapshot ended too early")
    return found


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
        for name, content in parts():
            if content:
                _write_piece(descriptor, name, content)
        _write_all(descriptor, _END)
    except NotNow:
        pass
    except Exception as error:  # the other process reports it
        _write_piece(descriptor, "", repr(error).encode())
    finally:
        os._exit(0)


def _write_piece(descriptor: int, name: str, content: bytes) -> None:
    called = name.encode()
    _write_all(descriptor, _HEAD.pack(len(called), len(content)) + called + content)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
