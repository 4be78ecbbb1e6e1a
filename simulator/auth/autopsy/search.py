"""The search for the mistakes behind a signature: one of the table, or two that are made in different steps.

It signs the request as clients with each mistake do, single mistakes before pairs, and compares.
What it may cost is counted: the HMACs, and the bytes that they hash.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import combinations, groupby, islice
from typing import Any, NamedTuple

from simulator.auth.autopsy.facts import QUERY_STEPS, SIGNATURE_STEPS, Facts, Found, Parts, Step, Way, ways_of
from simulator.auth.autopsy.mistakes import MISTAKES
from simulator.auth.autopsy.queries import dropped, is_empty, right_ways
from simulator.auth.autopsy.signatures import Reading, readings
from simulator.auth.canonical import hmac_sha256

HMACS_MAX = 80_000
"""HMACs of a whole search; one of an ordinary request ends before."""
HASHED_BYTES_MAX = 32 * 1024 * 1024
"""The bytes that they hash together, with the bodies in them, so that those of a long query or body are fewer."""
SHORT_HMACS_MAX, SHORT_HASHED_BYTES_MAX = 2000, 1024 * 1024
"""The same of a search without pairs, for which a refusal waits."""
_HMAC_BYTES = 128  # two blocks, which each HMAC hashes beside its text
_PAIRED_MAX = 20  # ways of one mistake that are tried together with those of others
_MANY_MAX = 1000  # of those of one mistake that are too many for that
_WITH_MANY = frozenset({"secret-not-decoded", "method-in-lower-case", "line-feeds", "query-not-sorted",
                        "body-hash-hexadecimal"})  # fmt: skip

_KEY, _ALGORITHM, _BODY = Step.KEY, Step.ALGORITHM, Step.BODY
_TIMESTAMP, _METHOD = Step.TIMESTAMP, Step.METHOD

is_equal = hmac.compare_digest
Ways = tuple[Way, ...]


class Right(NamedTuple):
    """The parts that should have been signed, and how their query was made: one of the forms that are accepted."""

    parts: Parts
    empty: Callable[[bytes], bytes | None]
    order: Callable[[list[bytes]], list[bytes]]


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, the parts that should
    have been signed, and the string."""

    found: tuple[Found, ...]
    right: Parts
    string: bytes


class _Spent(Exception):
    """The budget of a search is spent."""


class Signing:
    """Signs a request in its steps, rightly or in other ways."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._usual: list[Way] | None = None
        by_query: dict[bytes, Right] = {}
        empties, orders = right_ways(facts)
        for empty in empties:
            for order in orders:
                right = Right(Parts(facts.timestamp, facts.nonce, facts.method, b"", facts.hashed), empty, order)
                query = _query(facts, right, {})
                by_query.setdefault(query, right._replace(parts=right.parts._replace(query=query)))
        self.rights = list(by_query.values())

    def string(self, right: Right, ways: Ways) -> bytes:
        """The string that a client signs which does these steps otherwise."""
        values: list[bytes] = [b"v1", *right.parts]
        made: dict[Step, Any] = {}
        for way in ways:
            if _TIMESTAMP <= way.step <= _METHOD:
                values[way.step - _TIMESTAMP + 1] = way.make
            elif way.step > _METHOD:
                made[way.step] = way.make
        if not made:
            return b":".join(values)
        if not made.keys().isdisjoint(QUERY_STEPS):
            values[4] = _query(self.facts, right, made)
        if Step.BODY in made or Step.HASH in made:
            values[5] = _hash(self.facts, made)
        if Step.PIECES in made:
            values = made[Step.PIECES](Parts._make(values[1:]))
        text: bytes = made.get(Step.SEPARATOR, b":").join(values)
        return made[Step.STRING](text) if Step.STRING in made else text

    def usual(self) -> Iterator[Ways]:
        """Each way to do one step otherwise, but for those that are many."""
        if self._usual is None:
            table = (mistake for mistake in MISTAKES if mistake.step not in SIGNATURE_STEPS)
            self._usual = [way for mistake in table for way in ways_of(mistake, mistake.ways(self.facts))]
        return ((way,) for way in self._usual)

    def many(self) -> Iterator[Ways]:
        """Those that are many."""
        for mistake in MISTAKES[::-1]:  # thousands of timestamps last
            yield from ((way,) for way in ways_of(mistake, mistake.many_ways(self.facts)))

    def pairs(self) -> Iterator[Ways]:
        """Each two of the usual ways of different steps."""
        by_mistake = groupby((way for (way,) in self.usual()), key=lambda way: way.found.id)
        chosen = [way for _, ways in by_mistake for way in islice(ways, _PAIRED_MAX)]
        return ((one, other) for one, other in combinations(chosen, 2) if one.step != other.step)

    def many_pairs(self) -> Iterator[Ways]:
        """The likeliest ways together with those that are many."""
        likely = [way for (way,) in self.usual() if way.found.id in _WITH_MANY]
        for mistake in MISTAKES:
            for way in islice(ways_of(mistake, mistake.many_ways(self.facts)), _MANY_MAX):
                yield from ((one, way) for one in likely if one.step != way.step)


def right_only(_: Signing) -> Iterator[Ways]:
    """No way but the right one."""
    return iter([()])


_Stage = tuple[int, Callable[[Signing], Iterator[Ways]]]
_SHORT: tuple[_Stage, ...] = (
    (0, right_only), (1, right_only), (0, Signing.usual), (2, right_only), (1, Signing.usual), (0, Signing.many),
)  # fmt: skip
_WHOLE: tuple[_Stage, ...] = (*_SHORT, (0, Signing.pairs), (1, Signing.many), (0, Signing.many_pairs))
"""What is tried, with so many mistakes in how the signature is written."""


def whole_search(facts: Facts) -> tuple[Match | None, bool]:
    """The fewest mistakes that explain a signature, and whether nothing was left untried for want of time."""
    return _search(facts, _WHOLE, HMACS_MAX, HASHED_BYTES_MAX)


def short_search(facts: Facts) -> Match | None:
    """The mistake that explains a signature, if one alone does."""
    return _search(facts, _SHORT, SHORT_HMACS_MAX, SHORT_HASHED_BYTES_MAX)[0]


def _search(facts: Facts, stages: tuple[_Stage, ...], hmacs: int, hashed_bytes: int) -> tuple[Match | None, bool]:
    signing, read = Signing(facts), readings(facts)
    budget = [hmacs, hashed_bytes]
    try:
        for count, stage in stages:
            for reading in (one for one in read if len(one.found) == count):
                for right in signing.rights:
                    if match := _first(signing, reading, right, stage(signing), budget):
                        return match, True
    except _Spent:
        return None, False
    return None, True


def _first(
    signing: Signing, reading: Reading, right: Right, candidates: Iterator[Ways], budget: list[int]
) -> Match | None:
    for ways in candidates:
        text = signing.string(right, ways)
        budget[0] -= 1
        budget[1] -= len(text) + _HMAC_BYTES + sum(len(way.make) for way in ways if way.step == _BODY)
        if budget[0] < 0 or budget[1] < 0:
            raise _Spent
        if is_signed_with(signing.facts.secret, ways, text, reading):
            return Match((*(way.found for way in ways), *reading.found), right.parts, text)
    return None


def is_signed_with(secret: bytes, ways: Ways, text: bytes, reading: Reading) -> bool:
    """Whether a string leads to what was read, with key and algorithm as these ways have them."""
    algorithm = hmac_sha256
    for way in ways:
        if way.step == _KEY:
            secret = way.make
        elif way.step == _ALGORITHM:
            algorithm = way.make
    return is_equal(reading.written(algorithm(secret, text)), reading.wanted)


def _query(facts: Facts, right: Right, made: dict[Step, Any]) -> bytes:
    """The text of the query, with some steps made otherwise."""
    parts = facts.query.split(b"&")
    if Step.PARAMETERS in made:
        parts = made[Step.PARAMETERS](parts)
    bare, empty = made.get(Step.BARE, dropped), made.get(Step.EMPTY, right.empty)
    signed = (bare(part) if b"=" not in part else empty(part) if is_empty(part) else part for part in parts)
    parts = made.get(Step.ORDER, right.order)([part for part in signed if part is not None])
    if Step.SPELLING in made:
        parts = list(map(made[Step.SPELLING], parts))
    text = b"&".join(parts)
    return made[Step.QUERY](text) if Step.QUERY in made else text


def _hash(facts: Facts, made: dict[Step, Any]) -> bytes:
    """What stands for the body hash, with some steps made otherwise."""
    body: bytes = made.get(Step.BODY, facts.body)
    digest = sha256(body).digest() if Step.BODY in made else b64decode(facts.hashed)
    return made[Step.HASH](body, digest) if Step.HASH in made else b64encode(digest)
