"""Synonyms of keys, as testers who know other tools write them, for suggestions in messages."""

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import cache
from typing import Final

from simulator.contract.files import yaml_document


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """Return each key with its synonyms, from `contracts/synonyms.yaml`."""
    return {key: frozenset(words.split()) for key, words in yaml_document("synonyms").items()}


# The conditions that only faults have, in addition to the common conditions of all rules.
FAULTS_ONLY = ("path", "method", "query", "headers", "new")

# Values in a foreign notation: the key, the value's ending, and the correct notation.
NOTES: tuple[tuple[str, str, str], ...] = (
    ("min", "outstanding", "write more_than: outstanding"),
    ("max", "outstanding", "only more_than takes 'outstanding'"),
    ("weight", "%", "weights are plain numbers"),
    ("chance", "%", "a probability is a number such as 0.1"),
)


def meant(wrong: str, known: Collection[str]) -> str:
    """Return the known key that has `wrong` as a synonym; empty without such a key."""
    word = wrong.lower().replace("-", "_").replace(" ", "_")
    return next((key for key, words in synonyms().items() if key in known and word in words), "")


def explained(wrong: str, known: Collection[str]) -> str:
    """Return why this place lacks the key, for cases that no single synonym explains; empty without an explanation."""
    if {"nth", "weekday"} <= set(known) and not {"when", *FAULTS_ONLY} & set(known) and not meant(wrong, known):
        key = wrong if wrong in FAULTS_ONLY else meant(wrong, FAULTS_ONLY)
        return f"; only faults have {'it' if key == wrong else repr(key)}" if key else ""
    if wrong == "refuse" and {"status", "requery"} <= set(known):
        return "; a refusal is not a list: write then: { refuse: … }"
    return ""


_UNITS: Mapping[str, str] = {"millisecond": "ms", "msec": "ms", "hour": "h", "hr": "h", "day": "d"} | {
    **dict.fromkeys(("second", "sec", "s"), "s"),
    **dict.fromkeys(("minute", "min"), "m"),
    **{unit: unit for unit in ("ms", "m", "h", "d")},
}
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]{1,3})?)[ _-]*([a-z]*?)s?", re.IGNORECASE)


def noted(key: object, value: object, wanted: str = "") -> str:
    """Return the correct notation for a value of this key, where `wanted` describes valid values; empty without a
    suggestion."""
    found = [text for of, end, text in NOTES if of == key and isinstance(value, str) and value.endswith(end)]
    if wanted.startswith("a duration") and (span := _span(value)):
        found.append(f"write {span}")
    if key == "chance" and isinstance(value, int) and 1 < value <= 100:
        found.append(f"a probability is at most 1: for {value} percent write {Decimal(value) / 100:f}")
    return "".join(f"; {text}" for text in found)


def _span(value: object) -> str:
    """Return the duration that a number or a text with another unit means; empty for other values."""
    match = _SPAN.fullmatch(str(value)) if isinstance(value, str | int | Decimal) and value is not True else None
    unit = _UNITS.get(match[2].lower() or "s") if match else None
    return f"{match[1]}{unit}" if match and unit else ""
