"""The table of known mistakes, and the search for a mistake that explains a signature, or for two of different steps.

It signs the request as clients with each mistake do, single mistakes before pairs, and compares. One budget bounds it.
"""

import hmac
from binascii import b2a_base64
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import chain, combinations, islice, product
from typing import NamedTuple

from simulator.auth.autopsy import body_mistakes, key_mistakes, query_mistakes, string_mistakes
from simulator.auth.autopsy.signing_steps import Facts, Parts, Signing, Way, Ways, signings
from simulator.auth.canonical import hmac_sha256
from simulator.auth.form import DIGEST_CHARACTERS, PREFIX
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
"""HMACs of a whole search; each KiB that is hashed, and each eighth parameter of the query, counts as one more."""
LOOP_HMACS_MAX = 3300
"""The same for a search that a refusal waits for on the event loop: about 15 ms, enough
for nearly all single mistakes."""
_TRIED_FIRST = 24  # ways of a mistake that are tried before the rest of others; and of two mistakes together
_TRIED_LATER = (240, 2760)  # further ways of each, in two rounds
_EXAMPLES = tuple((sha256(b"").digest() * 2)[:size] for size in (32, 16, 20, 48, 64))

Candidate = tuple[Signing, Ways, bytes]


class SignatureReading(NamedTuple):
    """One way to read X-Signature: the text that a digest is `written` as, and the mistakes that it supposes."""

    found: tuple[Way, ...]
    sent: bytes
    written: Callable[[bytes, bytes], bytes]

    def is_of(self, digest: bytes) -> bool:
        """Return whether this digest was sent."""
        return hmac.compare_digest(self.written(digest, self.sent), self.sent)


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, the parts that should
    have been signed, and the string."""

    found: tuple[Way, ...]
    right: Parts
    string: bytes


def search(facts: Facts, hmacs_max: int = HMACS_MAX) -> tuple[Match | None, bool]:
    """Return the fewest mistakes that explain a signature, and whether the budget sufficed to try all."""
    weight = 1 + facts.query.count(b"&") // 8
    if weight > hmacs_max:  # even to sort them takes long
        return None, False
    read = readings(facts)
    for signing, ways, string in candidates(facts):
        changed = [way.make for way in ways if way.step == "body"]
        hmacs_max -= weight + sum(map(len, (string, *changed))) // 1024
        if hmacs_max < 0:
            return None, False
        digest = digest_of(facts.secret, ways, string)
        for reading in read:
            if reading.is_of(digest):
                return Match((*ways, *reading.found), signing.parts, string), True
    return None, True


def candidates(facts: Facts) -> Iterator[Candidate]:
    """Yield the strings that clients may have signed: without a mistake, with each mistake, then with two mistakes."""
    accepted = signings(facts)
    table = [mistake for mistake in MISTAKES if mistake.step not in ("encoding", "wrapping", "prefix")]
    ways = [mistake.ways(facts) for mistake in table]
    tried: list[tuple[Way, ...]] = []
    for signing in accepted:
        yield signing, (), signing.string(())
    for each in ways:
        tried.append(tuple(islice(each, _TRIED_FIRST)))
        yield from ((signing, (way,), signing.string((way,))) for way in tried[-1] for signing in accepted)
    for count, each in product(_TRIED_LATER, reversed(ways)):  # thousands of timestamps last
        yield from ((signing, (way,), signing.string((way,))) for way in islice(each, count) for signing in accepted)
    paired = [some for some in tried if some]
    for signing in accepted:
        for one, other in combinations(paired, 2):
            for pair in islice(product(one, other), _TRIED_FIRST):
                if pair[0].step != pair[1].step:
                    yield signing, pair, signing.string(pair)


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
    encodings = [
        ((), lambda digest, _: b2a_base64(digest, newline=False)),
        *(((way,), way.make) for way in ways_of(facts, "encoding")),
    ]
    found: dict[tuple[bytes, bytes], SignatureReading] = {}
    header = facts.signature[:SIGNATURE_BYTES_MAX]
    for wrapping, value in _undone(facts, "wrapping", header, header):
        is_right = value.startswith(PREFIX) and not value.startswith(PREFIX * 2)
        for prefix, sent in _undone(facts, "prefix", value, value.removeprefix(PREFIX) if is_right else None):
            examples = _EXAMPLES[:1] if len(sent) == DIGEST_CHARACTERS else _EXAMPLES
            for encoding, written in encodings:
                how, texts = (*encoding, *wrapping, *prefix), [written(example, sent) for example in examples]
                if len(how) <= 2 and sent and len(sent) in map(len, texts):
                    found.setdefault((sent, texts[0]), SignatureReading(how, sent, written))
    return sorted(found.values(), key=lambda reading: len(reading.found))


def ways_of(facts: Facts, *steps: str) -> Iterator[Way]:
    """Yield all ways of the mistakes in these steps."""
    return chain.from_iterable(mistake.ways(facts) for mistake in MISTAKES if mistake.step in steps)


def _undone(facts: Facts, step: str, value: bytes, right: bytes | None) -> Iterator[tuple[Ways, bytes]]:
    """Yield the content of an encoded value: `right`, decoded without a mistake, then decoded by each mistake."""
    if right is not None:
        yield (), right
    for way in ways_of(facts, step):
        made = way.make(value)
        if made is not None and made != right:
            yield (way,), made
