"""Mistakes in how the parts become the string to sign: separators, order, what is left out or added, line ends."""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations

from simulator.auth.autopsy.facts import BODY_BYTES_MAX, Facts, Joining, Parts
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import EMPTY_BODY_HASH

_NAMES = ("timestamp", "nonce", "METHOD", "query", "body hash")
_SEPARATORS = {
    b".": "dots", b"|": "vertical bars", b"&": "&", b",": "commas", b";": "semicolons", b"-": "dashes",
    b"_": "underscores", b" ": "blanks", b"/": "slashes", b"\r\n": "CR LF", b"\t": "tabs", b"::": "two colons each",
    b"+": "plus signs", b"#": "#", b"\\n": "a backslash and n", b": ": "a colon and a blank",
    b", ": "a comma and a blank",
}  # fmt: skip
_ENDS = {b"\r\n": "CR LF", b" ": "a blank", b"\x00": "a zero byte", b"\\n": "a backslash and n"}


def right(parts: Parts) -> bytes:
    """The canonical string of SPEC 5.1."""
    return b":".join((b"v1", *parts))


def joinings(facts: Facts) -> Iterator[Joining]:
    """What costs little."""
    yield from _USUAL
    if facts.hashed == EMPTY_BODY_HASH:
        yield from _WITHOUT_BODY
    path = facts.path
    yield _joining("path-in-string", partial(_with, 3, path))
    yield _joining("path-in-string", partial(_with, 4, path))


def rare_joinings(facts: Facts) -> Iterator[Joining]:
    """What fewer clients do."""
    yield from _with_path(facts)
    for prefix in (b"v1=", b"1:", b":", b"v1\n", b"v1.", b"v1::", b'"v1:', b" v1:"):
        yield _joining("version-otherwise", partial(_prefixed, prefix))
    for separator, shown in _SEPARATORS.items():
        yield _unversioned(Found("other-separators", shown), partial(_joined_without_version, separator))
    for end, shown in _ENDS.items():
        yield _joining("string-ends-otherwise", partial(_ended, end), shown)
    yield _joining("body-hash-left-out", partial(_without, 4))
    yield _joining("nonce-left-out", partial(_without, 1))
    yield _joining("timestamp-left-out", partial(_without, 0))
    yield _joining("method-left-out", partial(_without, 2))
    key = facts.api_key
    for at in range(6):
        yield _joining("key-in-string", partial(_with, at, key))
    yield _joining("key-in-string", lambda parts: key + b":" + right(parts))
    yield _joining("string-in-lower-case", lambda parts: right(parts).lower())
    yield _joining("string-in-capitals", lambda parts: right(parts).upper())
    yield _joining("string-hashed-first", lambda parts: hashlib.sha256(right(parts)).digest())
    yield _joining("string-hashed-first", lambda parts: hashlib.sha256(right(parts)).hexdigest().encode())
    yield _joining("string-hashed-first", lambda parts: b64encode(hashlib.sha256(right(parts)).digest()))
    yield _joining("string-encoded-first", lambda parts: b64encode(right(parts)))
    yield _joining("string-in-utf-16", lambda parts: right(parts).decode("latin-1").encode("utf-16-le"))
    yield _joining("string-in-utf-16", lambda parts: right(parts).decode("latin-1").encode("utf-16-be"))
    yield _joining("only-body-signed", lambda parts: parts.hashed)
    if facts.body and len(facts.body) <= BODY_BYTES_MAX:
        yield _joining("only-body-signed", lambda parts: facts.body)


def dear_joinings(facts: Facts) -> Iterator[Joining]:
    """Every order of the parts."""
    for order in permutations(range(5)):
        yield _ordered(order)
    for order in permutations(range(5)):
        ordered = _ordered(order)
        yield Joining((Found("line-feeds"), *ordered.found), partial(_in_order, order, separator=b"\n"))


def _ordered(order: tuple[int, ...]) -> Joining:
    if order == (1, 0, 2, 3, 4):
        return _joining("nonce-before-timestamp", partial(_in_order, order))
    return _joining("other-order", partial(_in_order, order), ":".join(["v1", *(_NAMES[at] for at in order)]))


def _with_path(facts: Facts) -> Iterator[Joining]:
    for path in dict.fromkeys((facts.path, facts.prefix + facts.path)):
        yield _joining("path-in-string", partial(_with, 3, path))
        yield _joining("path-in-string", partial(_with, 4, path))
        yield _joining("path-in-string", partial(_with, 2, path))
        yield _joining("path-in-string", partial(_instead_of_query, path))


def _instead_of_query(path: bytes, parts: Parts) -> bytes:
    """The path behind the method, with the query in the same part."""
    return right(parts._replace(method=parts.method + b" " + path))


def _unversioned(found: Found, join: Callable[[Parts], bytes]) -> Joining:
    return Joining((found, Found("version-missing")), join)


def _joining(name: str, join: Callable[[Parts], bytes], shown: str = "") -> Joining:
    return Joining((Found(name, shown),), join)


def _joined(separator: bytes, parts: Parts) -> bytes:
    return separator.join((b"v1", *parts))


def _joined_without_version(separator: bytes, parts: Parts) -> bytes:
    return separator.join(parts)


def _prefixed(prefix: bytes, parts: Parts) -> bytes:
    return prefix + b":".join(parts)


def _ended(end: bytes, parts: Parts) -> bytes:
    return right(parts) + end


def _in_order(order: tuple[int, ...], parts: Parts, separator: bytes = b":") -> bytes:
    return separator.join((b"v1", *(parts[at] for at in order)))


def _without(at: int, parts: Parts) -> bytes:
    return b":".join((b"v1", *parts[:at], *parts[at + 1 :]))


def _with(at: int, more: bytes, parts: Parts) -> bytes:
    return b":".join((b"v1", *parts[:at], more, *parts[at:]))


_USUAL: tuple[Joining, ...] = (
    _joining("version-missing", b":".join),
    _joining("line-feeds", partial(_joined, b"\n")),
    _unversioned(Found("line-feeds"), b"\n".join),
    _joining("no-separators", partial(_joined, b"")),
    _unversioned(Found("no-separators"), b"".join),
    _joining("string-ends-in-line-feed", lambda parts: right(parts) + b"\n"),
    _ordered((1, 0, 2, 3, 4)),
    _ordered((2, 0, 1, 3, 4)),
    _ordered((0, 1, 3, 2, 4)),
    _ordered((0, 1, 2, 4, 3)),
    _joining("query-left-out-with-colon", partial(_without, 3)),
    _joining("version-otherwise", partial(_prefixed, b"v2:")),
    _joining("version-otherwise", partial(_prefixed, b"V1:")),
    _joining("string-ends-otherwise", partial(_ended, b":"), "a colon"),
    *(_joining("other-separators", partial(_joined, separator), shown) for separator, shown in _SEPARATORS.items()),
)
_WITHOUT_BODY: tuple[Joining, ...] = (
    _joining("body-hash-left-out", partial(_without, 4)),
    _joining("body-hash-left-out", lambda parts: b":".join((b"v1", *parts[:3]))),
)
