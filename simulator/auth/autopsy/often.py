"""What clients sign most often in place of the right string, one mistake each: what a refusal can wait for.

It is made at once and without what costs time: a date, a long list, a form of the query that has to be worked out.
"""

from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache

from simulator.auth.autopsy.facts import Facts, Parts, Variant, variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.autopsy.reprinted import reprinted
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash

JSON_BYTES_MAX = 1024
"""A longer body is not printed otherwise, since the event loop waits for it."""

Text = tuple[tuple[Found, ...], bytes]
"""The mistakes that make a string, and the string."""

_HASHES_OF_EMPTY = (body_hash(b"{}"), body_hash(b"null"))


@lru_cache(maxsize=256)
def keys(secret: bytes) -> tuple[Variant, ...]:
    """What a secret is used as."""
    text = b64encode(secret)
    made = (
        variant("secret-not-decoded", text),
        variant("secret-with-blanks", text + b"\n"),
        variant("secret-hexadecimal", secret.hex().encode()),
        variant("secret-as-characters", secret.decode("utf-8", "replace").encode()),
    )
    return tuple(one for one in made if one.value != secret)


def body_hashes(facts: Facts, digest: bytes) -> Iterator[Variant]:
    """What stands for the body hash; `digest` is the right one, not encoded."""
    hexadecimal, body = digest.hex().encode(), facts.body
    yield variant("body-hash-hexadecimal", hexadecimal)
    yield variant("body-hash-missing", b"")
    if not body:
        for other in _HASHES_OF_EMPTY:
            yield variant("body-hash-not-empty", other)
        return
    yield variant("body-hash-of-nothing", EMPTY_BODY_HASH)
    yield variant("body-hash-base64-of-hex", b64encode(hexadecimal))
    if len(body) > JSON_BYTES_MAX:
        return
    bare = body.rstrip(b"\r\n")
    yield variant("body-line-end", body_hash(bare if bare != body else body + b"\n"))
    yield variant("body-not-hashed", body)
    for name, text in reprinted(body):
        if text != body:
            yield variant(name, body_hash(text))


def strings(right: Parts, path: bytes) -> list[Text]:
    """What the parts are put together to, and other values of the short ones."""
    timestamp, nonce, method, query, hashed = right
    pieces = (b"v1", *right)
    made: list[Text] = [
        (_METHOD_SMALL, b":".join((b"v1", timestamp, nonce, method.lower(), query, hashed))),
        (_NO_VERSION, b":".join(right)),
        (_LINE_FEEDS, b"\n".join(pieces)),
        (_LINE_FEEDS_NO_VERSION, b"\n".join(right)),
        (_DOTS, b".".join(pieces)),
        (_BARS, b"|".join(pieces)),
        (_ENDS_IN_LINE_FEED, b":".join(pieces) + b"\n"),
        (_NONCE_FIRST, b":".join((b"v1", nonce, timestamp, method, query, hashed))),
        (_PATH, b":".join((b"v1", timestamp, nonce, method, path, query, hashed))),
        (_METHOD_OTHER, b":".join((b"v1", timestamp, nonce, b"GET" if method == b"POST" else b"POST", query, hashed))),
        (_MILLISECONDS, b":".join((b"v1", timestamp + b"000", nonce, method, query, hashed))),
    ]
    for found, value in ((_NONCE_SMALL, nonce.lower()), (_NO_DASHES, nonce.replace(b"-", b""))):
        if value != nonce:
            made.append((found, b":".join((b"v1", timestamp, value, method, query, hashed))))
    if not query:
        made.append((_NO_QUERY, b":".join((b"v1", timestamp, nonce, method, hashed))))
    if hashed == EMPTY_BODY_HASH:
        made.append((_NO_BODY_HASH, b":".join((b"v1", timestamp, nonce, method, query))))
        made.append((_NO_BODY_HASH, b":".join((b"v1", timestamp, nonce, method))))
    return made


def _found(*names: str, shown: str = "") -> tuple[Found, ...]:
    return tuple(Found(name, shown) for name in names)


_METHOD_SMALL, _METHOD_OTHER = _found("method-in-lower-case"), _found("method-another")
_NO_VERSION = _found("version-missing")
_LINE_FEEDS, _LINE_FEEDS_NO_VERSION = _found("line-feeds"), _found("line-feeds", "version-missing")
_DOTS = _found("other-separators", shown="dots")
_BARS = _found("other-separators", shown="vertical bars")
_ENDS_IN_LINE_FEED, _NONCE_FIRST = _found("string-ends-in-line-feed"), _found("nonce-before-timestamp")
_PATH = _found("path-in-string")
_NO_QUERY, _NO_BODY_HASH = _found("query-left-out-with-colon"), _found("body-hash-left-out")
_MILLISECONDS = _found("timestamp-in-milliseconds")
_NONCE_SMALL, _NO_DASHES = _found("nonce-in-lower-case"), _found("nonce-without-dashes")
