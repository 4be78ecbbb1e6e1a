"""Hints in messages: the key, the name or the notation that the author of a scenario probably meant."""

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final

from reseller_sim.formats import duration
from simulator.contract import schemas
from simulator.contract.files import yaml_document
from simulator.domain.model.likeness import nearest
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.syntax import ODD_BLANK


def suggestion(wrong: object, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` when a name in `known` is similar, else an empty text."""
    known = sorted(known) if isinstance(known, set | frozenset) else known  # a set has another order in each process
    likely = nearest(wrong, known) if isinstance(wrong, str) else ""
    return f" (did you mean {str(likely)!r}?)" if likely else ""


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """Return each key with its synonyms, from `contracts/synonyms.yaml`."""
    return {key: frozenset(words.split()) for key, words in yaml_document("synonyms").items()}


# The conditions that only faults have, in addition to the common conditions of all rules.
FAULTS_ONLY = ("path", "method", "query", "headers", "new")


def _synonym_of(wrong: str, known: Collection[str]) -> str:
    """Return the known key that has `wrong` as a synonym; empty without such a key."""
    word = wrong.lower().replace("-", "_").replace(" ", "_")
    return next((key for key, words in synonyms().items() if key in known and word in words), "")


_FIRST_WORD: Final = re.compile(r"([a-zA-Z_]+) *([:={\[]| )")


def _merged_with_value(key: str, value: object, known: Collection[str]) -> str:
    """Return the advice for a text that YAML takes for a key, since a blank, a colon or quotes are missing; empty for
    other keys."""
    if key == "<<":
        return "; YAML's merge keys are not supported: write the keys out"
    if ODD_BLANK.search(key):
        return "; it contains a character that is not an ordinary space: write one"
    first = _FIRST_WORD.match(key)
    if first and first[1] in known and (value is None or first[2] in "{["):
        return f"; write a colon and a space after {first[1]!r}"
    if value is None and (" " in key or not key[:1].isalpha()):
        return "; text with a comma within braces needs quotes"
    return ""


def _reason_of_absence(wrong: str, known: Collection[str]) -> str:
    """Return why this place lacks the key, for cases that no single synonym explains; empty without a reason."""
    if {"nth", "weekday"} <= set(known) and not {"when", *FAULTS_ONLY} & set(known) and not _synonym_of(wrong, known):
        key = wrong if wrong in FAULTS_ONLY else _synonym_of(wrong, FAULTS_ONLY)
        return f"; only faults have {key!r}" if key else ""
    if wrong == "refuse" and {"status", "requery"} <= set(known):
        return "; a refusal is not a list: write then: { refuse: … }"
    if wrong in ("timeline", "timelines", "steps") and {"refuse", "remarks"} <= set(known):
        return "; a timeline is written then: NAME, or as its steps: then: [{ status: Succesful }]"
    if {"payments", "faults"} <= set(known) and wrong in _definitions()["payment_rule"]["properties"]:
        return "; it belongs to a rule: indent it like the other keys of the rule"
    return ""


def unknown_key(key: str, value: object, members: Mapping[str, Any]) -> str:
    """Return the message about a key that is not among these members, with what was probably meant."""
    known = list(members)
    if hint := _merged_with_value(key, value, known):
        pass
    elif word := _synonym_of(key, known):
        hint = f" (did you mean {word!r}?)"
    elif hint := _reason_of_absence(key, known):
        pass
    elif owners := [name for name, member in members.items() if key in keys_of(member)]:
        place = f"{owners[0]!r}, as in" if len(owners) == 1 else "the value of another key, such as"
        hint = f": it belongs in {place} {owners[0]}: {{ {key}: … }}"
    elif owner := next((name for name, member in members.items() if key in keys_of(member.get("items", {}))), ""):
        code = "code: …, " if "code" in keys_of(members[owner]["items"]) and key != "code" else ""
        hint = f": it belongs in {owner!r}, as in {owner}: [{{ {code}{key}: … }}]"
    else:
        hint = suggestion(key, known)
    if not hint and known:
        hint = f"; the keys are {', '.join(known)}"
    return f"there is no key {shown(key)} here{hint}"


def keys_of(member: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys of a member that is an object by its definition."""
    name = member.get("$ref", "").rpartition("/")[2]
    keys: Mapping[str, Any] = _definitions().get(name, member).get("properties", {})
    return keys


def _definitions() -> Mapping[str, Any]:
    found: Mapping[str, Any] = schemas.schema(schemas.SCENARIO)["definitions"]
    return found


_UNITS: Mapping[str, str] = {
    **dict.fromkeys(("", "second", "sec"), "s"),
    **dict.fromkeys(("millisecond", "msec"), "ms"),
    **dict.fromkeys(("minute", "min"), "m"),
    **dict.fromkeys(("hour", "hr"), "h"),
    "day": "d",
}
_PERCENT: Final = re.compile(r"([0-9]{1,3})%?")
_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]{1,3})?)[ _-]*([a-z]*?)s?", re.IGNORECASE)


def notation_hint(key: object, value: object, wanted: str = "") -> str:
    """Return the correct notation for a value of this key, where `wanted` describes valid values; empty without one."""
    if wanted.startswith("a duration") and (span := _span(value)):
        return f"; write {span}" + (f" or {value}ms" if str(value).isdecimal() else "")
    if key == "chance" and (percent := _PERCENT.fullmatch(str(value))) and 1 < int(percent[1]) <= 100:
        return f"; a probability is at most 1: for {percent[1]} percent write {Decimal(percent[1]) / 100:f}"
    return ""


def _span(value: object) -> str:
    """Return the duration that a number, or a text with blanks or another unit, means; empty for other values."""
    joined = str(value).replace(" ", "").lower()
    with suppress(ValueError):
        return joined if duration(joined) > timedelta(0) else ""
    match = _SPAN.fullmatch(str(value)) if isinstance(value, str | int | Decimal) and value is not True else None
    unit = _UNITS.get(match[2].lower()) if match else None
    return f"{match[1]}{unit}" if match and unit else ""
