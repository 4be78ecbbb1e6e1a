"""The search for the mistakes behind a signature: one, or two of different places, of the table.

What it may cost is counted: each HMAC and the bytes that it hashes. It is made when somebody reads the journal, or asks
`explain`; the header of a response has what a short search finds (`short`). It tries the likeliest first, each single
mistake before any pair, so that a budget that does not suffice leaves out what hardly anybody does.
"""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.auth.autopsy import signatures
from simulator.auth.autopsy.algorithms import Reading
from simulator.auth.autopsy.candidates import Candidates, Trial
from simulator.auth.autopsy.facts import Facts, Parts
from simulator.auth.autopsy.mistakes import Found

HMACS_MAX = 60_000
"""HMACs of one whole search; of an ordinary request it makes half of them."""
HASHED_BYTES_MAX = 32 * 1024 * 1024
"""The bytes that they hash together, so that those of a long query or body are fewer."""
_HMAC_BYTES = 128  # two blocks, which each HMAC hashes beside its text
REFUSED_MAX = 500
"""So many texts may be too long for what is left of the bytes before the search ends."""


class Match(NamedTuple):
    """A string whose signature was sent: the mistakes that lead to it, none when it is right, the parts
    that should have been signed, and the string."""

    found: tuple[Found, ...]
    right: Parts
    string: bytes


class Spent(Exception):
    """The budget of a search is spent."""


class _Budget:
    def __init__(self, hmacs: int, hashed_bytes: int) -> None:
        self.hmacs, self.hashed_bytes, self.refused = hmacs, hashed_bytes, 0

    def allows(self, text: bytes, wanted: int) -> int:
        """How many HMACs of a text may be made, of so many; of shorter ones there may be more. Raises `Spent`."""
        size = len(text) + _HMAC_BYTES
        if wanted <= self.hmacs and wanted * size <= self.hashed_bytes:
            self.hmacs -= wanted
            self.hashed_bytes -= wanted * size
            return wanted
        if self.hmacs <= 0 or self.refused >= REFUSED_MAX:
            raise Spent
        count = min(self.hmacs, self.hashed_bytes // size)
        self.refused += 1
        self.hmacs -= count
        self.hashed_bytes -= count * size
        return count


def whole_search(facts: Facts) -> tuple[Match | None, bool]:
    """The fewest mistakes that explain a signature, and whether nothing was left untried for want of time."""
    budget = _Budget(HMACS_MAX, HASHED_BYTES_MAX)
    try:
        for reading, trials in _stages(facts):
            if match := _first(reading, trials, budget):
                return match, True
    except Spent:
        return None, False
    return None, not budget.refused


def _stages(facts: Facts) -> Iterator[tuple[Reading, Iterator[Trial]]]:
    """What is tried, one mistake before two; `one` and `two` read the header with so many mistakes by themselves."""
    made = Candidates(facts)
    read = signatures.readings(facts.signature)
    usual, one, two = ([each for each in read if len(each.found) == count] for count in range(3))
    yield from ((each, made.right()) for each in usual)
    yield from ((each, made.singles()) for each in usual)
    yield from ((each, made.right()) for each in one)
    yield from ((each, made.dear_singles()) for each in usual)
    yield from ((each, made.pairs()) for each in usual)
    yield from ((each, made.singles()) for each in one)
    yield from ((each, made.right()) for each in two)
    if not usual:  # as of hexadecimal digits, so that there is time for two mistakes of which one is the form
        yield from ((each, made.dear_singles()) for each in one)
    yield from ((each, made.pairs_of_other_forms()) for each in usual)


def _first(reading: Reading, trials: Iterator[Trial], budget: _Budget) -> Match | None:
    for possible_keys, texts in trials:
        keyed = [(reading.algorithm(key), how) for how, key in possible_keys]
        seen: set[bytes] = set()  # no more bytes than the budget has
        digest, is_equal = reading.digest, signatures.is_equal
        for text, found, right in texts:
            if text in seen:
                continue
            seen.add(text)
            for digest_of, how in keyed[: budget.allows(text, len(keyed))]:
                if is_equal(digest_of(text), digest):
                    return Match((*how, *found, *reading.found), right, text)
    return None
