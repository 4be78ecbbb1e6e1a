"""Where the proxy sends requests and callbacks, which the operator says, never the client, and where a path leads."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urlsplit

from simulator.options import CONTROL_PATH

DEFAULT_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """The text is no address to pass requests to; it says why, without repeating the text."""


@dataclass(frozen=True, slots=True)
class Address:
    """An http(s) server; `base` is put in front of every target, empty or a path without a slash at its end."""

    is_tls: bool
    host: str
    port: int
    base: str = ""

    @property
    def authority(self) -> str:
        """The value of Host: without the port where it is the scheme's own (RFC 9110 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return "https" if self.is_tls else "http"

    @property
    def url(self) -> str:
        """The address as text."""
        return f"{self.scheme}://{self.authority}{self.base}"


def parse_address(text: str) -> Address:
    """The address in `http(s)://HOST[:PORT][/PATH]`. Raises `BadAddress`."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadAddress("is not a URL") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadAddress("must begin with http:// or https://")
    if "@" in parts.netloc:
        raise BadAddress("must not carry a user name or password")
    if "?" in text or "#" in text:
        raise BadAddress("must not have a query or a fragment")
    if not parts.hostname or port == 0 or not all("!" <= character <= "~" for character in text):
        raise BadAddress("must name a host, or a host and a port, in visible ASCII characters")
    is_tls = parts.scheme == "https"
    return Address(is_tls, parts.hostname, port or DEFAULT_PORTS[parts.scheme], parts.path.rstrip("/"))


_DOTS = (b".", b"..")


def has_dots(path: bytes) -> bool:
    """True when a segment is `.` or `..`: below a base path it could lead out of it."""
    return any(segment in _DOTS for segment in _segments(path))


def is_control(path: bytes) -> bool:
    """True for what a simulator may take for its control API: escapes undone, dot segments and empty ones resolved."""
    kept: list[bytes] = []
    for segment in _segments(path):
        if segment == b"..":
            kept[-1:] = []
        elif segment not in (b"", b"."):
            kept.append(segment)
    return bool(kept) and kept[0] == CONTROL_PATH[1:].encode()


def _segments(path: bytes) -> Iterator[bytes]:
    """As servers may read them: some take a backslash for a slash, and cut parameters off at a semicolon."""
    for segment in unquote_to_bytes(path).replace(b"\\", b"/").split(b"/"):
        yield segment.partition(b";")[0]
