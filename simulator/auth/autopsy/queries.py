"""Mistakes in the canonical query of SPEC 5.1, as the text that a client signs in its place."""

import json
from collections.abc import Iterable, Iterator
from itertools import product
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.autopsy.facts import QUERY_BYTES_MAX, Facts, Variant, variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import QueryRules, canonical_queries, canonical_query
from simulator.shortened import shortened

_NAME_SHOWN_MAX = 100

# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = ((quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"))

_ORDERS = {"as_sent": "repeated-keys-as-sent", "sorted": "repeated-keys-by-value"}
_EMPTY_VALUES = {"with": "empty-values-in", "without": "empty-values-out"}


def queries(facts: Facts) -> Iterator[Variant]:
    """What costs little; of a long query only some."""
    query, path = facts.query, facts.path
    is_short = len(query) <= QUERY_BYTES_MAX
    if is_short and query:
        yield from _forms_that_are_refused(query, facts.rules)
    yield from _orders_sent(query)
    yield variant("query-left-out", b"")
    for one in dict.fromkeys((path, facts.prefix + path)):
        yield variant("query-is-path", one)
        yield variant("query-with-path", one + (b"?" + query if query else b""))
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
    for encoded in _encoded_otherwise(query):
        yield variant("query-encoded-otherwise", encoded)
    yield variant("query-sorted-by-value", _joined(sorted(pairs, key=_value)))
    yield variant("query-sorted-descending", _joined(sorted(pairs, key=_key, reverse=True)))
    yield variant("query-with-question-mark", b"?" + query)


def rare_queries(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do."""
    query = facts.query
    if len(query) > QUERY_BYTES_MAX:
        return
    ordered = canonical_query(query)
    for one in dict.fromkeys((facts.path, facts.prefix + facts.path)):
        yield variant("query-with-path", one + b"?" + ordered)
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
    yield variant("empty-value-without-equals", _joined(bare))
    yield variant("query-decoded", unquote_to_bytes(query))
    yield from _as_json(pairs)


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
        chosen = ((rules.repeated_keys, order, _ORDERS), (rules.empty_values, empty, _EMPTY_VALUES))
        if broken := tuple(Found(names[form]) for rule, form, names in chosen if rule not in ("either", form)):
            found.append(Variant(broken, canonical_queries(query, QueryRules(order, empty))[0]))
    yield from sorted(found, key=lambda one: len(one.found))


def _orders_sent(query: bytes) -> Iterator[Variant]:
    in_order = _joined(part for part in query.split(b"&") if b"=" in part)
    yield variant("query-not-sorted", in_order)
    if in_order != canonical_query(query):
        yield variant("query-as-sent", query)


def _with_parameters_that_have_no_value(query: bytes) -> Iterator[Variant]:
    bare = [part for part in query.split(b"&") if part and b"=" not in part]
    if not bare:
        return
    name = shortened(bare[0], _NAME_SHOWN_MAX)
    parts = [part for part in query.split(b"&") if part]
    with_equals = canonical_query(_joined(part if b"=" in part else part + b"=" for part in parts))
    yield variant("parameter-without-equals", _joined(sorted(parts, key=_key)), name)
    yield variant("parameter-without-equals", with_equals, name)


def _encoded_otherwise(query: bytes) -> Iterator[bytes]:
    pairs = [part.replace(b"+", b" ").partition(b"=") for part in query.split(b"&") if b"=" in part]
    decoded = [(unquote_to_bytes(key), unquote_to_bytes(value)) for key, _, value in pairs]
    for encode, safe in _ENCODINGS:
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
