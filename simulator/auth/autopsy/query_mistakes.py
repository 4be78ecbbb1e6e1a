"""Mistakes in the query of SPEC 5.1: its parameters, lists, flags, absent values, order, spelling and text."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, product
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus, unquote_to_bytes

from simulator.auth.autopsy.body_mistakes import forms, printed
from simulator.auth.autopsy.signing_steps import PARTS_MAX, Facts, Shown, always, rows
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash, by_key, by_key_and_value, key_of
from simulator.short_text import one_line, shortened

_QUERY_BYTES_MAX = 8 * 1024
_ABSENT = ("None", "null", "undefined", "")
_INDEX = re.compile(r"\[\d*\]$")
_ESCAPE = re.compile(rb"%[0-9a-fA-F]{2}")

Pairs = list[tuple[str, str]]


def _parts_of(r: Facts) -> list[bytes]:
    """Return the parameters; none if the query is too long to be changed."""
    return r.query.split(b"&") if 0 < len(r.query) <= _QUERY_BYTES_MAX else []


def _pairs(r: Facts) -> Pairs:
    """Return the names and values of the parameters, decoded."""
    sent = (part.decode("latin-1").partition("=") for part in _parts_of(r))
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in sent]


_LISTS: dict[str, Callable[[str, list[str]], Pairs]] = {
    "a repeated key": lambda name, values: [(name, value) for value in values],
    "a key with []": lambda name, values: [(name + "[]", value) for value in values],
    "a key with [0], [1]": lambda name, values: [(f"{name}[{at}]", value) for at, value in enumerate(values)],
    "A,B": lambda name, values: [(name, ",".join(values))],
}
_SPELLINGS: tuple[Callable[[str], str], ...] = (str, partial(quote, safe=""))


def _lists(r: Facts) -> Shown:
    """Yield all lists of the query in each form; without a list, each parameter as a list of its own."""
    sent: dict[str, list[str]] = {}
    for name, value in _pairs(r):
        sent.setdefault(_INDEX.sub("", name), []).extend(value.split(","))
    several = {name: values for name, values in sent.items() if len(values) > 1}
    found = [several] if several else [{name: values} for name, values in sent.items()]
    names = [_INDEX.sub("", name) for name, _ in _pairs(r)]
    for lists, spell, (shown, write) in product(found, _SPELLINGS, _LISTS.items()):
        others = [part for part, name in zip(_parts_of(r), names, strict=True) if name not in lists]
        pairs = [pair for name, values in lists.items() for pair in write(name, values)]
        yield [*others, *(f"{spell(name)}={spell(value)}".encode() for name, value in pairs)], shown


_BOOLEANS = ((b"true", b"false"), (b"True", b"False"), (b"1", b"0"), (b"TRUE", b"FALSE"))


def _booleans(r: Facts) -> Shown:
    """Yield the query with its booleans written as another language writes them."""
    for true, false in _BOOLEANS:
        yes = [re.sub(b"(?i)=(?:true|1)$", b"=" + true, part) for part in _parts_of(r)]
        yield [re.sub(b"(?i)=(?:false|0)$", b"=" + false, part) for part in yes], f"{true.decode()} or {false.decode()}"


def _without(r: Facts, parts: list[bytes]) -> Shown:
    """Yield the query without one or two of these parameters."""
    for count in (1, 2):
        for left_out in combinations(parts[:PARTS_MAX], count):
            names = (key_of(part).decode("ascii", "backslashreplace") for part in left_out)
            yield [part for part in _parts_of(r) if part not in left_out], " and ".join(names)


def _more(r: Facts) -> Shown:
    parts = r.query.split(b"&") if r.query else []
    names = sorted(r.fields - {key_of(part).decode("latin-1") for part in parts}) if r.method == b"GET" else []
    for count in range(1, len(names) + 1):
        for added, absent in product(combinations(names, count), _ABSENT):
            yield [*parts, *(f"{name}={absent}".encode() for name in added)], " and ".join(added)


def _as_object(r: Facts) -> Shown:
    """Yield the parameters as an object."""
    members = dict(_pairs(r))
    for separators, is_sorted in product(((",", ":"), (", ", ": ")), (False, True)):
        yield json.dumps(members, separators=separators, sort_keys=is_sorted).encode(), "JSON"
    yield from printed(members)
    yield str({name: [value] for name, value in members.items()}).encode(), "Python prints it"
    yield str(list(members.items())).encode(), "a list of pairs"


def _elsewhere(r: Facts) -> Shown:
    """Yield strings that have the parameters in another part than they were sent in, or in two parts."""
    jsons = (text for text, shown in _as_object(r) if shown == "JSON")
    for hashed in map(body_hash, (r.query, b"&".join(by_key(_parts_of(r))), *jsons) if r.query else ()):
        yield lambda parts, hashed=hashed: (b"v1", *parts[:3], b"", hashed), "the body, and sent as the query"
        yield lambda parts, hashed=hashed: (b"v1", *parts[:4], hashed), "query and body, and sent as the query"
    sent = [r.text] if r.text[:1] != b"{" else forms(json.loads(r.text))
    for form, hashed in product(sent, (EMPTY_BODY_HASH, r.hashed)):
        end = b"&".join(by_key(form.split(b"&"))), hashed
        yield lambda parts, end=end: (b"v1", *parts[:3], *end), "the query, and sent as the body"


_LITERALS = {
    b"undefined": "undefined", b"null": "null", b"None": "None", b"{}": "an empty object",
    b"[object Object]": "[object Object]",
}  # fmt: skip


def _bare(r: Facts) -> Shown:
    if bare := [part for part in _parts_of(r) if b"=" not in part]:
        shown = one_line(shortened(next(filter(None, bare), b""), 40)) or "an empty parameter"
        for way in (bytes, lambda part: part + b"=" if part else None, lambda part: part or None):
            yield way, shown


def _sorts(key: Callable[[bytes], bytes], *, reverse: bool = False) -> list[Any]:
    order = partial(sorted, key=key, reverse=reverse)
    return [order, lambda parts: order(sorted(parts))]


def _after(r: Facts, befores: Iterable[bytes]) -> Iterator[Any]:
    for before in befores:
        yield from (before + r.query, before.__add__)


def _spelt(spell: Callable[..., str]) -> Callable[[bytes], bytes]:
    """Return a function that decodes the name and the value of a parameter and encodes them by `spell`."""

    def change(part: bytes) -> bytes:
        texts = part.replace(b"+", b" ").split(b"=", 1)
        return b"=".join(spell(unquote_to_bytes(text)).encode() for text in texts)

    return change


# How clients encode a query: the function, and the characters that it leaves besides letters, digits and -._~
_ENCODINGS = tuple(partial(encode, safe=safe) for encode, safe in (
    (quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"), (quote, ";,/?:@+$#!*'()"),
    (quote, ":"),
))  # fmt: skip


def _encoded_otherwise(r: Facts) -> Iterator[Any]:
    yield from map(_spelt, _ENCODINGS)
    for case in (bytes.lower, bytes.upper):
        yield lambda part, case=case: _ESCAPE.sub(lambda found: case(found[0]), part)
    plain = {escape: unquote_to_bytes(escape) for escape in sorted(set(_ESCAPE.findall(r.query)))[:8]}
    for old, new in ((b"~", b"%7E"), (b"+", b"%20"), (b"%20", b"+"), *plain.items()):
        yield lambda part, old=old, new=new: part.replace(old, new)


def _in_other_charset(r: Facts) -> Shown:
    if not unquote_to_bytes(r.query).isascii():
        yield _spelt(lambda text: quote(text.decode("utf-8", "replace"), "", "latin-1", "replace")), "Latin-1"
        yield _spelt(lambda text: quote(text.decode("latin-1"), "")), "UTF-8, and sent in Latin-1"


_SORT = "sort the parameters of the query by key"
_AFTER = "sign what follows the ?, sorted by key"
RAW = "sign the text that is sent, sorted by key"
QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
SAME = "build the query once, sign this text and send it"

MISTAKES = (
    *rows(
        "empty",
        ("empty-values-in", "parameters with an empty value are signed", "leave them out (assume.empty-query-values)",
         lambda r: [bytes, lambda part: part[:-1]] if r.rules.empty_values == "without" else [], 2),
        ("empty-values-out", "parameters with an empty value are not signed",
         "sign them, too (assume.empty-query-values)",
         always(lambda _: None), 1),
        ("empty-value-without-equals", "a parameter with an empty value is signed without its =",
         "keep the = of the parameter", always(lambda part: part[:-1]), 1),
    ),
    *rows(
        "query",
        ("query-left-out", "the query was left out", QUERY, lambda r: [b""] if r.query else [], 1),
        ("query-is-path", "the path is signed instead of the query", QUERY, lambda r: r.paths, 1),
        ("query-with-path", "the path is signed together with the query", _AFTER,
         lambda r: _after(r, [path + b"?" for path in r.paths]) if r.query else [], 1),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark",
         lambda r: [b"?".__add__] if r.query else [], 1),
        ("query-is-url", "the whole URL is signed instead of the query", _AFTER,
         lambda r: _after(r, [scheme + r.host + path + b"?"[: len(r.query)] for path in r.paths
                              for scheme in (b"http://", b"https://", b"")])),
        ("query-is-literal", "{} is signed as the query", QUERY, always(*_LITERALS.items())),
    ),
    *rows(
        "spelling",
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent",
         always(unquote_to_bytes, lambda part: unquote_to_bytes(part.replace(b"+", b" "))), 2),
        ("query-encoded-otherwise", "the query is signed in another encoding than it is sent", RAW,
         _encoded_otherwise, 2),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", RAW,
         always(lambda part: quote(part, safe="=").encode(), lambda part: quote(part, safe="").encode()), 1),
        ("query-other-charset", "non-ASCII letters of the query are signed in {}", SAME, _in_other_charset),
    ),
    *rows(
        "bare",
        ("parameter-without-equals", "{} has no =, so it is not part of the canonical string",
         "leave out every parameter that has no =", _bare, 2),
    ),
    *rows(
        "order",
        ("repeated-keys-by-value", "equal keys are sorted by value",
         "sort by key alone, equal keys stay in the order sent (assume.repeated-query-keys)",
         lambda r: [by_key_and_value] if r.rules.repeated_keys == "as_sent" else [], 1),
        ("repeated-keys-as-sent", "equal keys are signed in the order sent",
         "sort by key, and equal keys by value (assume.repeated-query-keys)",
         lambda r: [by_key] if r.rules.repeated_keys == "sorted" else [], 1),
        ("query-not-sorted", "the query is not sorted by key", _SORT, always(list, sorted), 1),
        ("query-as-sent", "the query is signed as it is sent",
         "sort the query by key and leave out parameters without =",
         lambda r: [r.query.split(b"&")] if any(b"=" not in part for part in r.query.split(b"&")) else [], 1),
        ("query-ignoring-case", "the query is sorted regardless of case; capitals come first",
         "sort the query by bytes", always(*_sorts(lambda part: key_of(part).lower()))),
        ("query-sorted-by-value", "the query is sorted by value", _SORT,
         always(*_sorts(lambda part: part.partition(b"=")[2]))),
        ("query-sorted-descending", "the query is sorted in descending order", "sort the query ascending by key",
         always(*_sorts(key_of, reverse=True), *_sorts(bytes, reverse=True))),
    ),
    *rows(
        "parameters",
        ("repeated-key-once", "only one parameter of a repeated key is signed", "sign each of them",
         lambda r: [list({key_of(part): part for part in parts}.values())
                    for parts in (_parts_of(r), _parts_of(r)[::-1])]),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent differently", SAME, _lists),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent differently", SAME, _booleans),
        ("parameter-absent-sent", "sent without a value, and not signed: {}",
         "leave out parameters without a value before you send",
         lambda r: _without(r, [part for part in _parts_of(r) if part.endswith((b"=None", b"=null", b"=undefined"))])),
        ("parameter-added", "added to the query after signing: {}", "sign the query when it is complete",
         lambda r: _without(r, _parts_of(r))),
        ("parameter-not-sent", "signed and not sent: {}", "leave out parameters without a value before you sign",
         _more),
        ("query-value-cut", "a value of the query is signed up to its =, and sent as a whole", SAME,
         lambda r: [[b"=".join(part.split(b"=")[:2]) for part in r.query.split(b"&")]]),
    ),
    *rows(
        "query",
        ("query-in-lower-case", "the query is signed in lower case", RAW, always(bytes.lower)),
        ("query-without-separators", "the parameters of the query are signed without & between them", RAW,
         always(*((lambda text, sign=sign: text.replace(b"&", sign)) for sign in (b"", b",", b";", b"\n")),
                lambda text: text.translate(None, b"&="))),
        ("query-as-json", "the query is signed as {}", QUERY, _as_object),
        ("query-escaped-for-html", "the query is signed with &amp; between the parameters", RAW,
         always(lambda text: text.replace(b"&", b"&amp;"))),
    ),
    *rows(
        "pieces",
        ("parameters-elsewhere", "the parameters are signed as {}", "sign each part of the request as it is sent",
         _elsewhere),
    ),
)  # fmt: skip
