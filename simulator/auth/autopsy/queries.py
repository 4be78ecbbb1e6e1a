"""Mistakes in the canonical query of SPEC 5.1, as the text that a client signs in its place.

A client signs a form of the query, spells it otherwise or writes something around it. Each text has the mistakes of
its form beside that of its spelling, so that what is told mends it.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import quote, unquote_to_bytes

from simulator.auth.autopsy.facts import QUERY_BYTES_MAX, Facts, Variant, variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.autopsy.query_forms import PARTS_MAX, Form, bare_found, by_key, forms, joined, key, quick_forms
from simulator.auth.autopsy.query_spellings import (
    Spelling,
    encodings,
    is_plain,
    partial_spellings,
    quick_encodings,
    rare_encodings,
    spellings,
)
from simulator.auth.canonical import canonical_query

_COMMON_MAX = 70
_FORMS_MAX = 40  # that are spelt otherwise
_DEAR_MAX = 2500
_LITERALS = {
    b"undefined": "undefined", b"null": "null", b"None": "None", b"nil": "nil", b"{}": "an empty object",
    b"[]": "an empty list", b'""': "an empty text in quotes", b"[object Object]": "[object Object]",
}  # fmt: skip
# Whose fix says to sort the query by key, too.
_SORTING = frozenset({"query-with-path", "query-is-url"})


def quick_queries(facts: Facts) -> Iterator[bytes]:
    """What clients sign most often, the right ones among it; `queries` tells the mistakes of each."""
    query = facts.query
    if not query:
        yield from _paths(facts)
        return
    yield query
    yield b""
    if len(query) > QUERY_BYTES_MAX:
        return
    pairs = [part for part in query.split(b"&") if b"=" in part]
    right = joined(by_key(pairs))
    yield from quick_forms(query, facts.rules)
    yield from (b"?" + query, b"?" + right)
    for path in _paths(facts):
        yield from (path, path + b"?" + query, path + b"?" + right)
    if not is_plain(query):
        for _, spell in (*spellings(query), *quick_encodings(query)):
            yield joined([spell(part) for part in by_key(pairs)])


def queries(facts: Facts) -> Iterator[Variant]:
    """What costs little; of a long query only some."""
    yield from islice(_once(_queries(facts)), _COMMON_MAX)


def rare_queries(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do."""
    if len(facts.query) <= QUERY_BYTES_MAX:
        yield from _once(_rare_queries(facts))


def dear_queries(facts: Facts) -> Iterator[Variant]:
    """Other encodings, and more than one mistake in the query."""
    for literal, shown in _LITERALS.items():
        yield variant("query-is-literal", literal, shown)
    if facts.query and len(facts.query) <= QUERY_BYTES_MAX:
        yield from islice(_once(_dear_queries(facts)), _DEAR_MAX)


def _once(variants: Iterable[Variant]) -> Iterator[Variant]:
    seen: set[bytes] = set()
    for one in variants:
        if one.value not in seen:
            seen.add(one.value)
            yield one


def _queries(facts: Facts) -> Iterator[Variant]:
    query, is_short = facts.query, len(facts.query) <= QUERY_BYTES_MAX
    if is_short and _has_only_an_order(query):
        yield variant("query-not-sorted", query)  # which the forms below say of it, too
    made = forms(query, facts.rules) if query and is_short else []
    right, wrong = [one for one in made if not one.found], [one for one in made if one.found]
    single = [one for one in wrong if len(one.found) == 1]
    yield from map(_plain, single)
    if query and not is_short:
        yield variant("query-not-sorted", joined([part for part in query.split(b"&") if b"=" in part]))
        yield variant("query-as-sent", query)
    yield variant("query-left-out", b"")
    for path in _paths(facts):
        yield variant("query-is-path", path)
        yield from (_around("query-with-path", path + b"?", one) for one in right)
        yield from (_around("query-with-path", path + b"?", one) for one in _as_sent(made, query))
        if not made:
            yield variant("query-with-path", path + (b"?" + query if query else b""))
    if not query:
        yield variant("query-with-question-mark", b"?")
        return
    if is_short:
        yield from (_around("query-with-question-mark", b"?", one) for one in right)
        yield from _spelt(spellings(query), right)
        yield from _spelt(encodings(query), right)
        yield from map(_plain, [one for one in wrong if len(one.found) > 1][:8])
        for one in [*_as_sent(made, query), *single[:4]]:
            yield _around("query-with-question-mark", b"?", one)
        yield from _spelt(spellings(query), single[:4])


def _has_only_an_order(query: bytes) -> bool:
    """Whether the parameters of a query have different keys and no empty values, and are not in order."""
    parts = [part.partition(b"=") for part in query.split(b"&")]
    names = [name for name, _, _ in parts]
    return all(value for _, _, value in parts) and len(set(names)) == len(names) and names != sorted(names)


def _as_sent(made: list[Form], query: bytes) -> list[Form]:
    """The form that is the query as it is sent, and that without parameters that have no `=`."""
    pairs = joined([part for part in query.split(b"&") if b"=" in part])
    return [one for one in made if joined(one.parts) in (query, pairs)]


def _rare_queries(facts: Facts) -> Iterator[Variant]:
    query = facts.query
    made = forms(query, facts.rules) if query else []
    right = [one for one in made if not one.found]
    for path in _paths(facts):
        for scheme in (b"http://", b"https://"):
            url = scheme + facts.host + path
            if not query:
                yield variant("query-is-url", url)
            yield from (_around("query-is-url", url + b"?", one) for one in (*right, *_as_sent(made, query)))
    for one in right:
        yield from _rarely_written(one)
    if query:
        pairs = [part for part in query.split(b"&") if b"=" in part]
        yield from _as_json(pairs)


def _rarely_written(form: Form) -> Iterator[Variant]:
    text = joined(form.parts)
    yield _with("query-in-lower-case", text.lower(), form)
    for separator in (b"", b",", b";", b"\n", b"&amp;"):
        yield _with("query-without-separators", text.replace(b"&", separator), form)
    yield _with("query-without-separators", text.replace(b"&", b"").replace(b"=", b""), form)
    yield _with("repeated-key-once", joined(list({key(part): part for part in form.parts}.values())), form)
    first = {key(part): part for part in form.parts[::-1]}
    yield _with("repeated-key-once", joined(by_key(list(first.values()))), form)


def _dear_queries(facts: Facts) -> Iterator[Variant]:
    query = facts.query
    made = forms(query, facts.rules)
    right, wrong = [one for one in made if not one.found], [one for one in made if one.found]
    if query.count(b"&") >= PARTS_MAX:
        wrong = []
    elif b"%26" in query:  # which is a separator when it is decoded first
        yield from map(_decoded_first, (query, query.replace(b"+", b" ")))
    yield from map(_plain, wrong)
    yield from _spelt(partial_spellings(query), right)
    yield from _spelt(rare_encodings(query), right)
    some = wrong[:_FORMS_MAX]
    yield from _spelt(spellings(query), some)
    yield from _spelt(encodings(query), some)
    usual = [*right, *(one for one in _as_sent(made, query) if one.found)]
    ways = (*spellings(query), *encodings(query), *partial_spellings(query))
    spelt = list(_once(_spelt(ways, usual)))
    for name, before in _befores(facts):
        for form in made if name != "query-is-url" else made[: len(right) + _FORMS_MAX]:
            yield _around(name, before, form)
        for one in spelt:
            yield Variant((Found(name), *one.found), before + one.value)
    yield from _spelt(partial_spellings(query), some)
    for form in some:
        yield from _rarely_written(form)
    yield from _spelt(rare_encodings(query), some)


def _decoded_first(query: bytes) -> Variant:
    return variant("query-decoded", canonical_query(unquote_to_bytes(query)))


def _befores(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """What clients write before the query."""
    yield "query-with-question-mark", b"?"
    for path in _paths(facts):
        yield "query-with-path", path + b"?"
        for scheme in (b"http://", b"https://"):
            yield "query-is-url", scheme + facts.host + path + b"?"


def _paths(facts: Facts) -> Iterable[bytes]:
    return dict.fromkeys((facts.path, facts.prefix + facts.path))


def _plain(form: Form) -> Variant:
    return Variant(form.found, joined(form.parts))


def _with(name: str, value: bytes, form: Form) -> Variant:
    return Variant((Found(name), *form.found), value)


def _around(name: str, before: bytes, form: Form) -> Variant:
    """A form behind something, whose fix may say all that is wrong with the order."""
    found = form.found
    if name in _SORTING:
        found = tuple(_without_order(form))
    return Variant((Found(name), *found), before + joined(form.parts))


def _without_order(form: Form) -> Iterator[Found]:
    for one in form.found:
        if one.id == "query-as-sent":
            yield bare_found([part for part in form.parts if b"=" not in part])
        elif one.id != "query-not-sorted":
            yield one


def _spelt(ways: Iterable[Spelling], made: list[Form]) -> Iterator[Variant]:
    """Forms spelt otherwise, and sorted after that as well."""
    for name, spell in ways:
        for form in made:
            parts = [spell(part) for part in form.parts]
            yield _with(name, joined(parts), form)
            yield _with(name, joined(by_key(parts)), form)
            if name == "query-encoded-twice":
                yield _with(name, quote(joined(form.parts), safe="").encode(), form)


def _as_json(pairs: list[bytes]) -> Iterator[Variant]:
    decoded = [unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8", "replace").partition("=") for part in pairs]
    members = {name: value for name, _, value in decoded}
    for separators in ((",", ":"), (", ", ": ")):
        for is_sorted in (False, True):
            text = json.dumps(members, separators=separators, sort_keys=is_sorted)
            yield variant("query-as-json", text.encode())
