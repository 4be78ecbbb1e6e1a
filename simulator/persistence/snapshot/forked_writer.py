"""Writes the parts of a snapshot in a forked process while this process continues.

A forked process has a private copy of the memory at that moment, so the sandbox may change while its snapshot is
written, however large it is. The copy closes everything that it shares with this process, writes the parts into a pipe
and exits. Where processes cannot fork, the parts are made here, a part per turn of the event loop.
"""

import asyncio
import gc
import os
import signal
import warnings
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, Final, NoReturn

import msgspec

from simulator.persistence.snapshot.document import ENCODER, NotNow

Parts = Callable[[], Iterator[tuple[str, bytes]]]
Pieces = AsyncGenerator[tuple[str, bytes], None]

NICENESS: Final = 5
PIPE_BYTES: Final = 128 * 1024  # that are written ahead, and read in a turn of the event loop
_PIECE: Final = msgspec.msgpack.Decoder(tuple[str, bytes] | str | None)
CAN_FORK: Final = hasattr(os, "fork")


async def pieces_apart(parts: Parts) -> Pieces:
    """Yield name and content of each part. Raises `NotNow`, also when the copy ended too early, and `RuntimeError` for
    an error in the copy."""
    if not CAN_FORK:
        for piece in parts():
            yield piece
            await asyncio.sleep(0)
        return
    pid, descriptor = _fork(parts)
    loop, stream = asyncio.get_running_loop(), asyncio.StreamReader()

    def read() -> None:
        if content := os.read(descriptor, PIPE_BYTES):
            stream.feed_data(content)
        else:
            stream.feed_eof()

    loop.add_reader(descriptor, read)  # a thread would wait for the interpreter's lock of a busy loop, part by part
    try:
        while True:
            content = await stream.readexactly(int.from_bytes(await stream.readexactly(4)))
            piece_read: tuple[str, bytes] | str | None = _PIECE.decode(content)
            if piece_read is None:
                return
            if isinstance(piece_read, str):
                raise RuntimeError(f"a snapshot failed: {piece_read}")
            yield piece_read
    except asyncio.IncompleteReadError:
        raise NotNow("the process that wrote the snapshot ended too early") from None
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended


def _fork(parts: Parts) -> tuple[int, int]:
    """Start the copy. Return its pid, and the read end of its pipe."""
    reading, writing = os.pipe()
    with suppress(ImportError, OSError):  # only Linux has larger pipes, and it may refuse them
        from fcntl import F_SETPIPE_SZ, fcntl

        fcntl(writing, F_SETPIPE_SZ, PIPE_BYTES)
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
                for piece in chain(parts(), (None,)):
                    _write_piece(pipe, piece)
            except NotNow:
                pass
            except Exception as error:  # the other process reports it
                _write_piece(pipe, repr(error))
    finally:
        os._exit(0)


def _write_piece(pipe: IO[bytes], piece: object) -> None:
    content = ENCODER.encode(piece)
    pipe.write(len(content).to_bytes(4) + content)
