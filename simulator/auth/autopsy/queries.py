"""Mistakes in the canonical query of SPEC 5.1, as the text that a client signs in its place."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.autopsy.facts import QUERY_BYTES_MAX, Facts, Variant, both, variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import QueryRules, canonical_queries, canonical_query
from simulator.shortened import one_line, shortened

_NAME_SHOWN_MAX = 100
_ESCAPES_MAX = 8

# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = ((quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"))
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
_LITERALS = {
    b"undefined": "undefined", b"null": "null", b"None": "None", b"nil": "nil", b"{}": "an empty object",
    b"[]": "an empty list", b'""': "an empty text in quotes", b"[object Object]": "[object Object]",
}  # fmt: skip

_ORDERS = {"as_sent": "repeated-keys-as-sent", "sorted": "repeated-keys-by-value"}
_EMPTY_VALUES = {"with": "empty-values-in", "without": "empty-values-out"}
_OF_CHOICES = frozenset({*_ORDERS.values(), *_EMPTY_VALUES.values()})
# In which nothing stands of what was sent.
_NOT_OF_SENT = frozenset({"query-left-out", "query-is-path", "query-is-literal", "repeated-key-once"})


def queries(facts: Facts) -> Iterator[Variant]:
    """What costs little; of a long query only some."""
    yield from _as_chosen(facts, _queries)


def _as_chosen(facts: Facts, made: Callable[[Facts], Iterator[Variant]]) -> Iterator[Variant]:
    """Mistakes in a query without its empty values, where those may be left out; then in the whole, with the choices
    of this sandbox that it breaks as well, so that what is told mends it."""
    query, rules = facts.query, facts.rules
    lean = _joined(part for part in query.split(b"&") if not part.endswith(b"=") or part.find(b"=") != len(part) - 1)
    if lean != query and rules.empty_values != "with" and len(query) <= QUERY_BYTES_MAX:
        accepted = canonical_queries(query, rules)
        yield from (one for one in made(replace(facts, query=lean)) if one.value not in accepted)
    broken = _broken(rules, "as_sent", "with")
    if not broken or len(query) > QUERY_BYTES_MAX or canonical_query(query) in canonical_queries(query, rules):
        yield from made(facts)
        return
    broken = tuple(one for one in broken if _is_broken_by(query, one))
    for one in made(facts):
        is_of_sent = one.found[0].id not in _NOT_OF_SENT and not any(found.id in _OF_CHOICES for found in one.found)
        yield one._replace(found=(*one.found, *broken)) if is_of_sent else one


def _is_broken_by(query: bytes, choice: Found) -> bool:
    """Whether a query shows it when everything else is right."""
    only = QueryRules("sorted") if choice.id == "repeated-keys-as-sent" else QueryRules(empty_values="without")
    return canonical_query(query) not in canonical_queries(query, only)


def _queries(facts: Facts) -> Iterator[Variant]:
    query, path = facts.query, facts.path
    is_short = len(query) <= QUERY_BYTES_MAX
    if is_short and query:
        yield from _forms_that_are_refused(query, facts.rules)
    yield from _orders_sent(query)
    yield variant("query-left-out", b"")
    for one in dict.fromkeys((path, facts.prefix + path)):
        yield variant("query-is-path", one)
        yield variant("query-with-path", one + (b"?" + query if query else b""))
        if is_short and query:
            yield variant("query-with-path", one + b"?" + canonical_query(query))
    if not is_short:
        return
    yield variant("query-with-question-mark", b"?" + canonical_query(query))
    if query:
        yield from _of_short_query(query)


def _of_short_query(query: bytes) -> Iterator[Variant]:
    yield from _with_parameters_that_have_no_value(query)
    pairs = [part for part in query.split(b"&") if b"=" in part]
    yield variant("query-ignoring-case", _joined(sorted(pairs, key=lambda part: _key(part).lower())))
    if b"%" in query or b"+" in query:
        for text in (query, query.replace(b"+", b" ")):
            yield variant("query-decoded", canonical_query(unquote_to_bytes(text)))
    if b"%" in query:
        ordered = canonical_query(query)
        yield variant("query-encoded-otherwise", _ESCAPE.sub(lambda found: found[0].lower(), ordered))
        yield variant("query-encoded-otherwise", _ESCAPE.sub(lambda found: found[0].upper(), ordered))
        yield variant("query-encoded-twice", quote(ordered, safe="=&").encode())
        yield variant("query-encoded-twice", quote(ordered, safe="").encode())
    for encoded in _encoded_otherwise(query, _ENCODINGS):
        yield variant("query-encoded-otherwise", encoded)
    yield variant("query-sorted-by-value", _joined(sorted(pairs, key=_value)))
    yield variant("query-sorted-descending", _joined(sorted(pairs, key=_key, reverse=True)))
    yield _with_question_mark(query)


def _with_question_mark(query: bytes) -> Variant:
    """The `?` kept before the query as it is sent, which without it may be wrong as well."""
    value, ordered = b"?" + query, canonical_query(query)
    in_order = _joined(part for part in query.split(b"&") if b"=" in part)
    if query == ordered:
        return variant("query-with-question-mark", value)
    if query == in_order:
        return both("query-with-question-mark", "query-not-sorted", value)
    return both("query-with-question-mark", "query-as-sent", value)


def rare_queries(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do."""
    yield from _as_chosen(facts, _rare_queries)


def _rare_queries(facts: Facts) -> Iterator[Variant]:
    query = facts.query
    if len(query) > QUERY_BYTES_MAX:
        return
    ordered = canonical_query(query)
    for one in dict.fromkeys((facts.path, facts.prefix + facts.path)):
        for scheme in (b"http://", b"https://"):
            url = scheme + facts.host + one
            yield variant("query-is-url", url + (b"?" + query if query else b""))
            yield variant("query-is-url", url + b"?" + ordered)
    if not query:
        return
    pairs = [part for part in query.split(b"&") if b"=" in part]
    yield variant("query-in-lower-case", ordered.lower())
    yield variant("query-encoded-twice", quote(ordered, safe="").encode())
    yield variant("query-encoded-twice", quote(ordered, safe="=&").encode())
    for separator in (b"", b",", b";", b"\n", b"&amp;"):
        yield variant("query-without-separators", ordered.replace(b"&", separator))
    yield variant("query-without-separators", ordered.replace(b"&", b"").replace(b"=", b""))
    yield variant("repeated-key-once", canonical_query(_joined({_key(part): part for part in pairs}.values())))
    yield variant("repeated-key-once", canonical_query(_joined({_key(part): part for part in pairs[::-1]}.values())))
    bare = [part[:-1] if part.endswith(b"=") else part for part in sorted(pairs, key=_key)]
    kept = "empty-values-in" if facts.rules.empty_values == "without" else "empty-value-without-equals"
    yield variant(kept, _joined(bare))
    yield from _as_json(pairs)


def dear_queries(facts: Facts) -> Iterator[Variant]:
    """Other encodings, and two mistakes in the query together."""
    yield from _as_chosen(facts, _dear_queries)


def _dear_queries(facts: Facts) -> Iterator[Variant]:
    query = facts.query
    for literal, shown in _LITERALS.items():
        yield variant("query-is-literal", literal, shown)
    if not query or len(query) > QUERY_BYTES_MAX:
        return
    for encoded in _partly_encoded(query, canonical_query(query)):
        yield variant("query-encoded-otherwise", encoded)
    pairs = [part for part in query.split(b"&") if b"=" in part]
    for text in (query, query.replace(b"+", b" ")):
        yield both("query-decoded", "query-not-sorted", unquote_to_bytes(text))
    for safe in ("=&", ""):
        yield both("query-encoded-twice", "query-not-sorted", quote(query, safe=safe).encode())
    orders = {
        "query-ignoring-case": sorted(pairs, key=lambda part: _key(part).lower()),
        "query-sorted-by-value": sorted(pairs, key=_value),
        "query-sorted-descending": sorted(pairs, key=_key, reverse=True),
    }
    for name, ordered in orders.items():
        yield both(name, "query-with-question-mark", b"?" + _joined(ordered))
        for path in dict.fromkeys((facts.path, facts.prefix + facts.path)):
            yield both(name, "query-with-path", path + b"?" + _joined(ordered))


def _partly_encoded(query: bytes, ordered: bytes) -> Iterator[bytes]:
    yield ordered.replace(b"~", b"%7E")
    yield ordered.replace(b"+", b"%20")
    yield ordered.replace(b"%20", b"+")
    for escape in sorted(set(_ESCAPE.findall(ordered)))[:_ESCAPES_MAX]:
        yield ordered.replace(escape, unquote_to_bytes(escape))
    yield from _encoded_otherwise(query, _RARE_ENCODINGS)


def _as_json(pairs: list[bytes]) -> Iterator[Variant]:
    decoded = [unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8", "replace").partition("=") for part in pairs]
    members = {key: value for key, _, value in decoded}
    for separators in ((",", ":"), (", ", ": ")):
        for is_sorted in (False, True):
            text = json.dumps(members, separators=separators, sort_keys=is_sorted)
            yield variant("query-as-json", text.encode())


def _forms_that_are_refused(query: bytes, rules: QueryRules) -> Iterator[Variant]:
    """Those that SPEC allows as well, but not the choices of this sandbox; first those that break one of them."""
    found = []
    for order, empty in product(_ORDERS, _EMPTY_VALUES):
        if broken := _broken(rules, order, empty):
            found.append(Variant(broken, canonical_queries(query, QueryRules(order, empty))[0]))
    yield from sorted(found, key=lambda one: len(one.found))


def _broken(rules: QueryRules, order: str, empty: str) -> tuple[Found, ...]:
    """The choices that a form breaks."""
    chosen = ((rules.repeated_keys, order, _ORDERS), (rules.empty_values, empty, _EMPTY_VALUES))
    return tuple(Found(names[form]) for rule, form, names in chosen if rule not in ("either", form))


def _orders_sent(query: bytes) -> Iterator[Variant]:
    in_order = _joined(part for part in query.split(b"&") if b"=" in part)
    yield variant("query-not-sorted", in_order)
    if in_order != canonical_query(query):
        yield variant("query-as-sent", query)


def _with_parameters_that_have_no_value(query: bytes) -> Iterator[Variant]:
    bare = [part for part in query.split(b"&") if part and b"=" not in part]
    if not bare:
        return
    name = one_line(shortened(bare[0], _NAME_SHOWN_MAX))
    parts = [part for part in query.split(b"&") if part]
    with_equals = canonical_query(_joined(part if b"=" in part else part + b"=" for part in parts))
    yield variant("parameter-without-equals", _joined(sorted(parts, key=_key)), name)
    yield variant("parameter-without-equals", with_equals, name)


def _encoded_otherwise(query: bytes, encodings: Iterable[tuple[Callable[..., str], str]]) -> Iterator[bytes]:
    pairs = [part.replace(b"+", b" ").partition(b"=") for part in query.split(b"&") if b"=" in part]
    decoded = [(unquote_to_bytes(key), unquote_to_bytes(value)) for key, _, value in pairs]
    for encode, safe in encodings:
        parts = [f"{encode(key, safe=safe)}={encode(value, safe=safe)}" for key, value in decoded]
        yield canonical_query("&".join(parts).encode())
        if b"%" not in query and b"+" not in query and query.replace(b"&", b"").replace(b"=", b"").isalnum():
            return


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"&".join(parts)


def _key(part: bytes) -> bytes:
    return part.partition(b"=")[0]


def _value(part: bytes) -> bytes:
    return part.partition(b"=")[2]
