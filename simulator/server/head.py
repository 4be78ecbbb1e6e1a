"""The rules for a request's head: its size, its version, one Host, and a target that is a path."""

import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from httptools import HttpParserInvalidURLError, parse_url

from simulator.server.limits import HttpRefusal, Limits

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def check_size(limits: Limits, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Measure a head, whole or as far as it came, by the sum of its parts; raise HttpRefusal (414, 431)."""
    if len(headers) > limits.headers:
        raise HttpRefusal("too_many_headers", limits.headers)
    request_line = len(target) + len("GET  HTTP/1.1\r\n")
    if request_line > limits.head_bytes:
        raise HttpRefusal("target_too_long", limits.head_bytes)
    lines = sum(len(name) + len(value) + len(": \r\n") for name, value in headers)
    if request_line + lines + len("\r\n") > limits.head_bytes:
        raise HttpRefusal("head_too_large", limits.head_bytes)


def check_version_and_host(version: str, hosts: int) -> None:
    """Raise HttpRefusal (400) for another version than 1.1 and 1.0, and for no Host (which 1.0 may omit) or several."""
    if version not in ("1.1", "1.0"):
        raise HttpRefusal("unsupported_http_version", version)
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        raise HttpRefusal("host_repeated" if hosts else "host_missing", hosts)


def origin_form(target: bytes) -> bytes:
    """Return a target as `/path?query`, an absolute one too (RFC 9112 3.2.2); raise HttpRefusal (400) for any other.

    The path's percent-escapes must be whole and spell UTF-8; those of the query are the application's matter.
    """
    try:
        parsed = parse_url(target)
    except HttpParserInvalidURLError as error:
        raise HttpRefusal("malformed_target", "is not a valid URL") from error
    if parsed.schema is not None and parsed.schema.lower() not in (b"http", b"https"):
        raise HttpRefusal("malformed_target", "is an absolute URL of another scheme than http")
    path = parsed.path or b"/"
    if not path.startswith(b"/"):
        raise HttpRefusal("malformed_target", "must be a path that begins with /")
    _check_escapes(path)
    return path + b"?" + parsed.query if parsed.query is not None else path


def _check_escapes(path: bytes) -> None:
    if _BROKEN_ESCAPE.search(path):
        raise HttpRefusal("malformed_target", "has a % in its path that two hexadecimal digits do not follow")
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise HttpRefusal("malformed_target", "has percent-escapes in its path that are not UTF-8") from error
