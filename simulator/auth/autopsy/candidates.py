"""The strings that a whole search tries, and the keys: of each place what a mistake there makes, then of two places.

Nothing is listed twice: what a place would repeat, or leave as it should be, is dropped before it is put together
with other places.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple, TypeVar

from simulator.auth.autopsy import bodies, keys, parts, queries, strings
from simulator.auth.autopsy.facts import QUERY_BYTES_MAX, Facts, Joining, Parts, Variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.canonical import canonical_queries

PAIRED_SECRETS_MAX = 20
"""So many other secrets are tried together with another mistake; each of them alone."""

Text = tuple[bytes, tuple[Found, ...], Parts]
"""A string, the mistakes that make it, and the right parts that it was made of. It is no class, since making thousands
of those takes as long as hashing them."""

_T = TypeVar("_T")
_Made = Callable[[Facts], Iterator[_T]]
TIMESTAMP, NONCE, METHOD, QUERY, BODY_HASH = range(5)

_COMMON_PARTS: tuple[tuple[int, _Made[Variant]], ...] = (
    (METHOD, parts.methods),
    (QUERY, queries.queries),
    (BODY_HASH, bodies.body_hashes),
    (TIMESTAMP, parts.timestamps),
    (NONCE, parts.nonces),
)
"""What costs little, by the index of the part; the likeliest part comes first."""
_RARE_PARTS: dict[int, _Made[Variant]] = {
    TIMESTAMP: parts.rare_timestamps,
    NONCE: parts.rare_nonces,
    METHOD: parts.rare_methods,
    QUERY: queries.rare_queries,
    BODY_HASH: bodies.rare_body_hashes,
}
_DEAR_PARTS: tuple[tuple[int, _Made[Variant]], ...] = (
    (QUERY, queries.dear_queries),
    (BODY_HASH, bodies.dear_body_hashes),
    (TIMESTAMP, parts.dear_timestamps),
)
_WITH_MILLISECONDS = (["method-in-lower-case"], ["query-not-sorted"], ["body-hash-hexadecimal"])
"""What is tried together with each millisecond: the likeliest of each part."""
_SAMPLE = Parts(b"\x01t", b"\x02N", b"\x03m", b"\x04Q", b"\x05h")


class Trial(NamedTuple):
    """Strings to try, each with all of these keys."""

    keys: list[Variant]
    texts: Iterable[Text]


class Candidates:
    """What a search tries for one request, the likeliest first; what it needs of the request is worked out once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._right_key = [Variant((), facts.secret)]
        self.rights = rights(facts)
        self._right_texts: list[Text] = [(strings.right(one), (), one) for one in self.rights]

    def right(self) -> Iterator[Trial]:
        """What should have been signed, in each accepted form."""
        yield Trial(self._right_key, self._right_texts)

    def singles(self) -> Iterator[Trial]:
        """One mistake."""
        yield Trial(self.keys, self._right_texts)
        for right in self.rights:
            yield Trial(self._right_key, self._one_mistake(right))
        yield Trial(self.others, self._right_texts)

    def dear_singles(self) -> Iterator[Trial]:
        """One mistake of those that have thousands of values."""
        for right in self.rights:
            yield Trial(self._right_key, self._dear_mistakes(right))

    def pairs(self) -> Iterator[Trial]:
        """Two mistakes in different places of the most literal form."""
        yield from self._pairs_of(self.rights[0])

    def pairs_of_other_forms(self) -> Iterator[Trial]:
        """The same of the other forms that are accepted, if there are any."""
        for right in self.rights[1:]:
            yield from self._pairs_of(right)

    def texts(self) -> Iterator[Text]:
        """Every string that is tried, whatever the key; of a long query none with two mistakes."""
        for right in self.rights:
            yield from self._one_mistake(right)
        for right in self.rights:
            yield from self._dear_mistakes(right)
        for right in self.rights if len(self._facts.query) <= QUERY_BYTES_MAX else ():
            yield from self._two_mistakes(right)

    def _pairs_of(self, right: Parts) -> Iterator[Trial]:
        yield Trial([*self.keys, *self.others[: 2 * PAIRED_SECRETS_MAX]], self._one_mistake(right))
        yield Trial(self._right_key, self._two_mistakes(right))
        milliseconds = list(parts.milliseconds(self._facts))
        yield Trial(self.keys[:1], _with_part(right, TIMESTAMP, milliseconds))
        for at, variants in self._variants:
            often = [one for one in variants if [found.id for found in one.found] in _WITH_MILLISECONDS]
            yield Trial(self._right_key, _with_two_parts(right, at, often, TIMESTAMP, milliseconds))

    def _one_mistake(self, right: Parts) -> Iterator[Text]:
        for joining in self._joinings:
            yield joining.join(right), joining.found, right
        for at, variants in self._variants:
            if at != QUERY or right == self.rights[0]:
                yield from _with_part(right, at, variants)

    def _dear_mistakes(self, right: Parts) -> Iterator[Text]:
        for joining in self._dear_joinings:
            yield joining.join(right), joining.found, right
        for at, variants in self._dear_variants:
            if at != QUERY or right == self.rights[0]:  # whichever query is right, wrong ones make the same string
                yield from _with_part(right, at, variants)

    def _two_mistakes(self, right: Parts) -> Iterator[Text]:
        changed = [
            (Parts._make((*right[:at], value, *right[at + 1 :])), found)
            for at, variants in self._single_variants
            for found, value in variants
            if value != right[at]
        ]
        for joining in self._joinings:
            join, how = joining.join, joining.found
            for made, found in changed:
                yield join(made), how + found, right
        for (at, variants), (other_at, others) in combinations(self._single_variants, 2):
            yield from _with_two_parts(right, at, variants, other_at, others)

    @cached_property
    def keys(self) -> list[Variant]:
        """What the secret of the key may be used as."""
        made = chain(keys.keys(self._facts), keys.rare_keys(self._facts))
        return _unlike(self._facts.secret, made)

    @cached_property
    def others(self) -> list[Variant]:
        """Other secrets."""
        return _unlike(self._facts.secret, keys.other_keys(self._facts))

    @cached_property
    def _joinings(self) -> list[Joining]:
        """Ways that do the same with parts of which each is different are the same."""
        made = chain(strings.joinings(self._facts), strings.rare_joinings(self._facts))
        by_text: dict[bytes, Joining] = {}
        for one in made:
            by_text.setdefault(one.join(_SAMPLE), one)
        by_text.pop(strings.right(_SAMPLE), None)
        return list(by_text.values())

    @cached_property
    def _single_variants(self) -> list[tuple[int, list[Variant]]]:
        """Those of them with one mistake, to which another is added."""
        return [(at, [one for one in variants if len(one.found) == 1]) for at, variants in self._variants]

    @cached_property
    def _dear_joinings(self) -> list[Joining]:
        return list(strings.dear_joinings(self._facts))

    @cached_property
    def _dear_variants(self) -> list[tuple[int, list[Variant]]]:
        """The same of those that have thousands of values, made once for all forms of the query."""
        return [(at, list(made(self._facts))) for at, made in _DEAR_PARTS]

    @cached_property
    def _variants(self) -> list[tuple[int, list[Variant]]]:
        """What a part may be, by its index."""
        return [(at, _once(chain(common(self._facts), _RARE_PARTS[at](self._facts)))) for at, common in _COMMON_PARTS]


def rights(facts: Facts) -> list[Parts]:
    """The parts that should have been signed, for each form of the query that is accepted."""
    forms = canonical_queries(facts.query, facts.rules) if facts.query else [b""]
    return [Parts(facts.timestamp, facts.nonce, facts.method, form, facts.hashed) for form in forms]


def _once(variants: Iterable[Variant]) -> list[Variant]:
    """The first of each value."""
    by_value: dict[bytes, Variant] = {}
    for one in variants:
        by_value.setdefault(one.value, one)
    return list(by_value.values())


def _unlike(right: bytes, variants: Iterable[Variant]) -> list[Variant]:
    """The first of each value that is not the right one."""
    return [one for one in _once(variants) if one.value != right]


def _with_part(right: Parts, at: int, variants: Iterable[Variant]) -> Iterator[Text]:
    """The canonical string with another value of one part."""
    head, tail = around(right, at)
    right_value = right[at]
    for found, value in variants:
        if value != right_value:
            yield head + value + tail, found, right


def _with_two_parts(
    right: Parts, at: int, variants: list[Variant], other_at: int, others: list[Variant]
) -> Iterator[Text]:
    for found, value in variants:
        if value != right[at]:
            changed = Parts._make((*right[:at], value, *right[at + 1 :]))
            for text, more, _ in _with_part(changed, other_at, others):
                yield text, found + more, right


def around(right: Parts, at: int) -> tuple[bytes, bytes]:
    """The canonical string before and behind a part."""
    return b":".join((b"v1", *right[:at], b"")), b":".join((b"", *right[at + 1 :]))
