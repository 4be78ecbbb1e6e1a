"""Mistakes in the canonical query of SPEC 5.1: its order, spelling and text."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.autopsy.parameter_mistakes import QUERY, RAW, SAME, parts_of
from simulator.auth.autopsy.signing_steps import Facts, Shown, always, by_key, by_key_and_value, dropped, kept, rows
from simulator.auth.canonical import key_of
from simulator.shortened import one_line, shortened

_LITERALS = {
    b"undefined": "undefined", b"null": "null", b"None": "None", b"nil": "nil", b"{}": "an empty object",
    b"[]": "an empty list", b'""': "an empty text in quotes", b"[object Object]": "[object Object]", b"b''": "b''",
}  # fmt: skip
# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = (
    (quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"), (quote, ";,/?:@+$#!*'()"),
    (quote, ":/"), (quote, ","), (quote, ":"), (quote, "@"), (quote_plus, ":/"), (quote, "[]"), (quote_plus, ","),
)  # fmt: skip
_ESCAPE = re.compile(rb"%[0-9a-fA-F]{2}")


def _bare(r: Facts) -> Shown:
    if bare := [part for part in parts_of(r) if b"=" not in part]:
        shown = one_line(shortened(next(filter(None, bare), b""))) or "an empty parameter"
        for way in (kept, lambda part: part or None, lambda part: part + b"=" if part else None):
            yield way, shown


def _not_by_key(r: Facts) -> Iterator[Any]:
    if r.query:
        yield list
    whole = sorted(parts_of(r))
    if whole != by_key(whole):
        yield sorted


def _as_sent(r: Facts) -> Iterator[list[bytes]]:
    parts = r.query.split(b"&")
    if any(b"=" not in part for part in parts) and parts != by_key(parts):
        yield parts


def _sorts(key: Callable[[bytes], bytes], *, reverse: bool = False) -> list[Any]:
    order = partial(sorted, key=key, reverse=reverse)
    return [order, lambda parts: order(sorted(parts))]


def _after(r: Facts, befores: Iterable[bytes]) -> Iterator[Any]:
    for before in befores:
        yield from (before.__add__, before + r.query)


def _urls(r: Facts) -> list[bytes]:
    return [scheme + r.host + path for path in r.paths for scheme in (b"http://", b"https://")]


def _decoded(r: Facts) -> Iterator[Any]:
    if b"%" in r.query or b"+" in r.query:
        yield unquote_to_bytes
        yield lambda part: unquote_to_bytes(part.replace(b"+", b" "))


def _is_plain(query: bytes) -> bool:
    """Return whether nothing can be encoded in it."""
    return query.translate(None, b"&=_").isalnum() or not query


def _spelt(spell: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Decode the name and the value of a parameter and write them again."""

    def change(part: bytes) -> bytes:
        name, equals, value = part.replace(b"+", b" ").partition(b"=")
        return b"".join((spell(unquote_to_bytes(name)), equals, spell(unquote_to_bytes(value))))

    return change


def _encoded_otherwise(r: Facts) -> Iterator[Any]:
    if not parts_of(r) or _is_plain(r.query):
        return
    for case in (bytes.lower, bytes.upper) if b"%" in r.query else ():
        yield lambda part, case=case: _ESCAPE.sub(lambda found: case(found[0]), part)
    for encode, safe in _ENCODINGS:
        yield _spelt(lambda text, encode=encode, safe=safe: encode(text, safe=safe).encode())  # type: ignore[misc]
    plain = {escape: unquote_to_bytes(escape) for escape in sorted(set(_ESCAPE.findall(r.query)))[:8]}
    for old, new in ((b"~", b"%7E"), (b"+", b"%20"), (b"%20", b"+"), *plain.items()):
        if old in r.query:
            yield lambda part, old=old, new=new: part.replace(old, new)


_CHARSETS: dict[str, Callable[[bytes], bytes]] = {
    "Latin-1": lambda text: text.decode("utf-8", "replace").encode("latin-1", "replace"),
    "UTF-8, and sent in Latin-1": lambda text: text.decode("latin-1").encode(),
    "NFD": lambda text: normalize("NFD", text.decode("utf-8", "replace")).encode(),
    "NFC": lambda text: normalize("NFC", text.decode("utf-8", "replace")).encode(),
}


def _in_other_charset(r: Facts) -> Shown:
    for name, recode in _CHARSETS.items() if not unquote_to_bytes(r.query).isascii() else ():
        for encode in (lambda text: quote(text, safe="").encode(), lambda text: quote_plus(text).encode(), bytes):
            yield _spelt(lambda text, recode=recode, encode=encode: encode(recode(text))), name  # type: ignore[misc]


_SORT = "sort the parameters of the query by key"
_AFTER = "sign what follows the ?, sorted by key"

MISTAKES = (
    *rows(
        "empty",
        ("empty-values-in", "parameters with an empty value are signed", "leave them out (assume.empty-query-values)",
         lambda r: [kept, lambda part: part[:-1]] if r.rules.empty_values == "without" else []),
        ("empty-values-out", "parameters with an empty value are not signed",
         "sign them, too (assume.empty-query-values)", lambda r: [dropped] if r.rules.empty_values == "with" else []),
        ("empty-value-without-equals", "a parameter with an empty value is signed without its =",
         "keep the = of the parameter", always(lambda part: part[:-1])),
    ),
    *rows(
        "query",
        ("query-left-out", "the query was left out", QUERY, always(b"")),
        ("query-is-path", "the path is signed instead of the query", QUERY, lambda r: r.paths),
        ("query-with-path", "the path is signed together with the query", _AFTER,
         lambda r: _after(r, [path + b"?" for path in r.paths])),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark",
         always(b"?".__add__)),
        ("query-is-url", "the whole URL is signed instead of the query", _AFTER,
         lambda r: _after(r, [url + b"?" for url in _urls(r)]) if r.query else _urls(r)),
        ("query-is-literal", "{} is signed as the query", QUERY, always(*_LITERALS.items())),
    ),
    *rows(
        "spelling",
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent", _decoded),
        ("query-encoded-otherwise", "the query is signed in another encoding than it is sent", RAW, _encoded_otherwise),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", RAW,
         lambda r: [] if _is_plain(r.query) else [lambda part: quote(part, safe="=").encode(),
                                                  lambda part: quote(part, safe="").encode()]),
        ("query-other-charset", "non-ASCII letters of the query are signed in {}", SAME,
         _in_other_charset),
    ),
    *rows(
        "order",
        ("repeated-keys-by-value", "equal keys are sorted by value",
         "sort by key alone, equal keys stay in the order sent (assume.repeated-query-keys)", always(by_key_and_value)),
        ("repeated-keys-as-sent", "equal keys are signed in the order sent",
         "sort by key, and equal keys by value (assume.repeated-query-keys)", always(by_key)),
        ("query-not-sorted", "the query is not sorted by key", _SORT, _not_by_key),
        ("query-as-sent", "the query is signed as it is sent",
         "sort the query by key and leave out parameters without =", _as_sent),
        ("query-ignoring-case", "the query is sorted regardless of case; capitals come first",
         "sort the query by bytes", always(*_sorts(lambda part: key_of(part).lower()))),
        ("query-sorted-by-value", "the query is sorted by value", _SORT,
         always(*_sorts(lambda part: part.partition(b"=")[2]))),
        ("query-sorted-descending", "the query is sorted in descending order", "sort the query ascending by key",
         always(lambda parts: by_key(parts)[::-1], *_sorts(key_of, reverse=True), *_sorts(bytes, reverse=True))),
    ),
    *rows(
        "bare",
        ("parameter-without-equals", "{} has no =, so it is not part of the canonical string",
         "leave out every parameter that has no =", _bare),
    ),
)  # fmt: skip
