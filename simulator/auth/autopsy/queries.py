"""Mistakes in the canonical query of SPEC 5.1: what of the query is signed, in which order, how it is spelt, and what
is written around it."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.autopsy import parameters
from simulator.auth.autopsy.facts import QUERY_BYTES_MAX, Facts, Step, rows
from simulator.auth.autopsy.parameters import Parameters, key_of, value_of
from simulator.shortened import one_line, shortened

PARAMETERS_MAX, CHANGED_MAX = 100, 20
"""Of more parameters none is spelt otherwise, and of more than these none is changed or left out."""
_ESCAPES_MAX = 8
_NAME_SHOWN_MAX = 100
_LITERALS = {
    b"undefined": "undefined", b"null": "null", b"None": "None", b"nil": "nil", b"{}": "an empty object",
    b"[]": "an empty list", b'""': "an empty text in quotes", b"[object Object]": "[object Object]",
}  # fmt: skip
# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = (
    (quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"), (quote, ";,/?:@+$#!*'()"),
    (quote, ":/"), (quote, ","), (quote, ":"), (quote, "@"), (quote_plus, ":/"), (quote, "[]"), (quote_plus, ","),
)  # fmt: skip
_ESCAPE = re.compile(rb"%[0-9a-fA-F]{2}")


def by_key(parts: Parameters) -> Parameters:
    """Sorted by key, equal keys as they are."""
    return sorted(parts, key=key_of)


def by_key_and_value(parts: Parameters) -> Parameters:
    """Sorted by key, equal keys by value."""
    return sorted(parts, key=lambda part: (key_of(part), part))


def is_empty(part: bytes) -> bool:
    """Whether a parameter has a `=` and nothing behind it."""
    return part.find(b"=") == len(part) - 1


def kept(part: bytes) -> bytes | None:
    """The parameter as it is."""
    return part


def dropped(_: bytes) -> bytes | None:
    """Nothing of a parameter."""
    return None


def right_ways(facts: Facts) -> tuple[list[Any], list[Any]]:
    """What the sandbox accepts of parameters with an empty value and of the order, the most literal first."""
    empty: dict[str, list[Any]] = {"either": [kept, dropped], "with": [kept], "without": [dropped]}
    order: dict[str, list[Any]] = {
        "either": [by_key, by_key_and_value],
        "as_sent": [by_key],
        "sorted": [by_key_and_value],
    }
    return empty[facts.rules.empty_values], order[facts.rules.repeated_keys]


def _parameters(facts: Facts) -> Parameters:
    is_short = facts.query and len(facts.query) <= QUERY_BYTES_MAX and facts.query.count(b"&") < PARAMETERS_MAX
    return facts.query.split(b"&") if is_short else []


def _few(facts: Facts) -> Parameters:
    """The same when they are few enough to be changed one by one."""
    parts = _parameters(facts)
    return parts if len(parts) <= CHANGED_MAX else []


def _bare_ways(facts: Facts) -> Iterator[tuple[Any, str]]:
    bare = [part for part in _parameters(facts) if b"=" not in part]
    if bare:
        shown = one_line(shortened(next(filter(None, bare), b""), _NAME_SHOWN_MAX)) or "an empty parameter"
        yield kept, shown
        yield (lambda part: part or None), shown
        yield (lambda part: part + b"=" if part else None), shown


def _not_by_key(facts: Facts) -> Iterator[Any]:
    if facts.query:
        yield list
    whole = sorted(_parameters(facts))  # in which = stands behind digits
    if whole != by_key(whole):
        yield sorted


def _sorts(key: Callable[[bytes], bytes], *, reverse: bool = False) -> list[Callable[[Parameters], Parameters]]:
    """Parameters sorted by something, those that are equal in it as they were sent, or by their text."""
    return [
        lambda parts: sorted(parts, key=key, reverse=reverse),
        lambda parts: sorted(sorted(parts), key=key, reverse=reverse),
    ]


def _as_sent(facts: Facts) -> Iterator[Any]:
    parts = facts.query.split(b"&")
    if any(b"=" not in part for part in parts) and parts != by_key(parts):
        yield lambda _: parts


def _without_last(part: bytes) -> bytes | None:
    return part[:-1]


def _before(*texts: bytes) -> list[Callable[[bytes], bytes]]:
    """Something before the right query."""
    return [partial(bytes.__add__, text) for text in texts]


def _constant(*texts: bytes) -> list[Any]:
    return [lambda _, text=text: text for text in texts]


def _with_path(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    for path in facts.paths:
        yield from _before(path + b"?")
        if facts.query:
            yield from _constant(path + b"?" + facts.query)


def _url(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    for url in (scheme + facts.host + path for path in facts.paths for scheme in (b"http://", b"https://")):
        yield from _before(url + b"?") if facts.query else _constant(url)
        yield from _constant(url + b"?" + facts.query)


def _json(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    pairs = [unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8", "replace") for part in _parameters(facts)]
    members = {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}
    for separators in ((",", ":"), (", ", ": ")) if members else ():
        for is_sorted in (False, True):
            yield from _constant(json.dumps(members, separators=separators, sort_keys=is_sorted).encode())


def _separated(facts: Facts) -> Iterator[Any]:
    for separator in (b"", b",", b";", b"\n", b"&amp;") if b"&" in facts.query else ():
        yield lambda text, separator=separator: text.replace(b"&", separator)
    if facts.query:
        yield lambda text: text.replace(b"&", b"").replace(b"=", b"")


def _is_plain(query: bytes) -> bool:
    """Whether nothing can be encoded in it."""
    return query.replace(b"&", b"").replace(b"=", b"").replace(b"_", b"").isalnum()


def _decoded(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    if b"%" in facts.query or b"+" in facts.query:
        yield unquote_to_bytes
        yield lambda part: unquote_to_bytes(part.replace(b"+", b" "))


def _encoded_twice(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    if not _is_plain(facts.query):
        yield lambda part: quote(part, safe="=").encode()
        yield lambda part: quote(part, safe="").encode()


def _spelt(spell: Any, part: bytes) -> bytes:
    """A parameter decoded and written again, its name and its value each."""
    name, equals, value = part.replace(b"+", b" ").partition(b"=")
    return b"".join((spell(unquote_to_bytes(name)), equals, spell(unquote_to_bytes(value))))


def _encode(how: Callable[..., str], safe: str, text: bytes) -> bytes:
    return how(text, safe=safe).encode()


def _replace(old: bytes, new: bytes, part: bytes) -> bytes:
    return part.replace(old, new)


def _encoded_otherwise(facts: Facts) -> Iterator[Callable[[bytes], bytes]]:
    query = facts.query
    if not _parameters(facts) or _is_plain(query):
        return
    if b"%" in query:
        yield lambda part: _ESCAPE.sub(lambda found: found[0].lower(), part)
        yield lambda part: _ESCAPE.sub(lambda found: found[0].upper(), part)
    for how, safe in _ENCODINGS:
        yield partial(_spelt, partial(_encode, how, safe))
    for old, new in ((b"~", b"%7E"), (b"+", b"%20"), (b"%20", b"+")):
        if old in query:
            yield partial(_replace, old, new)
    for escape in sorted(set(_ESCAPE.findall(query)))[:_ESCAPES_MAX]:
        yield partial(_replace, escape, unquote_to_bytes(escape))


def _in_other_charset(facts: Facts) -> Iterator[tuple[Any, str]]:
    if unquote_to_bytes(facts.query).isascii():
        return
    for name, recode in (
        ("Latin-1", lambda text: text.decode("utf-8", "replace").encode("latin-1", "replace")),
        ("UTF-8, and sent in Latin-1", lambda text: text.decode("latin-1").encode()),
        ("NFD", lambda text: normalize("NFD", text.decode("utf-8", "replace")).encode()),
        ("NFC", lambda text: normalize("NFC", text.decode("utf-8", "replace")).encode()),
    ):
        for encode in (partial(_encode, quote, ""), partial(_encode, quote_plus, ""), bytes):
            yield partial(_spelt, lambda text, recode=recode, encode=encode: encode(recode(text))), name


_RAW = "sign the text that is sent, sorted by key"
_QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
_SORT = "sort the parameters of the query by key"
_SAME = "make the query once, sign this text and send it"

MISTAKES = (
    *rows(
        Step.EMPTY,
        ("empty-values-in", "parameters with an empty value are signed", "leave them out (assume.empty-query-values)",
         lambda r: [kept, _without_last] if r.rules.empty_values == "without" else []),
        ("empty-values-out", "parameters with an empty value are not signed",
         "sign them, too (assume.empty-query-values)", lambda r: [dropped] if r.rules.empty_values == "with" else []),
        ("empty-value-without-equals", "a parameter with an empty value is signed without its =",
         "keep the = of the parameter", lambda r: [_without_last]),
    ),
    *rows(
        Step.QUERY,
        ("query-left-out", "the query was left out", _QUERY, lambda r: _constant(b"")),
        ("query-is-path", "the path is signed instead of the query", _QUERY, lambda r: _constant(*r.paths)),
        ("query-with-path", "the path is signed together with the query", "sign what follows the ?, sorted by key",
         _with_path),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark",
         lambda r: _before(b"?")),
        ("query-is-url", "the whole URL is signed instead of the query", "sign what follows the ?, sorted by key",
         _url),
        ("query-is-literal", "{} is signed as the query", _QUERY,
         lambda r: [(lambda _, text=text: text, shown) for text, shown in _LITERALS.items()]),
        ("query-as-json", "the parameters of the query are signed as JSON", _QUERY, _json),
    ),
    *rows(
        Step.SPELLING,
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent", _decoded),
        ("query-encoded-otherwise", "the query is encoded otherwise than it is sent", _RAW, _encoded_otherwise),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", _RAW, _encoded_twice),
        ("query-other-charset", "the letters of the query that are not ASCII are signed in {}", _SAME,
         _in_other_charset),
    ),
    *rows(
        Step.ORDER,
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
         lambda r: _sorts(value_of)),
        ("query-sorted-descending", "the query is sorted in descending order", "sort the query ascending by key",
         lambda r: [lambda parts: by_key(parts)[::-1], *_sorts(key_of, reverse=True), *_sorts(bytes, reverse=True)]),
    ),
    *rows(
        Step.BARE,
        ("parameter-without-equals", "{} has no =, so it is not part of the canonical string",
         "leave out every parameter that has no =", _bare_ways),
    ),
    *rows(
        Step.PARAMETERS,
        ("repeated-key-once", "of a repeated key only one parameter is signed", "sign each of them",
         lambda r: parameters.once(_few(r))),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent otherwise", _SAME,
         lambda r: parameters.lists(_few(r))),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent otherwise", _SAME,
         lambda r: parameters.values(_few(r))),
        ("parameter-added", "{} was added to the query after signing", "sign the query when it is complete",
         lambda r: parameters.fewer(_few(r))),
        ("parameter-not-sent", "{} was signed and not sent", "leave out parameters without a value before you sign",
         lambda r: parameters.more(r, 1), lambda r: parameters.more(r, 2)),
    ),
    *rows(
        Step.QUERY,
        ("query-in-lower-case", "the query is signed in lower case", _RAW, lambda r: [bytes.lower]),
        ("query-without-separators", "the parameters of the query are signed without & between them", _RAW,
         _separated),
    ),
)  # fmt: skip
