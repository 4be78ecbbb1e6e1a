"""Mistakes in the canonical query of SPEC 5.1: its order, spelling and text, and parameters that are signed otherwise
than they are sent, such as lists, flags and absent values."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import combinations, product
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote_plus, unquote_to_bytes

from simulator.auth.autopsy.form_texts import forms
from simulator.auth.autopsy.json_texts import printed
from simulator.auth.autopsy.signing_steps import (
    FIELDS,
    PARTS_MAX,
    Facts,
    Parameters,
    by_key,
    by_key_and_value,
    dropped,
    kept,
    rows,
)
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash, key_of
from simulator.shortened import one_line, shortened

QUERY_BYTES_MAX, PARAMETERS_MAX = 4096, 20
"""The parameters of a longer query, or of a query with more parameters, are not changed."""
_ABSENT = ("None", "null", "undefined", "", "nil", "NULL", "(null)", "<nil>")
_INDEX = re.compile(r"\[\d*\]$")
_ITEMS = re.compile(r"""[^\[\]()'",|;\s][^\[\]()'",|;]*""")
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
Pairs = list[tuple[str, str]]


def _parameters(facts: Facts) -> Parameters:
    """Return the parameters, none when they are too many or too long."""
    is_short = facts.query and len(facts.query) <= QUERY_BYTES_MAX and facts.query.count(b"&") < PARAMETERS_MAX
    return facts.query.split(b"&") if is_short else []


def _constants(texts: Iterable[bytes]) -> list[Any]:
    return [lambda _, text=text: text for text in texts]


def _bare(facts: Facts) -> Shown:
    if bare := [part for part in _parameters(facts) if b"=" not in part]:
        shown = one_line(shortened(next(filter(None, bare), b""), 100)) or "an empty parameter"
        for way in (kept, lambda part: part or None, lambda part: part + b"=" if part else None):
            yield way, shown


def _not_by_key(facts: Facts) -> Iterator[Any]:
    if facts.query:
        yield list
    whole = sorted(_parameters(facts))
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


def _objects(facts: Facts) -> list[dict[str, Any]]:
    """The parameters as an object, with numbers as texts and as numbers."""
    pairs = [unquote_plus(part.decode("latin-1")) for part in _parameters(facts)]
    texts = {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}
    typed = {name: int(value) if _INTEGER.fullmatch(value) else value for name, value in texts.items()}
    return [texts, typed] if texts else []


def _jsons(facts: Facts) -> Iterator[bytes]:
    for members, separators, is_sorted in product(_objects(facts), ((",", ":"), (", ", ": ")), (False, True)):
        yield json.dumps(members, separators=separators, sort_keys=is_sorted).encode()


def _as_object(facts: Facts) -> Shown:
    made = [(text, "JSON") for text in _jsons(facts)]
    for members in _objects(facts):
        values = sorted(members.items())
        made += [*printed(members), *printed({name: [value] for name, value in values})]
    return ((lambda _, text=text: text, shown) for text, shown in made)


def _parameters_elsewhere(facts: Facts) -> Shown:
    """The parameters signed in another part than they are sent in, or in two."""
    for text in (
        (
            *dict.fromkeys((facts.query, b"&".join(by_key(facts.query.split(b"&"))))),
            *_jsons(facts),
        )
        if facts.query
        else ()
    ):
        hashed = body_hash(text)
        yield lambda parts, hashed=hashed: (b"v1", *parts[:3], b"", hashed), "the body, and sent as the query"
        yield lambda parts, hashed=hashed: (b"v1", *parts[:4], hashed), "query and body, and sent as the query"
    with suppress(ValueError, RecursionError):
        is_object = facts.body[:1] == b"{"
        for text in (forms(facts.body) if is_object else [facts.body]) if 0 < len(facts.body) < QUERY_BYTES_MAX else ():
            query = b"&".join(by_key(text.split(b"&")))
            for hashed in (EMPTY_BODY_HASH, facts.hashed) if query else ():
                yield (
                    lambda parts, hashed=hashed, query=query: (b"v1", *parts[:3], query, hashed),
                    "the query, and sent as the body",
                )


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
    if not _parameters(facts) or _is_plain(query):
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


def _once(facts: Facts) -> Iterator[Any]:
    parts = _parameters(facts)
    if len(set(map(key_of, parts))) < len(parts):
        yield lambda parts: list({key_of(part): part for part in parts}.values())
        yield lambda parts: list({key_of(part): part for part in parts[::-1]}.values())[::-1]


def _lists(facts: Facts) -> Shown:
    by_name: dict[str, Pairs] = {}
    sent = [part.decode("latin-1").partition("=") for part in _parameters(facts)]
    pairs = [(unquote_plus(name), unquote_plus(value)) for name, _, value in sent]
    for name, value in pairs:
        by_name.setdefault(_INDEX.sub("", name), []).append((name, value))
    several = {name: items for name, found in by_name.items() if (items := _items(name, found))}
    made: dict[tuple[bytes, ...], str] = {}
    for found in [several] if several else [{name: [values[0][1]]} for name, values in by_name.items()]:
        others = [part for part, (name, _) in zip(facts.query.split(b"&"), pairs, strict=True)
                  if _INDEX.sub("", name) not in found]  # fmt: skip
        for spell, (shown, write) in product(_SPELLINGS, _LISTS.items()):
            written = [pair for name, items in found.items() for pair in write(name, items)]
            texts = (f"{spell(name)}={spell(value)}".encode() for name, value in written)
            made.setdefault((*others, *texts), shown)
    yield from ((lambda _, parts=parts: parts, shown) for parts, shown in made.items())


_SPELLINGS: tuple[Callable[[str], str], ...] = (str, partial(quote, safe=""), quote_plus)


def _items(name: str, sent: Pairs) -> list[str]:
    """The items of a list; none when the parameter is no list."""
    if len(sent) > 1 or sent[0][0] != name:
        return [value for _, value in sent]
    value = sent[0][1]
    items = [item.strip() for item in _ITEMS.findall(value)]
    return items if value[:1] in ("[", "(") or len(items) > 1 else []


def _joined(begin: str, separator: str, end: str) -> Callable[[str, list[str]], Pairs]:
    return lambda name, values: [(name, begin + separator.join(values) + end)]


_LISTS: dict[str, Callable[[str, list[str]], Pairs]] = {
    "a repeated key": lambda name, values: [(name, value) for value in values],
    "a key with []": lambda name, values: [(name + "[]", value) for value in values],
    "a key with [0], [1]": lambda name, values: [(f"{name}[{at}]", value) for at, value in enumerate(values)],
    "A,B": _joined("", ",", ""), "A, B": _joined("", ", ", ""),
    "Python prints it": lambda name, values: [(name, str(values))],
    "JSON": lambda name, values: [(name, json.dumps(values, separators=(",", ":")))],
    "JSON with blanks": lambda name, values: [(name, json.dumps(values))],
    "[A, B]": _joined("[", ", ", "]"), "[A,B]": _joined("[", ",", "]"), "A B": _joined("", " ", ""),
    "A|B": _joined("", "|", ""), "A;B": _joined("", ";", ""),
    "(A, B)": lambda name, values: [(name, str(tuple(values)))], "[A B]": _joined("[", " ", "]"),
    "the word Array": lambda name, _: [(name, "Array")],
    "the name of its type": lambda name, _: [(name, "System.Collections.Generic.List`1[System.String]")],
    "the name of an array": lambda name, _: [(name, "System.String[]")],
}  # fmt: skip


_INTEGER = re.compile("0|[1-9][0-9]{0,14}")
_REWRITES = (
    (r"\d+", r"\g<0>.0"), (r"\d+", r"\g<0>.00"), (r"\d+", r'"\g<0>"'), (r"(\d+)\.00?", r"\1"),
    *((r"\d{4}-\d\d-\d\d", r"\g<0>" + time + zone) for time in (" 00:00:00", "T00:00:00", "T00:00:00.000")
      for zone in ("", "Z", "+08:00", "+00:00")),
)  # fmt: skip


def _values(facts: Facts) -> Shown:
    sent = {part.partition(b"=")[2].decode("latin-1") for part in _parameters(facts)}
    flags = (("true", "false"), ("True", "False"), ("1", "0"), ("TRUE", "FALSE"))
    for true, false in flags if any(value.lower() in ("true", "false", "1", "0") for value in sent) else ():
        words = {"true": true, "1": true, "false": false, "0": false}
        yield _changed(lambda value, words=words: words.get(value.lower(), value)), f"{true} or {false}"
    for pattern, made in _REWRITES:
        rewrite = partial(re.sub, f"^{pattern}$", made)
        if changed := min((rewrite(value) for value in sent if re.fullmatch(pattern, value)), default=""):
            yield _changed(rewrite), one_line(shortened(changed, 40))
    for absent in _ABSENT if not sent.isdisjoint(_ABSENT) else ():
        yield _changed(lambda value, absent=absent: absent if value in _ABSENT else value), absent or "nothing"


def _changed(change: Any) -> Callable[[Parameters], Parameters]:
    def of_part(part: bytes) -> bytes:
        name, equals, value = part.partition(b"=")
        return name + equals + change(value.decode("latin-1")).encode("latin-1") if equals else part

    return lambda parts: list(map(of_part, parts))


def _fewer(facts: Facts) -> Shown:
    pairs = [part for part in _parameters(facts) if b"=" in part][:PARTS_MAX]
    for count in range(1, min(4, len(pairs))):
        for left_out in combinations(pairs, count):
            yield (
                lambda parts, left_out=left_out: [part for part in parts if part not in left_out],
                " and ".join(key_of(part).decode("ascii", "backslashreplace") for part in left_out),
            )


def _absent_sent(facts: Facts) -> Shown:
    absent = [part for part in _parameters(facts) if part.partition(b"=")[2].decode("latin-1") in _ABSENT[:3]]
    if absent:
        shown = " and ".join(part.decode("ascii", "backslashreplace") for part in absent)
        yield lambda parts: [part for part in parts if part not in absent], shown


def _more(facts: Facts) -> Shown:
    has = {key_of(part).decode("latin-1") for part in facts.query.split(b"&")}
    names = [name for name in FIELDS.get(facts.path, ()) if name not in has] if facts.method in (b"GET", b"get") else []
    for count in range(1, len(names) + 1):
        for added, absent in product(combinations(names, count), _ABSENT):
            made = [f"{name}={absent}".encode() for name in added]
            yield lambda parts, made=made: [part for part in [*parts, *made] if part], " and ".join(added)


def _separated(facts: Facts) -> Iterator[Any]:
    for separator in (b"", b",", b";", b"\n") if b"&" in facts.query else ():
        yield lambda text, separator=separator: text.replace(b"&", separator)
    if facts.query:
        yield lambda text: text.translate(None, b"&=")


_RAW = "sign the text that is sent, sorted by key"
_QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
_SORT = "sort the parameters of the query by key"
_BEHIND = "sign what follows the ?, sorted by key"
_SAME = "make the query once, sign this text and send it"

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
        ("query-left-out", "the query was left out", _QUERY, lambda r: _constants([b""])),
        ("query-is-path", "the path is signed instead of the query", _QUERY, lambda r: _constants(r.paths)),
        ("query-with-path", "the path is signed together with the query", _BEHIND,
         lambda r: _behind([path + b"?" for path in r.paths], r)),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark",
         lambda r: [b"?".__add__]),
        ("query-is-url", "the whole URL is signed instead of the query", _BEHIND, _with_url),
        ("query-is-literal", "{} is signed as the query", _QUERY,
         lambda r: [(lambda _, text=text: text, shown) for text, shown in _LITERALS.items()]),
    ),
    *rows(
        "spelling",
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent", _decoded),
        ("query-encoded-otherwise", "the query is encoded otherwise than it is sent", _RAW, _encoded_otherwise),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", _RAW, _encoded_twice),
        ("query-other-charset", "the letters of the query that are not ASCII are signed in {}", _SAME,
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
    *rows(
        "parameters",
        ("repeated-key-once", "of a repeated key only one parameter is signed", "sign each of them", _once),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent otherwise", _SAME, _lists),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent otherwise", _SAME, _values),
        ("parameter-absent-sent", "sent without a value, and not signed: {}",
         "leave out parameters without a value before you send", _absent_sent),
        ("parameter-added", "added to the query after signing: {}", "sign the query when it is complete", _fewer),
        ("parameter-not-sent", "signed and not sent: {}", "leave out parameters without a value before you sign",
         _more),
    ),
    *rows(
        "query",
        ("query-in-lower-case", "the query is signed in lower case", _RAW, lambda r: [bytes.lower]),
        ("query-without-separators", "the parameters of the query are signed without & between them", _RAW,
         _separated),
    ),
    *rows(
        "pieces",
        ("parameters-elsewhere", "the parameters are signed as {}", "sign each part of the request as it is sent",
         _parameters_elsewhere),
        is_alone=True,
    ),
    *rows(
        "query",
        ("query-as-json", "the query is signed as {}", _QUERY, _as_object),
        ("query-escaped-for-html", "the query is signed with &amp; between the parameters", _RAW,
         lambda r: [lambda text: text.replace(b"&", b"&amp;")] if b"&" in r.query else []),
        is_alone=True,
    ),
    *rows(
        "parameters",
        ("query-value-cut", "a value of the query is signed up to its =, and sent as a whole", _SAME,
         lambda r: [lambda parts: [b"=".join(part.split(b"=")[:2]) for part in parts]] if r.query else []),
        is_alone=True,
    ),
)  # fmt: skip
