"""The parts of a snapshot, made by a copy of this process while this one goes on.

A process that is forked has the memory of that moment for itself, so the sandbox may change while its snapshot is
written, however large it is. The copy closes all that it has in common with this process, writes the parts into a pipe
and ends. Where processes cannot be forked the parts are made here, one in each turn of the event loop.
"""

import asyncio
import gc
import os
import signal
import struct
import sys
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Final, NoReturn

from simulator.persistence.snapshot.document import NotNow

Parts = Callable[[], Iterator[tuple[str, bytes]]]
"""Parts without a content are passed over."""
Pieces = AsyncGenerator[tuple[str, bytes], None]

_HEAD = struct.Struct(">IQ")
_END = b"\0" * _HEAD.size
"""A head without a name: there are no more parts."""

NICENESS: Final = 5
PIPE_BYTES: Final = 1024 * 1024
"""How much the copy may be ahead of this process, which reads it in one turn."""

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
    try:
        with _read_from(descriptor) as reader:
            while (head := await reader.readexactly(_HEAD.size)) != _END:
                name_size, size = _HEAD.unpack(head)
                name = (await reader.readexactly(name_size)).decode()
                content = await reader.readexactly(size)
                if not name:
                    raise RuntimeError(f"a snapshot failed: {content.decode()}")
                yield name, content
    except asyncio.IncompleteReadError:
        raise NotNow("the process that wrote the snapshot ended too early") from None
    finally:
        os.close(descriptor)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)  # it has nothing left to do
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended


@contextmanager
def _read_from(descriptor: int) -> Iterator[asyncio.StreamReader]:
    """What comes out of a pipe, which stays the caller's. A transport would own it: when one is cancelled while it is
    made, not every event loop leaves it to somebody else to close."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=PIPE_BYTES)

    def feed() -> None:
        try:
            content = os.read(descriptor, PIPE_BYTES)
        except BlockingIOError:
            return
        if content:
            reader.feed_data(content)
        else:
            loop.remove_reader(descriptor)
            reader.feed_eof()

    os.set_blocking(descriptor, False)
    loop.add_reader(descriptor, feed)
    try:
        yield reader
    finally:
        loop.remove_reader(descriptor)


def _fork(parts: Parts) -> tuple[int, int]:
    """Start the copy. Answers its pid, and the end of the pipe that it writes into."""
    reading, writing = os.pipe()
    _widen(writing)
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


def _widen(descriptor: int) -> None:
    """Let a pipe have more room, where that can be set."""
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # the system allows less
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _write(parts: Parts, descriptor: int) -> NoReturn:
    """In the copy: write all parts, and end."""
    gc.disable()  # it would write into what it visits, for which the copy needs memory of its own
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
    _write_all(descriptor, _HEAD.pack(len(called), len(content)) + called)
    _write_all(descriptor, content)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
