"""Mistakes in the canonical query of SPEC 5.1: its order, spelling and text."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.autopsy.signing_steps import (
    Facts,
    Parameters,
    by_key,
    by_key_and_value,
    dropped,
    kept,
    rows,
)
from simulator.auth.canonical import key_of
from simulator.shortened import one_line, shortened

QUERY_BYTES_MAX, PARAMETERS_MAX = 4096, 20
"""The parameters of a longer query, or of a query with more parameters, are not changed."""
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

Shown = Iterator[tuple[Any, str]]


def parameters_of(facts: Facts) -> Parameters:
    """Return the parameters, none when they are too many or too long."""
    is_short = facts.query and len(facts.query) <= QUERY_BYTES_MAX and facts.query.count(b"&") < PARAMETERS_MAX
    return facts.query.split(b"&") if is_short else []


def _constants(texts: Iterable[bytes]) -> list[Any]:
    return [lambda _, text=text: text for text in texts]


def _bare(facts: Facts) -> Shown:
    if bare := [part for part in parameters_of(facts) if b"=" not in part]:
        shown = one_line(shortened(next(filter(None, bare), b""), 100)) or "an empty parameter"
        for way in (kept, lambda part: part or None, lambda part: part + b"=" if part else None):
            yield way, shown


def _not_by_key(facts: Facts) -> Iterator[Any]:
    if facts.query:
        yield list
    whole = sorted(parameters_of(facts))
    if whole != by_key(whole):
        yield sorted


def _as_sent(facts: Facts) -> Iterator[Any]:
    parts = facts.query.split(b"&")
    if any(b"=" not in part for part in parts) and parts != by_key(parts):
        yield lambda _: parts


def _sorts(key: Callable[[bytes], bytes], *, reverse: bool = False) -> list[Callable[[Parameters], Parameters]]:
    order = partial(sorted, key=key, reverse=reverse)
    return [order, lambda parts: order(sorted(parts))]


def _behind(befores: Iterable[bytes], facts: Facts) -> list[Any]:
    sent = facts.query
    return [way for text in befores for way in (text.__add__, *(_constants([text + sent]) if sent else []))]


def _with_url(facts: Facts) -> list[Any]:
    urls = [scheme + facts.host + path for path in facts.paths for scheme in (b"http://", b"https://")]
    return _behind([url + b"?" for url in urls], facts) if facts.query else _constants(urls)


def _decoded(facts: Facts) -> Iterator[Any]:
    if b"%" in facts.query or b"+" in facts.query:
        yield unquote_to_bytes
        yield lambda part: unquote_to_bytes(part.replace(b"+", b" "))


def _encoded_twice(facts: Facts) -> Iterator[Any]:
    for safe in ("=", "") if not _is_plain(facts.query) else ():
        yield lambda part, safe=safe: quote(part, safe=safe).encode()


def _is_plain(query: bytes) -> bool:
    """Whether nothing can be encoded in it."""
    return query.translate(None, b"&=_").isalnum() or not query


def _spelt(spell: Any) -> Callable[[bytes], bytes]:
    """Decode the name and the value of a parameter and write them again."""

    def change(part: bytes) -> bytes:
        name, equals, value = part.replace(b"+", b" ").partition(b"=")
        return b"".join((spell(unquote_to_bytes(name)), equals, spell(unquote_to_bytes(value))))

    return change


def _encoded_otherwise(facts: Facts) -> Iterator[Any]:
    query = facts.query
    if not parameters_of(facts) or _is_plain(query):
        return
    for case in (bytes.lower, bytes.upper) if b"%" in query else ():
        yield lambda part, case=case: _ESCAPE.sub(lambda found: case(found[0]), part)
    for encode, safe in _ENCODINGS:
        yield _spelt(lambda text, encode=encode, safe=safe: encode(text, safe=safe).encode())
    plain = {escape: unquote_to_bytes(escape) for escape in sorted(set(_ESCAPE.findall(query)))[:8]}
    for old, new in ((b"~", b"%7E"), (b"+", b"%20"), (b"%20", b"+"), *plain.items()):
        if old in query:
            yield lambda part, old=old, new=new: part.replace(old, new)


_CHARSETS: dict[str, Callable[[bytes], bytes]] = {
    "Latin-1": lambda text: text.decode("utf-8", "replace").encode("latin-1", "replace"),
    "UTF-8, and sent in Latin-1": lambda text: text.decode("latin-1").encode(),
    "NFD": lambda text: normalize("NFD", text.decode("utf-8", "replace")).encode(),
    "NFC": lambda text: normalize("NFC", text.decode("utf-8", "replace")).encode(),
}


def _in_other_charset(facts: Facts) -> Shown:
    for name, recode in _CHARSETS.items() if not unquote_to_bytes(facts.query).isascii() else ():
        for encode in (lambda text: quote(text, safe="").encode(), lambda text: quote_plus(text).encode(), bytes):
            yield _spelt(lambda text, recode=recode, encode=encode: encode(recode(text))), name


RAW = "sign the text that is sent, sorted by key"
QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
_SORT = "sort the parameters of the query by key"
_BEHIND = "sign what follows the ?, sorted by key"
SAME = "make the query once, sign this text and send it"

MISTAKES = (
    *rows(
        "empty",
        ("empty-values-in", "parameters with an empty value are signed", "leave them out (assume.empty-query-values)",
         lambda r: [kept, lambda part: part[:-1]] if r.rules.empty_values == "without" else []),
        ("empty-values-out", "parameters with an empty value are not signed",
         "sign them, too (assume.empty-query-values)",
         lambda r: [dropped] if r.rules.empty_values == "with" else []),
        ("empty-value-without-equals", "a parameter with an empty value is signed without its =",
         "keep the = of the parameter", lambda r: [lambda part: part[:-1]]),
    ),
    *rows(
        "query",
        ("query-left-out", "the query was left out", QUERY, lambda r: _constants([b""])),
        ("query-is-path", "the path is signed instead of the query", QUERY, lambda r: _constants(r.paths)),
        ("query-with-path", "the path is signed together with the query", _BEHIND,
         lambda r: _behind([path + b"?" for path in r.paths], r)),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark",
         lambda r: [b"?".__add__]),
        ("query-is-url", "the whole URL is signed instead of the query", _BEHIND, _with_url),
        ("query-is-literal", "{} is signed as the query", QUERY,
         lambda r: [(lambda _, text=text: text, shown) for text, shown in _LITERALS.items()]),
    ),
    *rows(
        "spelling",
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent", _decoded),
        ("query-encoded-otherwise", "the query is encoded otherwise than it is sent", RAW, _encoded_otherwise),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", RAW, _encoded_twice),
        ("query-other-charset", "the letters of the query that are not ASCII are signed in {}", SAME,
         _in_other_charset),
    ),
    *rows(
        "order",
        ("repeated-keys-by-value", "equal keys are sorted by value",
         "sort by key alone, equal keys stay in the order sent (assume.repeated-query-keys)",
         lambda r: [by_key_and_value]),
        ("repeated-keys-as-sent", "equal keys are signed in the order sent",
         "sort by key, and equal keys by value (assume.repeated-query-keys)", lambda r: [by_key]),
        ("query-not-sorted", "the query is not sorted by key", _SORT, _not_by_key),
        ("query-as-sent", "the query is signed as it is sent",
         "sort the query by key and leave out parameters without =", _as_sent),
        ("query-ignoring-case", "the query is sorted regardless of case; capitals come first",
         "sort the query by bytes", lambda r: _sorts(lambda part: key_of(part).lower())),
        ("query-sorted-by-value", "the query is sorted by value", _SORT,
         lambda r: _sorts(lambda part: part.partition(b"=")[2])),
        ("query-sorted-descending", "the query is sorted in descending order", "sort the query ascending by key",
         lambda r: [lambda parts: by_key(parts)[::-1], *_sorts(key_of, reverse=True), *_sorts(bytes, reverse=True)]),
    ),
    *rows(
        "bare",
        ("parameter-without-equals", "{} has no =, so it is not part of the canonical string",
         "leave out every parameter that has no =", _bare),
    ),
)  # fmt: skip
