"""Similarity of names, for suggestions of the intended name."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from os.path import commonprefix

# Comparing takes some microseconds a name; of many names, those with the longest common beginning are compared.
COMPARED_MAX = 100
CHARS_MAX = 64
LIKENESS_MIN = 0.66
BEGINS_ALIKE = 0.85
CONTAINS = 0.8
_PARTS = re.compile(r"[^_\-. /]+")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known name that is most similar to `word`, ignoring case; empty without a similar name."""
    by_folded = {name.casefold(): name for name in islice(known, 50 * COMPARED_MAX)}
    folded = word.strip().casefold()
    if folded in by_folded or not folded or len(folded) > CHARS_MAX:
        return by_folded.get(folded, "")
    names = tuple(by_folded)
    if len(names) > COMPARED_MAX:
        names = tuple(nlargest(COMPARED_MAX, names, lambda name: len(commonprefix((folded, name)))))  # noqa: RUF071
    return by_folded.get(_most_alike(folded, names), "")


@lru_cache(maxsize=256)
def _most_alike(word: str, names: tuple[str, ...]) -> str:
    best = max(names, key=lambda name: likeness(word, name), default="")
    return best if likeness(word, best) >= LIKENESS_MIN else ""


def likeness(word: str, name: str) -> float:
    """Return the similarity of two names, from 0 to 1. `low_balance` is more similar to `low_balance_threshold`, which
    begins with it, than to `balance`, a part of it."""
    ratio = SequenceMatcher(None, name, word).ratio()
    shorter, longer = sorted((_PARTS.findall(word), _PARTS.findall(name)), key=len)
    if sum(map(len, shorter)) >= 4:
        if longer[: len(shorter)] == shorter:
            return max(BEGINS_ALIKE, ratio)
        if any(longer[at : at + len(shorter)] == shorter for at in range(len(longer))):
            return max(CONTAINS, ratio)
    return ratio
