"""Input of an explanation: parses a request from a body of the control API, given as its parts or as a curl command."""

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from simulator.auth.headers import API_KEY
from simulator.control.curl import read_curl
from simulator.control.http import InvalidInput, decoded
from simulator.control.shell_words import NotCurl, stdin_of, words_of

HEADERS_MAX: Final = 200
HEADERS_BYTES_MAX: Final = 64 * 1024
TARGET_BYTES_MAX: Final = 16 * 1024
METHOD_CHARS_MAX: Final = 20
_SCHEMES: Final = (b"http://", b"https://")
_VERSIONS: Final = (b"/v2/", b"/v1/")
_PARTS: Final = ("method", "path", "headers", "body", "body_base64")


class Given(NamedTuple):
    """A request. `path` is the part after `prefix`, names of headers are in lower case, `secret` is decoded (None to
    use the key's own), and `canonical` is the string that the client says it signed."""

    method: str
    host: bytes
    prefix: bytes
    path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    secret: bytes | None
    canonical: bytes | None


def read_given(raw: bytes) -> Given:
    """Return the request in a JSON body. Raises `InvalidInput`."""
    wanted = decoded(raw, "explain-request")
    if "curl" in wanted:
        beside = [name for name in _PARTS if name in wanted]
        if beside:
            raise InvalidInput(f"{beside[0]} is in the curl command; send one of the two", beside[0])
        method, target, pairs, body = _of_curl(wanted["curl"])
    else:
        method, target, body = _part(wanted, "method"), _part(wanted, "path"), _body(wanted)
        pairs = list(_pairs(wanted.get("headers", [])))
    _refuse_long(method, target, pairs)
    host, prefix, path, query = _split(_bytes(target))
    secret, canonical = wanted.get("secret"), wanted.get("canonical")
    if "key" in wanted:
        pairs = [pair for pair in pairs if pair[0] != API_KEY] + [(API_KEY, _bytes(wanted["key"]).strip())]
    return Given(
        method=method,
        host=host,
        prefix=prefix,
        path=path,
        query=query,
        headers=pairs,
        body=body,
        secret=None if secret is None else _secret(secret),
        canonical=None if canonical is None else _bytes(canonical),
    )


def _part(wanted: dict[str, Any], name: str) -> str:
    if name not in wanted:
        raise InvalidInput(f"{name} is missing; send method and path, or curl", name)
    part: str = wanted[name]
    return part


def _of_curl(text: str) -> tuple[str, str, list[tuple[bytes, bytes]], bytes]:
    try:
        stdin, command = stdin_of(text)
        pasted = read_curl(words_of(command), stdin=stdin)
    except NotCurl as wrong:
        raise InvalidInput(str(wrong), "curl") from None
    lines = (line.partition(":") for line in pasted.headers)
    return pasted.method, pasted.target, [_header(name, value) for name, _, value in lines], pasted.body


def _pairs(written: Any) -> Iterator[tuple[bytes, bytes]]:
    pairs: Iterable[Any] = written.items() if isinstance(written, dict) else written
    return (_header(name, value) for name, value in pairs)


def _header(name: str, value: str) -> tuple[bytes, bytes]:
    return _bytes(name).strip().lower(), _bytes(value).strip()


def _body(wanted: dict[str, Any]) -> bytes:
    if "body_base64" not in wanted:
        return _bytes(wanted.get("body", ""))
    if "body" in wanted:
        raise InvalidInput("body_base64 is the body in Base64; send one of the two", "body_base64")
    try:
        return b64decode(wanted["body_base64"], validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("body_base64 must be Base64", "body_base64") from None


def _secret(text: str) -> bytes:
    try:
        return b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("secret must be Base64, as the service hands it out", "secret") from None


def _refuse_long(method: str, target: str, pairs: list[tuple[bytes, bytes]]) -> None:
    """Raise `InvalidInput` for a request that no server would read; a curl command may exceed the limits of the
    schema."""
    if not method.isascii() or not method.isalpha() or len(method) > METHOD_CHARS_MAX:
        raise InvalidInput(f"method must be one of HTTP, at most {METHOD_CHARS_MAX} letters", "method")
    if len(target) > TARGET_BYTES_MAX:
        raise InvalidInput(f"path has at most {TARGET_BYTES_MAX} characters", "path")
    if len(pairs) > HEADERS_MAX or sum(len(name) + len(value) for name, value in pairs) > HEADERS_BYTES_MAX:
        text = f"there are at most {HEADERS_MAX} headers, of {HEADERS_BYTES_MAX} bytes together"
        raise InvalidInput(text, "headers")


def _split(target: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Split a URL or a path with its query into host, path prefix, path from the version on, and query."""
    target = target.partition(b"#")[0]
    whole, _, query = target.partition(b"?")
    host, path = b"", whole
    if whole.startswith(_SCHEMES):
        host, _, rest = whole.partition(b"//")[2].partition(b"/")
        path = b"/" + rest
    if not path.startswith(b"/"):
        raise InvalidInput("path must begin with /, or be a URL with http:// or https://", "path")
    for version in _VERSIONS:
        before, found, rest = path.partition(version)
        if found:
            return host, before, found + rest, query
    return host, b"", path, query


def _bytes(text: str) -> bytes:
    """Encode a text in UTF-8, restoring bytes from a shell that are not valid text."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
