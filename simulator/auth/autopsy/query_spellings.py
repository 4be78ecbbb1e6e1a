"""How clients spell the parameters of a query otherwise than they are sent: decoded, encoded again, or differently."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from urllib.parse import quote, quote_plus, unquote_to_bytes

_ESCAPES_MAX = 8

Spelling = tuple[str, Callable[[bytes], bytes]]
"""The mistake, and what it makes of one parameter."""

# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = ((quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"))
_QUICK_ENCODINGS = ((quote, ""), (quote_plus, ""), (quote, "!*'()"))
# What few clients leave as it is, of which encodeURI leaves the most.
_RARE_ENCODINGS = (
    (quote, ";,/?:@+$#!*'()"),
    (quote, ":/"),
    (quote, ","),
    (quote, ":"),
    (quote, "@"),
    (quote_plus, ":/"),
)
_ESCAPE = re.compile(rb"%[0-9a-fA-F]{2}")
_OTHERWISE = "query-encoded-otherwise"


def spellings(query: bytes) -> Iterator[Spelling]:
    """Decoded, with escapes in the other case, and encoded once more."""
    if b"%" in query or b"+" in query:
        yield "query-decoded", unquote_to_bytes
        yield "query-decoded", lambda part: unquote_to_bytes(part.replace(b"+", b" "))
    if b"%" in query:
        yield _OTHERWISE, lambda part: _ESCAPE.sub(lambda found: found[0].lower(), part)
        yield _OTHERWISE, lambda part: _ESCAPE.sub(lambda found: found[0].upper(), part)
    if not is_plain(query):
        yield "query-encoded-twice", lambda part: quote(part, safe="=").encode()


def encodings(query: bytes) -> Iterator[Spelling]:
    """As the usual libraries encode what was decoded."""
    yield from _encoded(_ENCODINGS[:1] if is_plain(query) else _ENCODINGS)


def quick_encodings(query: bytes) -> Iterator[Spelling]:
    """As those encode that most clients use."""
    yield from _encoded(() if is_plain(query) else _QUICK_ENCODINGS)


def rare_encodings(query: bytes) -> Iterator[Spelling]:
    """As fewer do."""
    yield from _encoded(() if is_plain(query) else _RARE_ENCODINGS)


def partial_spellings(query: bytes) -> Iterator[Spelling]:
    """Some characters only."""
    for old, new in ((b"~", b"%7E"), (b"+", b"%20"), (b"%20", b"+")):
        if old in query:
            yield _OTHERWISE, partial(_replaced, old, new)
    for escape in sorted(set(_ESCAPE.findall(query)))[:_ESCAPES_MAX]:
        yield _OTHERWISE, partial(_replaced, escape, unquote_to_bytes(escape))


def _replaced(old: bytes, new: bytes, part: bytes) -> bytes:
    return part.replace(old, new)


def is_plain(query: bytes) -> bool:
    """Whether nothing can be encoded in it."""
    return query.replace(b"&", b"").replace(b"=", b"").replace(b"_", b"").isalnum()


def _encoded(ways: Iterable[tuple[Callable[..., str], str]]) -> Iterator[Spelling]:
    for encode, safe in ways:
        yield _OTHERWISE, partial(_encoded_part, encode, safe)


def _encoded_part(encode: Callable[..., str], safe: str, part: bytes) -> bytes:
    name, equals, value = part.replace(b"+", b" ").partition(b"=")
    return b"".join((_encoded_text(encode, safe, name), equals, _encoded_text(encode, safe, value)))


def _encoded_text(encode: Callable[..., str], safe: str, text: bytes) -> bytes:
    return encode(unquote_to_bytes(text), safe=safe).encode()
