"""What clients sign in place of the canonical query of SPEC 5.1: each known mistake, as the text it leads to."""

from collections.abc import Iterator
from itertools import product
from urllib.parse import quote, quote_plus, unquote_to_bytes

from simulator.auth.canonical import QueryRules, canonical_queries, canonical_query
from simulator.shortened import shortened

_NAME_SHOWN_MAX = 100
_QUERY_BYTES_MAX = 4096  # of a longer one only what costs little is tried

# How clients encode a query: the function, and what it leaves as it is beside letters, digits and -._~
_ENCODINGS = ((quote, ""), (quote_plus, ""), (quote, "/"), (quote_plus, "*"), (quote, "!*'()"))

_ORDERS = {
    "as_sent": "equal keys keep the order sent (assume.repeated-query-keys)",
    "sorted": "equal keys are sorted by value (assume.repeated-query-keys)",
}
_EMPTY_VALUES = {
    "with": "sign parameters with an empty value too (assume.empty-query-values)",
    "without": "leave out parameters with an empty value (assume.empty-query-values)",
}


def mistaken_queries(path: str, query: bytes, rules: QueryRules) -> Iterator[tuple[str, bytes]]:
    """Each mistake in words, and the query text that a client signs by it; `query` is raw, as it was sent."""
    is_short = len(query) <= _QUERY_BYTES_MAX
    if is_short:
        yield from _forms_that_are_refused(query, rules)
    yield from _orders_sent(query)
    yield "the query was left out", b""
    yield "the path is signed instead of the query", path.encode()
    yield "the path is signed together with the query", path.encode() + (b"?" + query if query else b"")
    if not is_short:
        return
    yield "the query keeps its question mark", b"?" + canonical_query(query)
    yield from _with_parameters_that_have_no_value(query)
    yield "the query is sorted regardless of case; capitals come first", _sorted_regardless_of_case(query)
    for text in (query, query.replace(b"+", b" ")):
        yield "the query is percent-decoded; sign it as it is sent", canonical_query(unquote_to_bytes(text))
    for encoded in _encoded_otherwise(query):
        yield "the query is encoded otherwise than it is sent; sign the text that is sent", encoded


def _forms_that_are_refused(query: bytes, rules: QueryRules) -> Iterator[tuple[str, bytes]]:
    """Those that SPEC allows as well, but not the choices of this sandbox; first those that break one of them."""
    found = []
    for order, empty in product(_ORDERS, _EMPTY_VALUES):
        chosen = ((rules.repeated_keys, order, _ORDERS), (rules.empty_values, empty, _EMPTY_VALUES))
        if broken := [texts[rule] for rule, form, texts in chosen if rule not in ("either", form)]:
            found.append((broken, canonical_queries(query, QueryRules(order, empty))[0]))
    for broken, form in sorted(found, key=lambda one: len(one[0])):
        yield " and ".join(broken), form


def _orders_sent(query: bytes) -> Iterator[tuple[str, bytes]]:
    in_order = b"&".join(part for part in query.split(b"&") if b"=" in part)
    yield "the query is not sorted by key", in_order
    if in_order != canonical_query(query):
        yield "the query is signed as it is sent; sort it by key and leave out parameters without =", query


def _with_parameters_that_have_no_value(query: bytes) -> Iterator[tuple[str, bytes]]:
    bare = [part for part in query.split(b"&") if part and b"=" not in part]
    if not bare:
        return
    name = shortened(bare[0], _NAME_SHOWN_MAX)
    text = f"{name} has no =, so it is not part of the canonical string"
    parts = [part for part in query.split(b"&") if part]
    ordered = sorted(parts, key=_key)
    yield text, b"&".join(ordered)
    yield text, canonical_query(b"&".join(part if b"=" in part else part + b"=" for part in parts))


def _sorted_regardless_of_case(query: bytes) -> bytes:
    parts = [part for part in query.split(b"&") if b"=" in part]
    ordered = sorted(parts, key=lambda part: _key(part).lower())
    return b"&".join(ordered)


def _encoded_otherwise(query: bytes) -> Iterator[bytes]:
    pairs = [part.replace(b"+", b" ").partition(b"=") for part in query.split(b"&") if b"=" in part]
    decoded = [(unquote_to_bytes(key), unquote_to_bytes(value)) for key, _, value in pairs]
    for encode, safe in _ENCODINGS:
        parts = [f"{encode(key, safe=safe)}={encode(value, safe=safe)}" for key, value in decoded]
        yield canonical_query("&".join(parts).encode())


def _key(part: bytes) -> bytes:
    return part.partition(b"=")[0]
