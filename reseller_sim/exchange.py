"""HTTP by the standard library, with the real clocks and network of this process, even where a test replaces them.

freezegun replaces the functions of the module `time` wherever they are named, but neither `clock_gettime` nor
references inside other objects. httpretty, mocket and pytest-socket replace `socket.socket`, but not the class itself.
"""

import _socket
import json
import os
import re
import socket
import ssl
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from typing import Any
from urllib.parse import urlsplit

__tracebackhide__ = True  # pytest shows the line of the test
CA_VARIABLE = "RESELLER_SIM_CA"
BYPASSES = ("NO_PROXY", "no_proxy")
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
PIECE_BYTES = 1 << 16
ANSWER_BYTES_MAX = 64 * 1024 * 1024
"""The maximum size of a response's body."""
LEFT_S_MIN = 0.001
HAS_CLOCKS = hasattr(time, "clock_gettime")
real_monotonic = partial(time.clock_gettime, time.CLOCK_MONOTONIC) if HAS_CLOCKS else partial(time.monotonic)
"""Return the seconds of a clock that only runs forward."""

_WALL = partial(time.clock_gettime, time.CLOCK_REALTIME) if HAS_CLOCKS else partial(time.time)

Socket: type[socket.socket] = next(  # type: ignore[assignment]  # a library may have replaced it before this import
    kind for kind in _socket.socket.__subclasses__() if kind.__module__ == "socket"
)


def real_time() -> float:
    """Return the Unix time of the machine."""
    time_machine = sys.modules.get("time_machine")
    if time_machine is not None and time_machine.escape_hatch.is_travelling():
        return float(time_machine.escape_hatch.time.time())
    return _WALL()


class Content:
    """The body of a request or a response."""

    __slots__ = ()
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the decoded body. Raises `ValueError` for anything but JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer(Content):
    """A response; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def diagnosis(self) -> str:
        """The simulator's remark about the request beyond the service's response; empty for nothing."""
        return self.headers.get("x-sim-diagnosis", "")


class Unanswered(Exception):
    """There was no complete response; the text is the reason."""


class Unreachable(Unanswered):
    """No connection was made, so nothing was sent."""


class TlsFailed(Unreachable):
    """A server answers, but not by TLS, or with an untrusted certificate. The text has advice."""


class Trust:
    """Accepts certificates that an authority of the system or of `file` has issued; with `is_only` the certificate in
    `file`, for any host; with `is_insecure` any. `advice` is the end of a sentence about a certificate that is not
    accepted, or a file that has none."""

    def __init__(self, file: str, advice: str = "", *, is_only: bool = False, is_insecure: bool = False) -> None:
        self._file, self.advice, self._is_only, self._is_insecure = file, advice, is_only, is_insecure

    @cached_property
    def context(self) -> ssl.SSLContext:
        """The context of its connections. Raises `TlsFailed` for a file without a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = not (self._is_only or self._is_insecure)
        if self._is_only:
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the certificate is enough, without its authority
        else:
            context.load_default_certs()
        if self._is_insecure:
            context.verify_mode = ssl.CERT_NONE
        try:
            if self._file:
                context.load_verify_locations(self._file)
        except OSError as error:
            why = "no certificate in PEM is in it" if isinstance(error, ssl.SSLError) else error.strerror
            raise TlsFailed(f"{self._file} cannot be used: {why}{self.advice}") from None
        return context


@lru_cache(maxsize=1)
def _usual_trust(authority: str) -> Trust:
    return Trust(authority, f"; name the file of its authority, or of itself, in {CA_VARIABLE}")


class Connection(HTTPConnection):
    """A connection to the server of an http or https URL. Without `trust` a certificate must be issued by an authority
    of the system, of SSL_CERT_FILE or of RESELLER_SIM_CA."""

    def __init__(self, url: str, timeout_s: float, trust: Trust | None = None) -> None:
        parts = urlsplit(url)
        self._is_tls, self._trust = parts.scheme == "https", trust
        self.default_port = 443 if self._is_tls else 80
        super().__init__(parts.hostname or "", parts.port, timeout=timeout_s)

    def connect(self) -> None:
        """Connect. Raises `TlsFailed` and `OSError`s."""
        self.sock = _connected(self.host, self.port, self.timeout or 0)
        if not self._is_tls:
            return
        trust = self._trust or _usual_trust(os.environ.get(CA_VARIABLE, ""))
        try:
            self.sock = trust.context.wrap_socket(self.sock, server_hostname=self.host)
        except ssl.SSLCertVerificationError as error:
            raise TlsFailed(f"its certificate is not trusted: {error.verify_message}{trust.advice}") from None
        except ssl.SSLError as error:
            text = f"it does not speak TLS ({error.reason}): use http:// instead of https:// in its address"
            raise TlsFailed(text) from None


def _connected(host: str, port: int, timeout_s: float) -> socket.socket:
    """Return a connected socket of the first address that accepts."""
    failure: OSError = ConnectionError(f"{host} has no address")
    for family, kind, protocol, _, address in _socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
        connecting = Socket(family, kind, protocol)
        connecting.settimeout(timeout_s)
        try:
            connecting.connect(address)
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connecting.close()
            failure = error
        else:
            return connecting
    raise failure


class _LimitedReader(RawIOBase):
    """Reads from a connection until `ends`. The timeout of a socket limits each read alone, so an answer that drips
    would never end. Raises `TimeoutError`."""

    def __init__(self, received: RawIOBase, connected: socket.socket, ends: float) -> None:
        self._received, self._connected, self._ends = received, connected, ends

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left_s = self._ends - real_monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._connected.settimeout(left_s)
        return self._received.readinto(buffer)

    def close(self) -> None:
        self._received.close()
        super().close()


class _LimitedResponse(HTTPResponse):
    """A response, head and body, of which nothing is read after `ends`."""

    def __init__(self, connected: socket.socket, *, ends: float, **settings: Any) -> None:
        super().__init__(connected, **settings)
        self.fp = BufferedReader(_LimitedReader(self.fp.detach(), connected, ends))


def exchange(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float, trust: Trust | None = None
) -> Answer:
    """Send a request unchanged, and follow no redirects. `timeout_s` limits the whole response, head and body, from
    when the request was sent. Raises `Unanswered`, also for more than `ANSWER_BYTES_MAX`, and `Unreachable` when
    nothing was sent."""
    connection = Connection(url, max(timeout_s, LEFT_S_MIN), trust)
    kind: type[Unanswered] = Unreachable
    try:
        connection.connect()
        kind, content = Unanswered, bytearray()
        connection.request(method, "/" + url.partition("://")[2].partition("/")[2], body, dict(headers))
        ends = real_monotonic() + timeout_s
        connection.response_class = partial(_LimitedResponse, ends=ends)  # type: ignore[assignment]
        response = connection.getresponse()
        while piece := response.read1(PIECE_BYTES):
            content += piece
            if len(content) > ANSWER_BYTES_MAX:
                raise HTTPException(f"the response has more than {ANSWER_BYTES_MAX} bytes")
        if response.length:
            raise HTTPException(f"{response.length} bytes of the response are missing")
        return Answer(response.status, {name.lower(): text for name, text in response.getheaders()}, bytes(content))
    except (HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise kind(" ".join(reason.split())) from error  # an invalid status line ends with its line break
    finally:
        connection.close()


_PLACE = re.compile(r'"\\u0000decimal (\d+)"')  # of a `Decimal` in JSON, whose digits a float would not keep


def encoded(value: Any) -> bytes:
    """Return a value as JSON; a `Decimal` becomes a number with its digits. Raises `TypeError` and `ValueError` for a
    value that JSON cannot hold."""
    numbers: list[str] = []

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, Decimal):
            raise TypeError(f"JSON has no {type(value).__name__}: {value!r:.60}")
        if not value.is_finite():
            raise ValueError(f"JSON has no number {value}")
        numbers.append(f"{value:f}")
        return f"\0decimal {len(numbers) - 1}"

    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=plain)
    return _PLACE.sub(lambda place: numbers[int(place[1])], text).encode()


def bypass(environment: Mapping[str, str], url: str) -> dict[str, str]:
    """Return both spellings of NO_PROXY with the host of `url` after all that either of them has. Programs read one of
    the two. `*`, which means every host, is understood when it stands alone, so it stays so."""
    host = urlsplit(url).hostname or ""
    hosts = [part.strip() for name in BYPASSES for part in environment.get(name, "").split(",")]
    wanted = [host, f"[{host}]"] if ":" in host else [host]
    value = "*" if "*" in hosts else ",".join(dict.fromkeys(filter(None, [*hosts, *wanted])))
    return dict.fromkeys(BYPASSES, value)


def proxy_hint(environment: Mapping[str, str]) -> str:
    """Return the end of a sentence about requests that did not arrive: which proxy variables are set; empty without."""
    found = [name for name in PROXIES if environment.get(name)]
    verb = "is" if len(found) == 1 else "are"
    return f" {', '.join(found)} {verb} set: does the HTTP client heed NO_PROXY?" if found else ""
