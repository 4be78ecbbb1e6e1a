"""Values made from a schema of the contract: mostly such as it accepts, and changed ones that it mostly refuses."""

import re
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

from simulator.contract.schemas import Schema, at_pointer, schema

Words = dict[str, list[str]]

DEPTH_MAX = 8
_COMBINING = ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else")
EXACT_MAX = 2**53  # the fast validators compare a larger number with a fraction, even .0, as the nearest double
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 10**30, Decimal("0.5"), Decimal("10.0"), Decimal("1e-9"), Decimal("-1e40"), "", "0",
    "x", "-1", "10.00", "true", "\n", "a\n", "2026-11-21", "é" * 60, "٣", "\ufeff", "\x1f", "\u2028", "\U0001f600" * 99,
    "10.0.0.0/8", [], [None], {}, {"": None}, {"code": "x"},
)  # fmt: skip


@cache
def absolute(name: str) -> Schema:
    """The schema of this name with every reference made absolute. Do not modify it."""
    made: Schema = _absolute(schema(name), name)
    return made


def _absolute(part: Any, name: str) -> Any:
    if isinstance(part, list):
        return [_absolute(each, name) for each in part]
    if not isinstance(part, dict):
        return part
    made = {key: _absolute(each, name) for key, each in part.items()}
    if isinstance(made.get("$ref"), str):
        file, _, pointer = made["$ref"].partition("#")
        made["$ref"] = f"{file or name + '.json'}#{pointer}"
    return made


def referred(ref: str) -> Schema:
    """The schema that an absolute reference leads to."""
    file, _, pointer = ref.partition("#")
    found: Schema = at_pointer(absolute(file.removeprefix("../").removesuffix(".json")), pointer)
    return found


def patterns(part: Any, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the patterns of a schema and of the schemas that it references."""
    if isinstance(part, list):
        return set().union(*(patterns(each, seen) for each in part))
    if not isinstance(part, dict):
        return set()
    found = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    ref = part.get("$ref")
    if isinstance(ref, str) and ref not in seen:
        found |= patterns(referred(ref), seen | {ref})
    return found.union(*(patterns(each, seen) for each in part.values()))


FORMATTED = {
    "ip-network": ("10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"),
    "date-time": ("2026-11-21T04:00:00.000Z", "2026-11-21T04:00:00.123456Z", "2028-02-29T23:59:59.999Z"),
    "uuid": ("6b7a0c1e-29d4-4f5e-8a3b-0123456789ab",),
    "uri": ("http://127.0.0.1:8080/s/default",),
}
"""Texts with each format."""

MALFORMED = (
    *("10.0.0.300", "10.0.0.0/33", "2027-02-29T00:00:00.000000Z", "2026-13-01T00:00:00.000Z"),
    *("2026-11-21T24:00:00.000Z", "2026-11-21T04:00:00", "6b7a0c1e-29d4-4f5e-8a3b-0123456789a"),
    *("/s/default", "http://a b"),
)


class Maker:
    """Makes values by chance; `words` has strings for each pattern."""

    def __init__(self, chance: Random, words: Words) -> None:
        self._chance = chance
        self._words = words

    def value(self, wanted: Any, depth: int = 0) -> Any:
        """Return a value for the schema `wanted`, as far as a single pass allows."""
        if not isinstance(wanted, dict):
            return self._chance.choice(ODD)
        wanted = self._flat(wanted)
        if "const" in wanted:
            return wanted["const"]
        if "enum" in wanted:
            return self._chance.choice(wanted["enum"])
        types = wanted.get("type") or ("object" if "properties" in wanted else "string" if "pattern" in wanted else "")
        kind = types if isinstance(types, str) else self._chance.choice(types)
        match kind:
            case "object":
                return self._object(wanted, depth)
            case "array":
                return self._array(wanted, depth)
            case "string":
                return self._string(wanted)
            case "number" | "integer":
                return self._number(wanted, kind)
            case "boolean":
                return self._chance.random() < 0.5
            case "null":
                return None
            case _:
                return self._chance.choice(ODD)

    def changed(self, value: Any) -> Any:
        """The value with one place changed."""
        if isinstance(value, dict) and value and self._chance.random() < 0.8:
            name = self._chance.choice(list(value))
            rest = {key: each for key, each in value.items() if key != name}
            if self._chance.random() < 0.25:
                return rest
            return value | {name: self.changed(value[name])}
        if isinstance(value, list) and value and self._chance.random() < 0.8:
            place = self._chance.randrange(len(value))
            return [*value[:place], self.changed(value[place]), *value[place + 1 :]]
        return self._other(value)

    def _other(self, value: Any) -> Any:
        near: list[Any] = [self._chance.choice(ODD)]
        if isinstance(value, str):
            near += [value + "\n", value[1:], value[:-1], value * 50, f" {value}", value.upper()]
        elif isinstance(value, dict):
            near.append(value | {"unknown": self._chance.choice(ODD)})
        elif isinstance(value, list):
            near += [value * 2, [*value, self._chance.choice(ODD)]]
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            near += [value + 1, value - 1, -value, str(value), Decimal(value) / 10, Decimal(value).scaleb(20)]
        return self._chance.choice(near)

    def _flat(self, wanted: Schema) -> Schema:
        """The schema with references, `allOf`, one branch of `anyOf` or `oneOf` and perhaps `then` merged into it."""
        merged = {key: part for key, part in wanted.items() if key not in _COMBINING}
        parts: list[Any] = list(wanted.get("allOf", ()))
        if "$ref" in wanted:
            parts.append(referred(wanted["$ref"]))
        parts += [self._chance.choice(wanted[choice]) for choice in ("anyOf", "oneOf") if choice in wanted]
        if "then" in wanted and self._chance.random() < 0.5:
            parts.append(wanted["then"])
        if "else" in wanted and self._chance.random() < 0.9:
            parts.append(wanted["else"])
        for part in parts:
            merged = _merged(merged, self._flat(part))
        return merged

    def _object(self, wanted: Schema, depth: int) -> dict[str, Any]:
        known = wanted.get("properties", {})
        required = set(wanted.get("required", ()))
        likely = 0.5 if depth < DEPTH_MAX else 0
        made = {
            name: self.value(part, depth + 1)
            for name, part in known.items()
            if name in required or self._chance.random() < likely
        }
        others = wanted.get("additionalProperties")
        low = max(wanted.get("minProperties", 0) - len(made), 1 if isinstance(others, dict) else 0)
        names = wanted.get("propertyNames", {"type": "string", "maxLength": 8})
        for _ in range(low):
            made[self.value(names)] = self.value(others, depth + 1)
        return made

    def _array(self, wanted: Schema, depth: int) -> list[Any]:
        low = wanted.get("minItems", 0)
        high = min(wanted.get("maxItems", low + 2), low + 2) if depth < DEPTH_MAX else low
        return [self.value(wanted.get("items"), depth + 1) for _ in range(self._chance.randint(low, high))]

    def _string(self, wanted: Schema) -> str:
        if wanted.get("format") in FORMATTED:
            fitting = [one for one in FORMATTED[wanted["format"]] if re.search(wanted.get("pattern", ""), one)]
            return self._chance.choice(fitting if self._chance.random() < 0.97 else MALFORMED)
        if "pattern" in wanted:
            return self._chance.choice(self._words[wanted["pattern"]])
        low = wanted.get("minLength", 0)
        high = min(wanted.get("maxLength", 12), low + 12)
        if self._chance.random() < 0.1:
            high = low = wanted.get("maxLength", low)
        return "".join(self._chance.choices("aZ09 -_.é\U0001f600", k=self._chance.randint(low, high)))

    def _number(self, wanted: Schema, kind: str) -> int | Decimal:
        low = int(wanted["minimum"] if "minimum" in wanted else wanted.get("exclusiveMinimum", -100))
        high = int(wanted.get("maximum", max(low, 0) + 1000))
        number = self._chance.choice((low, high, self._chance.randint(low, high)))
        if abs(number) >= EXACT_MAX or (kind == "integer" and self._chance.random() < 0.8):
            return number
        return number + Decimal(self._chance.choice(("0", "0.0", "0.25", "0.000000001")))


def _merged(one: Schema, other: Schema) -> Schema:
    properties = dict(one.get("properties", {}))
    for name, part in other.get("properties", {}).items():
        properties[name] = {"allOf": [properties[name], part]} if name in properties else part
    required = [*one.get("required", ()), *other.get("required", ())]
    return one | other | {"properties": properties, "required": required} if properties or required else one | other
