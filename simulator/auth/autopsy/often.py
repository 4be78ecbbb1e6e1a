"""What clients sign most often in place of the right string, one mistake each: what a refusal can wait for.

It is made at once and without what costs time: a date, a long list, a form of the query that has to be worked out.
"""

from base64 import b64encode
from binascii import a2b_base64, b2a_base64
from functools import lru_cache

from simulator.auth.autopsy.facts import Parts, Variant, variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.autopsy.reprinted import reprinted
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash

JSON_BYTES_MAX = 1024
"""A longer body is not printed otherwise, since the event loop waits for it."""

Text = tuple[tuple[Found, ...], bytes]
"""The mistakes that make a string, and the string."""


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


def body_hashes(body: bytes, hashed: bytes) -> list[Text]:
    """What stands for the body hash `hashed`."""
    hexadecimal = a2b_base64(hashed).hex().encode()
    made: list[Text] = [(_HEXADECIMAL, hexadecimal), (_NO_HASH, b"")]
    if not body:
        return made + _OF_OTHER_THAN_NOTHING
    made += (_OF_NOTHING, EMPTY_BODY_HASH), (_BASE64_OF_HEX, b2a_base64(hexadecimal, newline=False))
    if len(body) <= JSON_BYTES_MAX:
        bare = body.rstrip(b"\r\n")
        made += (_LINE_END, body_hash(bare if bare != body else body + b"\n")), (_NOT_HASHED, body)
        made += [(_REPRINTED[name], body_hash(text)) for name, text in reprinted(body) if text != body]
    return made


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


_HEXADECIMAL, _NO_HASH = _found("body-hash-hexadecimal"), _found("body-hash-missing")
_OF_NOTHING, _BASE64_OF_HEX = _found("body-hash-of-nothing"), _found("body-hash-base64-of-hex")
_LINE_END, _NOT_HASHED = _found("body-line-end"), _found("body-not-hashed")
_REPRINTED = {name: _found(name) for name in ("body-serialised-again", "body-numbers-rewritten")}
_OF_OTHER_THAN_NOTHING: list[Text] = [(_found("body-hash-not-empty"), body_hash(text)) for text in (b"{}", b"null")]
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
