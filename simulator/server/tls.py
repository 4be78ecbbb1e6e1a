"""TLS for the protocol: a certificate that can be replaced while connections are open, and handshakes with a timeout.

Our protocol gets a connection when its handshake is done, for which a client has `HANDSHAKE_S`. A client that sends
plain HTTP gets an answer that it can read.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from simulator.server.foreign import LOGGED, ForeignClients
from simulator.server.http_limits import LINGER_S
from simulator.server.regular_files import CannotRead, content_of

HANDSHAKE_S: Final = 10.0
SHUTDOWN_S: Final = 30.0  # how long a client may take to read the rest of its answers and to say farewell
FILE_BYTES_MAX: Final = 1024 * 1024

is_text: Final = re.compile(rb"[\r\n -~]").match  # no record of TLS begins so, and every request of plain HTTP does
_CERTIFICATE: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
# The field of a certificate that has its two dates, each in one of two forms (RFC 5280 4.1.2.5).
_VALIDITY: Final = re.compile(rb"\x30.(?:\x17\x0d|\x18\x0f)(\d{12,14})Z(?:\x17\x0d|\x18\x0f)(\d{12,14})Z", re.DOTALL)
_USE_HTTPS: Final = b"This port speaks TLS: use https:// instead of http:// in the address.\n"
PLAIN_ANSWER: Final = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%b" % (len(_USE_HTTPS), _USE_HTTPS)
)
_REASONS: Final = {
    "KEY_VALUES_MISMATCH": "the key does not belong to the certificate",
    "KEY_TYPE_MISMATCH": "the key does not belong to the certificate",
    "EE_KEY_TOO_SMALL": "the key is too short",
    "CA_MD_TOO_WEAK": "the certificate is signed with a hash that is not safe any more",
}


class BadCertificate(ValueError):
    """A certificate and key that cannot be used. The text says which file, and why."""


def context_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context for new connections, from two files in PEM: the certificate, followed by the certificates of
    its authorities, and its key. Raises `BadCertificate`."""
    if b"-----BEGIN CERTIFICATE-----" not in _content(certificate):
        raise BadCertificate(f"{certificate}: is not a PEM certificate, which has a line -----BEGIN CERTIFICATE-----")
    if b"PRIVATE KEY-----" not in _content(key):
        raise BadCertificate(f"{key}: is not a PEM private key, which has a line -----BEGIN PRIVATE KEY-----")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0  # a client that reconnects is shown the present certificate
    context.options |= ssl.OP_NO_TICKET
    context.set_alpn_protocols(["http/1.1"])

    def no_password() -> str:
        raise BadCertificate(f"{key}: has a passphrase; give the key without one, in a file that only you can read")

    try:
        context.load_cert_chain(certificate, key, no_password)
    except ssl.SSLError as error:
        why = _REASONS.get(error.reason or "", f"they cannot be read as PEM ({error.reason or 'no more is known'})")
        raise BadCertificate(f"{certificate} and {key}: {why}") from None
    except OSError as error:  # it went away meanwhile
        raise BadCertificate(f"{certificate} and {key}: cannot be read ({error.strerror})") from None
    return context


class Validity(NamedTuple):
    """The interval in which all certificates of a file are valid."""

    begins: datetime
    ends: datetime

    def problem(self, now: datetime) -> str:
        """Return the problem at `now`, to follow the name of its file; empty for a valid certificate."""
        if now >= self.ends:
            return f"the certificate expired on {self.ends:%Y-%m-%d at %H:%M:%S} UTC"
        if now < self.begins:
            return f"the certificate is not valid before {self.begins:%Y-%m-%d at %H:%M:%S} UTC"
        return ""


def validity_of(certificate: Path) -> Validity:
    """Return the validity of the certificates in a file in PEM: the first one and its authorities. Raises
    `BadCertificate`."""
    try:
        encoded = [ssl.PEM_cert_to_DER_cert(one.decode()) for one in _CERTIFICATE.findall(_content(certificate))]
        times = [tuple(map(_time_of, found.groups())) for found in map(_VALIDITY.search, encoded) if found]
    except ValueError as error:
        raise BadCertificate(f"{certificate}: cannot be read as PEM ({error})") from None
    if not encoded or len(times) < len(encoded):
        raise BadCertificate(f"{certificate}: cannot be read as PEM (no certificate has dates)")
    return Validity(max(begins for begins, _ in times), min(ends for _, ends in times))


def _time_of(text: bytes) -> datetime:
    """Return a time of RFC 5280: years up to 2049 have two digits."""
    year, rest = int(text[:-10]), text[-10:]
    month, day, hour, minute, second = (int(rest[at : at + 2]) for at in range(0, len(rest), 2))
    return datetime(year if year > 99 else 2000 + year, month, day, hour, minute, second, tzinfo=UTC)


def _content(path: Path) -> bytes:
    """Return the content of a file. Raises `BadCertificate`."""
    try:
        return content_of(path, FILE_BYTES_MAX)
    except CannotRead as wrong:
        why = f"cannot be read ({wrong.reason})" if wrong.reason else str(wrong)
        raise BadCertificate(f"{path}: {why}") from None


class TlsSettings:
    """The context for new connections, and the time limit of their handshakes. The context may be replaced at any time;
    open connections keep theirs."""

    def __init__(self, context: ssl.SSLContext, *, handshake_s: float = HANDSHAKE_S) -> None:
        self.context = context
        self.handshake_s = handshake_s


class TlsEntry(asyncio.Protocol):
    """A new connection until its handshake is done; then the protocol that `make` returns takes it over. Until then it
    is in `connections`, the set of the server's connections, of which there are at most `connections_max`."""

    def __init__(
        self,
        settings: TlsSettings,
        make: Callable[[], asyncio.Protocol],
        foreign: ForeignClients,
        connections: set[Any],
        connections_max: int,
    ) -> None:
        self._settings, self._make, self._foreign = settings, make, foreign
        self._connections, self._connections_max = connections, connections_max
        self._transport: asyncio.Transport
        self._shaking: asyncio.Task[None]
        self._has_begun: asyncio.Future[None]
        self._first: list[bytes] = []  # the beginning of the handshake, which came before TLS was there to take it
        self._early: list[bytes] = []  # what came with its end
        self._is_inside = False
        self._has_ended = False
        self._is_refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, unless there are too many connections."""
        self._transport = cast(asyncio.Transport, transport)
        loop = asyncio.get_running_loop()
        self._has_begun = loop.create_future()
        self._shaking = loop.create_task(self._shake())
        self._connections.add(self)
        if len(self._connections) > self._connections_max:
            self.hang_up()

    def hang_up(self) -> None:
        """Close at once."""
        self._connections.discard(self)
        self._shaking.cancel()
        self._transport.abort()

    shutdown = hang_up  # uvicorn calls it when the server stops

    async def _shake(self) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._settings.handshake_s
        try:
            async with asyncio.timeout_at(ends_at):
                await self._has_begun
            if is_text(self._first[0]):
                await self._refuse_plain_http()
                return
            self._is_inside = True
            loop.call_soon(loop.call_soon, self._feed)  # after the calls that `start_tls` schedules
            inside = await loop.start_tls(
                self._transport,
                self,
                self._settings.context,
                server_side=True,
                ssl_handshake_timeout=max(ends_at - loop.time(), 0.001),
                ssl_shutdown_timeout=SHUTDOWN_S,
            )
        except (OSError, asyncio.CancelledError):  # no TLS, too slow, or gone
            self._transport.abort()
            return
        finally:
            self._connections.discard(self)
        if inside is None or inside.is_closing():
            self._transport.abort()
            return
        self._hand_over(inside)

    async def _refuse_plain_http(self) -> None:
        self._is_refused = True
        self._foreign.log("plain", LOGGED["plain"])
        self._transport.write(PLAIN_ANSWER)
        self._transport.write_eof()
        self._transport.resume_reading()  # a connection with unread bytes would be reset, and the answer lost
        await asyncio.sleep(LINGER_S)
        self._transport.abort()

    def _hand_over(self, inside: asyncio.Transport) -> None:
        protocol = self._make()
        inside.set_protocol(protocol)
        protocol.connection_made(inside)
        for data in self._early:
            protocol.data_received(data)
        self._early.clear()
        if self._has_ended:
            protocol.eof_received()
            inside.close()

    def data_received(self, data: bytes) -> None:
        """Keep the beginning of the handshake for TLS, and what comes with its end for the protocol."""
        if self._is_refused:
            return
        if self._is_inside:
            self._early.append(data)
            return
        self._first.append(data)
        self._transport.pause_reading()  # the rest is for TLS
        if not self._has_begun.done():
            self._has_begun.set_result(None)

    def eof_received(self) -> None:
        """Note that the client sends no more."""
        self._has_ended = True
        if not self._is_inside and not self._is_refused:
            self.hang_up()

    def _feed(self) -> None:
        """Pass the bytes that arrived before TLS was set up to TLS."""
        protocol = cast(asyncio.BufferedProtocol, self._transport.get_protocol())
        for data in self._first:
            view = memoryview(data)
            while len(view) and not self._transport.is_closing():
                buffer = memoryview(protocol.get_buffer(len(view)))
                count = min(len(buffer), len(view))
                buffer[:count] = view[:count]
                protocol.buffer_updated(count)
                view = view[count:]
        self._first.clear()
