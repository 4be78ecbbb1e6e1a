"""The same as `early` within TLS: there a request is known after a handshake only, which cannot be given to the server.

So whoever asks something else than a probe is answered that the server is not there yet. Connections on which nothing
came are given to the server.
"""

import contextlib
import selectors
import socket
import ssl
from collections.abc import Mapping
from typing import Final

from simulator.server.early import HEAD_BYTES_MAX, HELD_MAX, EarlyAnswers, Probe, encoded
from simulator.server.tls import PLAIN_ANSWER, is_text

_READ_AT_ONCE: Final = 16 * 1024


class EarlyTlsAnswers(EarlyAnswers):
    """`otherwise` is answered to what is no probe; it is to be sent again after a second."""

    def __init__(
        self, listener: socket.socket, probes: Mapping[str, Probe], context: ssl.SSLContext, otherwise: Probe
    ) -> None:
        self._context = context
        self._otherwise = otherwise
        self._inside: dict[ssl.SSLSocket, bytes | None] = {}  # what was read; None of those that were answered
        super().__init__(listener, probes)

    def end(self) -> list[socket.socket]:
        """Answer no more: those that have begun a handshake are closed."""
        waiting = super().end()
        for one in self._inside:
            one.close()
        return waiting

    def _look_at(self, connection: socket.socket) -> None:
        """Shake hands, read a request, answer it, and read on until the client has left, as far as bytes have come."""
        inside = connection if isinstance(connection, ssl.SSLSocket) else self._begun(connection)
        if inside is None:
            return
        try:
            self._go_on(inside)
        except ssl.SSLWantReadError:
            self._selector.modify(inside, selectors.EVENT_READ)
        except ssl.SSLWantWriteError:
            self._selector.modify(inside, selectors.EVENT_WRITE)
        except (OSError, ValueError):  # no TLS, or gone
            self._forget(inside)

    def _begun(self, connection: socket.socket) -> ssl.SSLSocket | None:
        self._selector.unregister(connection)
        self._silent.discard(connection)
        if len(self._inside) >= HELD_MAX:
            self._forget(next(iter(self._inside)))
        if self._spoke_plain_http(connection):
            return None
        try:
            inside = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it has left
            connection.close()
            return None
        self._inside[inside] = b""
        self._selector.register(inside, selectors.EVENT_READ)
        return inside

    def _spoke_plain_http(self, connection: socket.socket) -> bool:
        """Answer and close a connection whose first bytes are no TLS."""
        try:
            if not is_text(connection.recv(1, socket.MSG_PEEK)):
                return False
            connection.recv(_READ_AT_ONCE)  # unread bytes would reset the connection, and lose the answer
            connection.sendall(PLAIN_ANSWER)
        except OSError:  # it has left
            pass
        connection.close()
        return True

    def _go_on(self, inside: ssl.SSLSocket) -> None:
        if self._inside[inside] is not None:
            inside.do_handshake()
        while data := inside.recv(_READ_AT_ONCE):
            head = self._inside[inside]
            if head is None:
                continue
            self._inside[inside] = head = head + data
            if b"\r\n\r\n" in head or len(head) > HEAD_BYTES_MAX:
                self._answer(inside, head)
        self._forget(inside)

    def _answer(self, inside: ssl.SSLSocket, head: bytes) -> None:
        self._inside[inside] = None
        probe = self._probe(head)
        inside.sendall(encoded(*self._otherwise(), again=True) if probe is None else encoded(*probe()))
        if probe is not None:  # who still sends a body reads no answer with a farewell
            with contextlib.suppress(ssl.SSLWantReadError):
                inside.unwrap()

    def _forget(self, inside: ssl.SSLSocket) -> None:
        self._inside.pop(inside, None)
        self._selector.unregister(inside)
        inside.close()
