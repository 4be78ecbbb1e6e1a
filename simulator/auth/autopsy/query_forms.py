"""What clients sign of a query, as it is spelt: the parameters that they keep, in the order that they give them.

Each form says what mends it in this sandbox: who does what the mistakes say, and nothing else otherwise, signs a form
that is accepted. The order is no mistake where the query that is kept is in order by itself.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import QueryRules, canonical_queries
from simulator.shortened import one_line, shortened

PARTS_MAX = 20
"""Of a query of more parameters only the usual orders are tried, since each takes a sort."""
_USUAL_ORDERS = 3
_QUICK_ORDERS = 4
_NAME_SHOWN_MAX = 100

_Parts = list[bytes]
_Way = Callable[[bytes], bytes | None]  # what becomes of one parameter, None if nothing


class Form(NamedTuple):
    """Parameters in the order in which they are signed, and the mistakes: none in a form that is accepted."""

    found: tuple[Found, ...]
    parts: _Parts


class _Kept(NamedTuple):
    """Parameters in the order sent; `pairs` are those that have a `=`, `mended` those that remain when the mistakes are
    mended."""

    found: tuple[Found, ...]
    parts: _Parts
    pairs: _Parts
    mended: _Parts


class _Order(NamedTuple):
    """An order; `mended` is how equal keys stand when the parameters are sorted by key in its place."""

    found: tuple[Found, ...]
    made: Callable[[_Parts], _Parts]
    mended: Callable[[_Parts], _Parts]


def forms(query: bytes, rules: QueryRules) -> list[Form]:
    """Each form of a query once, those with the fewest mistakes first."""
    accepted = set(canonical_queries(query, rules))
    orders = _ORDERS if query.count(b"&") < PARTS_MAX else _ORDERS[:_USUAL_ORDERS]
    made = [
        Form(_mistakes(kept, order, query, accepted), order.made(kept.parts))
        for kept in _kept(query, rules)
        for order in orders
    ]
    once: dict[bytes, Form] = {}
    for one in sorted(made, key=lambda form: len(form.found)):
        once.setdefault(joined(one.parts), one)
    return list(once.values())


def quick_forms(query: bytes, rules: QueryRules) -> Iterator[bytes]:
    """The texts of those forms that clients sign most often, with any number of mistakes."""
    for kept in _kept(query, rules):
        for order in _ORDERS[:_QUICK_ORDERS]:
            yield joined(order.made(kept.parts))


def joined(parts: _Parts) -> bytes:
    """The text of a form."""
    return b"&".join(parts)


def key(part: bytes) -> bytes:
    """What stands before the first `=`."""
    return part.partition(b"=")[0]


def by_key(parts: _Parts) -> _Parts:
    """Sorted by key, equal keys as they are."""
    return sorted(parts, key=key)


def _mistakes(kept: _Kept, order: _Order, query: bytes, accepted: set[bytes]) -> tuple[Found, ...]:
    sorted_instead, in_order = order.mended(kept.mended), order.made(kept.mended)
    pairs = order.made(kept.pairs)
    is_sorted = pairs == by_key(pairs) and (joined(in_order) in accepted or in_order == sorted_instead)
    found = kept.found
    if joined(in_order if is_sorted else sorted_instead) not in accepted:
        found = (_BY_VALUE if order.mended is _by_key_and_value else _AS_SENT, *found)
    if is_sorted:
        return found
    if order.found == (_NOT_SORTED,) and _is_bare(kept) and joined(order.made(kept.parts)) == query:
        return (_ALL_AS_SENT, *(one for one in found if one.id != _BARE))
    return (*order.found, *found)


def _is_bare(kept: _Kept) -> bool:
    return any(one.id == _BARE for one in kept.found)


def _kept(query: bytes, rules: QueryRules) -> Iterator[_Kept]:
    parts = query.split(b"&")
    pairs = [part for part in parts if b"=" in part]
    lean = [part for part in pairs if not _is_empty(part)]
    has_empty = len(lean) < len(pairs)
    full_when_mended = lean if rules.empty_values == "without" else pairs
    lean_when_mended = pairs if rules.empty_values == "with" else lean
    with_empty = (Found("empty-values-in"),) if has_empty and rules.empty_values == "without" else ()
    without_empty = (Found("empty-values-out"),) if rules.empty_values == "with" else ()
    without_equals = with_empty or (Found("empty-value-without-equals"),)
    for found, bare in _bare_ways(parts):
        yield _Kept((*found, *with_empty), _made(parts, bare, _as_it_is), pairs, full_when_mended)
        if has_empty:
            yield _Kept((*found, *without_empty), _made(parts, bare, _dropped), lean, lean_when_mended)
            yield _Kept((*found, *without_equals), _made(parts, bare, _without_last), pairs, full_when_mended)


def _made(parts: _Parts, bare: _Way, empty: _Way) -> _Parts:
    made = [bare(part) if b"=" not in part else empty(part) if _is_empty(part) else part for part in parts]
    return [part for part in made if part is not None]


def _bare_ways(parts: _Parts) -> Iterator[tuple[tuple[Found, ...], _Way]]:
    """Without the parameters that have no `=`, as it is right; with them, as they are and with one added."""
    yield (), _dropped
    bare = [part for part in parts if b"=" not in part]
    if not bare:
        return
    found = (bare_found(bare),)
    yield found, _as_it_is
    if b"" in bare:
        yield found, lambda part: part or None
    yield found, lambda part: part + b"=" if part else None


def bare_found(bare: _Parts) -> Found:
    """The mistake that parameters without `=` are signed; it names one of them."""
    named = next(filter(None, bare), b"")
    return Found(_BARE, one_line(shortened(named, _NAME_SHOWN_MAX)) or "an empty parameter")


def _as_it_is(part: bytes) -> bytes | None:
    return part


def _dropped(_: bytes) -> bytes | None:
    return None


def _without_last(part: bytes) -> bytes | None:
    return part[:-1]


def _is_empty(part: bytes) -> bool:
    return 0 <= part.find(b"=") == len(part) - 1


def _by_key_and_value(parts: _Parts) -> _Parts:
    return sorted(parts, key=lambda part: (key(part), part))


def _lower(part: bytes) -> bytes:
    return key(part).lower()


def _value(part: bytes) -> bytes:
    return part.partition(b"=")[2]


_BARE = "parameter-without-equals"
_AS_SENT, _BY_VALUE = Found("repeated-keys-as-sent"), Found("repeated-keys-by-value")
_NOT_SORTED, _ALL_AS_SENT = Found("query-not-sorted"), Found("query-as-sent")
_DESCENDING, _IGNORING = Found("query-sorted-descending"), Found("query-ignoring-case")
_ORDERS: tuple[_Order, ...] = (
    _Order((), by_key, by_key),
    _Order((), _by_key_and_value, _by_key_and_value),
    _Order((_NOT_SORTED,), list, by_key),
    _Order((_IGNORING,), lambda parts: sorted(parts, key=_lower), by_key),
    _Order((Found("query-sorted-by-value"),), lambda parts: sorted(parts, key=_value), by_key),
    _Order((_DESCENDING,), lambda parts: sorted(parts, key=key, reverse=True), by_key),
    _Order((_DESCENDING,), lambda parts: by_key(parts)[::-1], by_key),
    _Order((_DESCENDING,), lambda parts: sorted(parts, reverse=True), _by_key_and_value),
    _Order((_DESCENDING,), lambda parts: sorted(sorted(parts), key=key, reverse=True), _by_key_and_value),
    _Order((Found("query-sorted-by-value"),), lambda parts: sorted(sorted(parts), key=_value), _by_key_and_value),
    _Order((_IGNORING,), lambda parts: sorted(sorted(parts), key=_lower), _by_key_and_value),
    _Order((_NOT_SORTED,), sorted, _by_key_and_value),  # the whole parameters are, in which = stands behind digits
)
