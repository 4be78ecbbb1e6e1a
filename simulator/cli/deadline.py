"""Limits the time of a whole exchange; the timeout of a connection is that of each of its steps."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from socket import SHUT_RDWR
from socket import socket as Socket  # noqa: N812  # a class
from threading import Event, Timer


@contextmanager
def deadline(connection: HTTPConnection, limit_s: float) -> Iterator[None]:
    """Connect, and cut what has not ended within `limit_s` seconds. Raises `TimeoutError` then, and what `connect`
    raises."""
    is_late = Event()
    opened: list[Socket] = []  # a connection forgets its own when the answer ends with it

    def cut() -> None:
        is_late.set()
        for socket in opened:
            with suppress(OSError):  # the other side has closed it
                socket.shutdown(SHUT_RDWR)

    limit = Timer(limit_s, cut)
    limit.daemon = True
    limit.start()
    try:
        connection.connect()
        opened.append(connection.sock)
        if not is_late.is_set():
            yield
    except Exception:
        if not is_late.is_set():
            raise
    finally:
        limit.cancel()
    if is_late.is_set():
        raise TimeoutError(f"nothing within {limit_s:g} seconds")
