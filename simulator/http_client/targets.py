"""Valid targets of callbacks and webhooks: a URL or an inbox."""

import re
import socket
from ipaddress import IPv6Address, ip_address
from urllib.parse import quote, unquote, urlsplit

import msgspec

from simulator.domain.model.inbox_programs import INBOX_NAME, INBOX_SCHEME
from simulator.http_client.addresses import AddressPolicy

MAX_TARGET_CHARS = 2000
"""The longest URL that may be configured; a GET callback adds its query."""

DEFAULT_PORTS = {"http": 80, "https": 443}

_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]+)(?::([0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))

# Names of cloud metadata services. The addresses of other names are checked when they are called.
_METADATA_NAMES = (
    *("metadata.google.internal", "metadata.goog", "metadata.azure.internal", "instance-data.ec2.internal"),
    "metadata.tencentyun.com",
)

CONTROL = "_sim"
_RECEIVER = re.compile(r"(?:/[^/%]+)*/_sim/(?:inbox/[^/]+/[^/]+|callbacks(?:/[^/]+)*)/?")


class BadTarget(ValueError):
    """The text is not a valid target; the message says why, without repeating the text."""


class InboxTarget(msgspec.Struct, frozen=True):
    """`inbox:NAME`: the inbox of that name in the delivering sandbox."""

    name: str


class HttpTarget(msgspec.Struct, frozen=True):
    """An http(s) URL in encoded ASCII, its host in lower case (an IPv6 host without brackets), and its port."""

    url: str
    host: str
    port: int


def parse_target(text: str, max_chars: int = MAX_TARGET_CHARS) -> InboxTarget | HttpTarget:
    """Parse a callback or webhook URL (SPEC 2.8, 2.11); raises `BadTarget`.

    The URL is preserved, except that non-ASCII characters are encoded and numeric spellings of an IPv4 host
    (`2130706433`, `0x7f.1`) become the dotted address.
    """
    if not text:
        raise BadTarget("the address is empty")
    if len(text) > max_chars:
        raise BadTarget(f"the address is longer than {max_chars} characters")
    if text.startswith(INBOX_SCHEME):
        name = text.removeprefix(INBOX_SCHEME)
        if INBOX_NAME.fullmatch(name):
            return InboxTarget(name)
        reason = "an inbox name is 1 to 64 letters, digits, '.', '_' or '-' and starts with a letter or digit"
        raise BadTarget(f"{reason}; leave out {INBOX_SCHEME}" if name.startswith(INBOX_SCHEME) else reason)
    if not text.isprintable() or " " in text or "\\" in text:
        raise BadTarget("the address contains a space, a backslash or a control character")
    return _http(text)


def _http(text: str) -> HttpTarget:
    try:
        parts = urlsplit(text)
    except ValueError:
        raise BadTarget("the address is not a URL") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadTarget("the address must begin with http:// or https://, or be inbox:NAME")
    if "@" in parts.netloc:
        raise BadTarget("the address must not carry a user name or password")
    authority = _AUTHORITY.fullmatch(parts.netloc)
    if not authority:
        raise BadTarget("the address must name a host, or a host and a port")
    written, port_text = authority.groups()
    port = int(port_text or DEFAULT_PORTS[parts.scheme])
    if not 1 <= port <= 65535:
        raise BadTarget("the port must be between 1 and 65535")
    host = _host(written.lower())
    if leads_to_control_api(parts.path):
        raise BadTarget(
            "the path leads to the control API of a simulator; below /_sim only inbox/SANDBOX/NAME is called"
        )
    if host != written.lower():
        text = parts._replace(netloc=host + parts.netloc[len(written) :]).geturl()
    url = text if text.isascii() else quote(text, safe=_ASCII)
    return HttpTarget(url, host.strip("[]"), port)


def _host(host: str) -> str:
    """Return the host as it is resolved and connected to."""
    if host.startswith("["):
        try:
            address = ip_address(host[1:-1])
        except ValueError:
            raise BadTarget("the host in brackets is not an IPv6 address") from None
        if not isinstance(address, IPv6Address) or address.scope_id is not None:
            raise BadTarget("the host in brackets must be an IPv6 address without a zone")
        return host
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise BadTarget("the host is not a valid international name") from None
    labels = host.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):  # decimal, octal, hexadecimal, short: each spelling that the system accepts
        try:
            return socket.inet_ntoa(socket.inet_aton(".".join(labels)))
        except OSError:
            raise BadTarget("the host is a number but not an IPv4 address") from None
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadTarget(
            "the host is not a valid name: each part between its dots has 1 to 63 letters, digits, _ and -, and does "
            "not begin or end with -; the whole has at most 253"
        )
    if ".".join(labels) in _METADATA_NAMES:
        raise BadTarget("the host is a name of a cloud's metadata service")
    return host


def reason_to_refuse(url: str) -> str | None:
    """Return why a URL is rejected, or None. Host names are resolved and checked only when they are called."""
    try:
        target = parse_target(url)
        return AddressPolicy().refuse(ip_address(target.host)) if isinstance(target, HttpTarget) else None
    except BadTarget as bad:
        return str(bad)
    except ValueError:
        return None


def leads_to_control_api(path: str) -> bool:
    """Return True if a simulator, or a proxy in front of it, may read the URL's path as part of its control API.

    A client that sets a callback URL could otherwise drive the simulator that calls it. Servers may decode a path,
    resolve its dot segments and merge its slashes, so every reading counts. The receiving URLs of inboxes and of
    `reseller-sim proxy` are allowed, in their plain spelling only.
    """
    readings = _readings(path)
    if not any(CONTROL in map(_name, reading) for reading in readings):
        return False
    if any("" in reading[1:-1] or not {".", ".."}.isdisjoint(map(_name, reading)) for reading in readings):
        return True  # the path leaves the folder that it names
    return not _RECEIVER.fullmatch(path)


def _readings(path: str) -> list[list[str]]:
    """Return the segments of the path undecoded, decoded once, twice and so on."""
    readings = [re.split(r"[/\\]", path)]
    while (decoded := unquote(path)) != path:
        readings.append(re.split(r"[/\\]", decoded))
        path = decoded
    return readings


def _name(segment: str) -> str:
    """Return a segment in lower case, without its parameters."""
    return segment.partition(";")[0].strip().lower()
