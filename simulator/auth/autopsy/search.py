"""The table of known mistakes, and the search for a mistake that explains a signature, or for two of different steps.

It signs the request as clients with each mistake do, single mistakes before pairs, and compares. It has a budget.
"""

import hmac
from collections.abc import Callable, Iterator
from itertools import chain, combinations, islice, product
from typing import Any, NamedTuple

from simulator.auth.autopsy import body_mistakes, key_mistakes, query_mistakes, string_mistakes
from simulator.auth.autopsy.key_mistakes import DIGEST_BYTES_MIN
from simulator.auth.autopsy.signing_steps import Facts, Parts, Signing, Way, Ways, signings
from simulator.auth.canonical import decoded, hmac_sha256
from simulator.auth.form import PREFIX
from simulator.auth.signature import SIGNATURE_BYTES_MAX

MISTAKES = (*key_mistakes.MISTAKES, *string_mistakes.MISTAKES, *query_mistakes.MISTAKES,
            *body_mistakes.MISTAKES)  # fmt: skip
"""Two mistakes that are found together are reported in this order; within a step, the likeliest comes first."""
BY_ID = {mistake.id: mistake for mistake in MISTAKES}
WITHOUT_SECRET = frozenset(
    {
        "secret-is-api-key",
        "secret-is-empty",
        "secret-is-literal",
        "secret-of-another",
        "secret-replaced",
        "hash-without-secret",
    }
)
"""Mistakes that a client can make without the key's secret. Only readers of the journal see them."""
HMACS_MAX = 100_000
"""The budget of a search, in HMACs; each hashed KiB, and every eighth parameter of the query, costs one more."""
LOOP_HMACS_MAX = 1500
"""The budget while a refusal waits on the event loop: about 11 ms, enough for nearly all single mistakes."""
_TRIED_FIRST = 24  # ways of each mistake that are tried before further ways of any; also ways of a pair
_TRIED_LATER = (240, 2760)  # further ways of each mistake, in two rounds


class SignatureReading(NamedTuple):
    """One way to read X-Signature: it implies the mistakes `found`, and `of` makes `sent` from a digest."""

    found: Ways
    sent: bytes
    of: Callable[[bytes], bytes] = bytes

    def is_of(self, digest: bytes) -> bool:
        """Return whether this digest was sent."""
        return hmac.compare_digest(self.of(digest), self.sent)


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, the parts that should
    have been signed, and the string."""

    found: tuple[Way, ...]
    right: Parts
    string: bytes


def search(facts: Facts, hmacs_max: int = HMACS_MAX) -> tuple[Match | None, bool]:
    """Return the fewest mistakes that explain a signature, and whether the budget sufficed to try all."""
    weight = 1 + facts.query.count(b"&") // 8
    if weight > hmacs_max:  # sorting the parameters alone would take too long
        return None, False
    read = readings(facts)
    for signing, ways in candidates(facts):
        string = signing.string(ways)
        changed = [way.make for way in ways if way.step == "body"]
        hmacs_max -= weight + sum(map(len, (string, *changed))) // 1024
        if hmacs_max < 0:
            return None, False
        digest = digest_of(facts.secret, ways, string)
        for reading in read:
            if reading.is_of(digest):
                return Match((*ways, *reading.found), signing.parts, string), True
    return None, True


def candidates(facts: Facts) -> Iterator[tuple[Signing, Ways]]:
    """Yield the strings that clients may have signed: without a mistake, with each mistake, then with two mistakes."""
    accepted = signings(facts)
    each = [mistake.ways(facts) for mistake in MISTAKES if mistake.step not in _READ_STEPS]
    first: list[Ways] = []
    for signing in accepted:
        yield signing, ()
    for ways in each:
        first.append(tuple(islice(ways, _TRIED_FIRST)))
        yield from ((signing, (way,)) for way in first[-1] for signing in accepted)
    for count, ways in product(_TRIED_LATER, reversed(each)):  # reversed: thousands of timestamps come last
        yield from ((signing, (way,)) for way in islice(ways, count) for signing in accepted)
    for signing, (some, others) in product(accepted, combinations(filter(None, first), 2)):
        for pair in islice(product(some, others), _TRIED_FIRST):
            if pair[0].step != pair[1].step:
                yield signing, pair


def digest_of(secret: bytes, ways: Ways, string: bytes) -> bytes:
    """Return the digest of a string, with the key and the algorithm of these ways, else `secret` and HMAC-SHA256."""
    algorithm = hmac_sha256
    for way in ways:
        if way.step == "key":
            secret = way.make
        elif way.step == "algorithm":
            algorithm = way.make
    return algorithm(secret, string)


def readings(facts: Facts) -> list[SignatureReading]:
    """Return every way to read the header with at most two mistakes, those with the fewest first."""
    values: dict[Any, Ways] = {facts.signature[:SIGNATURE_BYTES_MAX]: ()}
    for step, right in _READ_STEPS.items():
        read: dict[Any, Ways] = {}
        makes = [((), right), *(((way,), way.make) for way in ways_of(facts, step))]
        for (value, found), (more, make) in product(values.items(), makes):
            if result := make(value):
                read.setdefault(result, (*more, *found))
        values = read
    found = (
        SignatureReading(ways, *(value if isinstance(value, tuple) else (value,))) for value, ways in values.items()
    )
    whole = (reading for reading in found if len(reading.found) <= 2 and len(reading.sent) >= DIGEST_BYTES_MIN)
    return sorted(whole, key=lambda reading: len(reading.found))


def _unprefixed(value: bytes) -> bytes | None:
    is_right = value.startswith(PREFIX) and not value.startswith(PREFIX * 2)
    return value.removeprefix(PREFIX) if is_right else None


_READ_STEPS: dict[str, Callable[[bytes], bytes | None]] = {
    "wrapping": bytes, "prefix": _unprefixed, "encoding": decoded,
}  # fmt: skip
"""The steps from X-Signature back to a digest, each with the right way to do it."""


def ways_of(facts: Facts, *steps: str) -> Iterator[Way]:
    """Yield all ways of the mistakes in these steps."""
    return chain.from_iterable(mistake.ways(facts) for mistake in MISTAKES if mistake.step in steps)
