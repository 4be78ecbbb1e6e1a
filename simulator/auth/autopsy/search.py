"""The search for the mistakes behind a signature: one, or two of different places, of the table.

What it may cost is counted: each HMAC and the bytes that it hashes. The header of a response has what a short search
finds, with single mistakes that cost little and that only the owner of the secret can have made. The whole search is
made when somebody reads the journal, or asks `explain`.
"""

import hmac
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

from simulator.auth.autopsy import bodies, keys, parts, queries, signatures, strings
from simulator.auth.autopsy.facts import Facts, Joining, Parts, Variant
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.autopsy.signatures import Reading
from simulator.auth.canonical import canonical_queries

MISTAKES_MAX = 2
HMACS_MAX = 40_000
"""HMACs of one whole search."""
HASHED_BYTES_MAX = 32 * 1024 * 1024
"""The bytes that they hash together, so that those of a long query or body are fewer."""
SHORT_HMACS_MAX = 150
SHORT_BYTES_MAX = 512 * 1024
"""The same of the short search."""
_HMAC_BYTES = 128  # two blocks, which each HMAC hashes beside its text
REFUSED_MAX = 500
"""So many texts may be too long for what is left of the bytes before the search ends."""
PAIRED_SECRETS_MAX = 20
"""So many other secrets are tried together with another mistake; each of them alone."""


_Made = Callable[[Facts], Iterator[Any]]
_TIMESTAMP, _NONCE, _METHOD, _QUERY, _BODY_HASH = range(5)
_COMMON_PARTS: tuple[tuple[int, _Made], ...] = (
    (_METHOD, parts.methods),
    (_QUERY, queries.queries),
    (_BODY_HASH, bodies.body_hashes),
    (_TIMESTAMP, parts.timestamps),
    (_NONCE, parts.nonces),
)
_RARE_PARTS: dict[int, _Made] = {
    _TIMESTAMP: parts.rare_timestamps,
    _NONCE: parts.rare_nonces,
    _METHOD: parts.rare_methods,
    _QUERY: queries.rare_queries,
    _BODY_HASH: bodies.rare_body_hashes,
}


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, and the string."""

    found: tuple[Found, ...]
    parts: Parts
    string: bytes


class Spent(Exception):
    """The budget of a search is spent."""


class _Budget:
    def __init__(self, hmacs: int, hashed_bytes: int) -> None:
        self.hmacs, self.hashed_bytes, self.refused = hmacs, hashed_bytes, 0

    def pays(self, text: bytes) -> bool:
        """False for a text that is too long for what is left; a shorter one may still be tried. Raises `Spent`."""
        size = len(text) + _HMAC_BYTES
        if self.hmacs <= 0 or self.refused >= REFUSED_MAX:
            raise Spent
        if size > self.hashed_bytes:
            self.refused += 1
            return False
        self.hmacs -= 1
        self.hashed_bytes -= size
        return True


class _Choice(NamedTuple):
    """A string to try: what it supposes, the key, the parts, and how they are joined."""

    found: tuple[Found, ...]
    key: bytes
    parts: Parts
    join: Callable[[Parts], bytes]


_Applied = Callable[[_Choice], _Choice]


def short_search(facts: Facts, digest: bytes) -> tuple[Found, ...]:
    """The single mistake that a signature shows, if it costs little to find and only the owner of the key's secret can
    have made it; `digest` is what the header decodes to. It is written for speed: each refusal waits for it."""
    reading = signatures.first_reading(digest)
    if reading is None:
        return ()
    rights = [one.parts for one in _rights(facts)]
    hmacs, hashed_bytes = SHORT_HMACS_MAX, SHORT_BYTES_MAX
    for found, key, text in _short(facts, rights, is_right_only=bool(reading.found)):
        hmacs -= 1
        hashed_bytes -= len(text)
        if hmacs < 0 or hashed_bytes < 0:
            break
        if hmac.compare_digest(reading.algorithm(key, text), reading.digest):
            return (*found, *reading.found)
    return ()


def _short(
    facts: Facts, rights: list[Parts], *, is_right_only: bool
) -> Iterator[tuple[tuple[Found, ...], bytes, bytes]]:
    """Mistakes, keys and texts to try."""
    key = facts.secret
    texts = [strings.right(right) for right in rights]
    for text in texts:
        yield (), key, text
    if is_right_only:
        return
    for found, value in keys.keys(facts):
        for text in texts:
            yield found, value, text
    for joining in strings.joinings(facts):
        for right in rights:
            yield joining.found, key, joining.join(right)
    for at, variants in _COMMON_PARTS:
        around = [_around(right, at) for right in (rights[:1] if at == _QUERY else rights)]
        right_values = [right[at] for right in rights]
        for found, value in variants(facts):
            if value not in right_values:
                for head, tail in around:
                    yield found, key, head + value + tail


def _around(right: Parts, at: int) -> tuple[bytes, bytes]:
    """The canonical string before and behind a part."""
    return b":".join((b"v1", *right[:at], b"")), b":".join((b"", *right[at + 1 :]))


def whole_search(facts: Facts) -> tuple[Match | None, bool]:
    """The fewest mistakes that explain a signature, and whether nothing was left untried for want of time."""
    budget = _Budget(HMACS_MAX, HASHED_BYTES_MAX)
    read = signatures.readings(facts.signature)
    space = _Space(facts)
    try:
        for count in range(MISTAKES_MAX + 1):
            for reading in read:
                depth = count - len(reading.found)
                if depth >= 0 and (match := _first(reading, space.choices(depth, is_usual=not reading.found), budget)):
                    return match, True
    except Spent:
        return None, False
    return None, not budget.refused


def _first(reading: Reading, choices: Iterator[_Choice], budget: _Budget) -> Match | None:
    seen: set[tuple[bytes, bytes]] = set()
    for choice in choices:
        text = choice.join(choice.parts)
        if (choice.key, text) in seen or not budget.pays(text):
            continue
        seen.add((choice.key, text))  # no more bytes than the budget has
        if hmac.compare_digest(reading.algorithm(choice.key, text), reading.digest):
            return Match((*choice.found, *reading.found), choice.parts, text)
    return None


class _Space:
    """The choices of a whole search; what it needs of the request is worked out once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._rights = _rights(facts)
        self._usual: list[list[_Applied]] = []

    def choices(self, depth: int, *, is_usual: bool) -> Iterator[_Choice]:
        """Those with so many mistakes; what is dear only if the header `is_usual`, so that they are the only ones."""
        if depth == 0:
            return iter(self._rights)
        self._usual = self._usual or _places(self._facts)
        return self._singles(has_dear=is_usual) if depth == 1 else self._pairs()

    def _singles(self, *, has_dear: bool) -> Iterator[_Choice]:
        facts = self._facts
        others = list(keys.other_keys(facts))
        dear = (
            map(_with_key, others),
            map(_joined, strings.dear_joinings(facts)),
            (_with_part(_QUERY, one) for one in queries.dear_queries(facts)),
            (_with_part(_BODY_HASH, one) for one in bodies.dear_body_hashes(facts)),
            (_with_part(_TIMESTAMP, one) for one in parts.dear_timestamps(facts)),
        )
        for change in chain(*self._usual, *(dear if has_dear else dear[:1])):
            for right in self._rights:
                yield change(right)

    def _pairs(self) -> Iterator[_Choice]:
        """Two places together; of milliseconds each with the commonest mistake only."""
        others = list(keys.other_keys(self._facts))[: 2 * PAIRED_SECRETS_MAX]
        first, *rest = self._usual
        for one, another in combinations([[*first, *map(_with_key, others)], *rest], 2):
            for change in one:
                for other in another:
                    for right in self._rights[:1]:
                        yield other(change(right))
        as_text = _with_key(next(keys.keys(self._facts)))
        for moment in parts.milliseconds(self._facts):
            yield _with_part(_TIMESTAMP, moment)(as_text(self._rights[0]))


def _rights(facts: Facts) -> list[_Choice]:
    forms = canonical_queries(facts.query, facts.rules) if facts.query else [b""]
    made = (Parts(facts.timestamp, facts.nonce, facts.method, form, facts.hashed) for form in forms)
    return [_Choice((), facts.secret, one, strings.right) for one in made]


def _places(facts: Facts) -> list[list[_Applied]]:
    """For each place the changes that a mistake there makes, the common ones first; the key's place comes first."""
    made: list[tuple[Callable[[Any], _Applied], _Made, _Made]] = [
        (_with_key, keys.keys, keys.rare_keys),
        (_joined, strings.joinings, strings.rare_joinings),
        *((partial(_with_part, at), common, _RARE_PARTS[at]) for at, common in _COMMON_PARTS),
    ]
    return [[change(one) for one in chain(common(facts), rare(facts))] for change, common, rare in made]


def _with_key(one: Variant) -> _Applied:
    return lambda choice: _Choice((*choice.found, *one.found), one.value, choice.parts, choice.join)


def _joined(one: Joining) -> _Applied:
    return lambda choice: _Choice((*choice.found, *one.found), choice.key, choice.parts, one.join)


def _with_part(at: int, one: Variant) -> _Applied:
    def change(choice: _Choice) -> _Choice:
        changed = Parts._make((*choice.parts[:at], one.value, *choice.parts[at + 1 :]))
        return _Choice((*choice.found, *one.found), choice.key, changed, choice.join)

    return change
