"""Validates values against the contract's schemas, and explains violations in words.

A schema's `x-must-be` finishes the sentence "must be ..."; without it, the sentence states its bounds.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from simulator.contract.schemas import BASE_URI, Schema, at_pointer, compiled, schema, schema_at
from simulator.short_text import shortened

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

PROBLEMS_MAX = 20

# Each problem has a copy of its value, so explaining a large value would take seconds.
EXPLAINED_SIZE_MAX = 20_000
_CHARS_PER_UNIT = 64

_NOUNS = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "object": "an object",
    "array": "a list",
    "boolean": "true or false",
    "null": "null",
}
_OF_OBJECTS = ("required", "additionalProperties", "propertyNames", "anyOf", "oneOf")
_SIZES = (
    ("minLength", "maxLength", "character"),
    ("minItems", "maxItems", "item"),
    ("minProperties", "maxProperties", "member"),
)


class Validator:
    """One compiled schema. `is_valid(value)` is the fast check; values are decoded by `contract.body`."""

    __slots__ = ("_errors", "_first", "_source", "evaluate", "is_valid")

    def __init__(self, source: Schema) -> None:
        checker = compiled(source)
        self._source = source
        self._errors = checker.iter_errors
        self._first = checker.validate
        self.is_valid, self.evaluate = checker.is_valid, checker.evaluate

    def problems(self, value: Any, *, explain_large: bool = False) -> dict[str, list[str]]:
        """Readable texts by where they apply: a member's name, dotted when nested, "" for the whole value.

        A text continues the name: `amount` "is required". Values are never repeated, and there are at most
        `PROBLEMS_MAX` of them. A large value is not explained unless `explain_large`, and then by its first items and
        members, or by its first problem when it lies later.
        """
        if self.is_valid(value):
            return {}
        if not explain_large and _is_large(value):
            return {"": ["is not acceptable, and too large to say why"]}
        found: dict[str, list[str]] = {}
        errors = list(islice(self._some_errors(value) if explain_large else self._errors(value), PROBLEMS_MAX))
        explained = (
            pair for error in errors if not self._is_said_below(error, errors) for pair in self._explained(error)
        )
        for path, text in islice(explained, PROBLEMS_MAX):
            texts = found.setdefault(path, [])
            if text not in texts:
                texts.append(text)
        return found

    def _some_errors(self, value: Any) -> Iterator["ValidationError"]:
        """Errors of the beginning of a value that is not valid, or else the first of the whole: `iter_errors` makes all
        of them before it gives the first, with a copy of what is wrong in each."""
        from jsonschema_rs import ValidationError  # imported lazily, as the validator is

        if not self.is_valid(part := beginning(value)):
            yield from self._errors(part)
            return
        try:
            self._first(value)
        except ValidationError as error:
            yield error

    def _is_said_below(self, error: "ValidationError", errors: list["ValidationError"]) -> bool:
        """Return whether another error names the invalid part of a value, while this error only says that no
        alternative fits."""
        if error.kind.name not in ("anyOf", "oneOf") or _alternatives(self._holder(error)):
            return False
        path = error.instance_path
        return any(len(one.instance_path) > len(path) and one.instance_path[: len(path)] == path for one in errors)

    def _explained(self, error: "ValidationError") -> Iterator[tuple[str, str]]:
        path = error.instance_path
        keyword = error.kind.name
        if keyword == "required":
            yield _dotted([*path, error.kind.as_dict()["property"]]), "is required"
        elif keyword == "additionalProperties":
            known = ", ".join(self._holder(error).get("properties", {}))
            for name in error.kind.as_dict()["unexpected"]:
                yield _dotted([*path, name]), f"is unknown; known: {known}"
        elif keyword == "anyOf" and (names := _alternatives(self._holder(error))):
            yield _dotted(path), f"needs {' or '.join(names)}"
        elif keyword == "propertyNames":
            wanted = self._holder(error)["propertyNames"]
            yield _dotted(path), f"has a member whose name {expectation(wanted)}"
        elif keyword in ("anyOf", "oneOf") and "x-must-be" not in self._holder(error) and (meant := self._meant(error)):
            yield from meant
        else:
            yield _dotted(path), expectation(self._holder(error))

    def _meant(self, error: "ValidationError") -> list[tuple[str, str]]:
        """Return the problems by the alternative that a value was meant to be, judged by its members, or the members
        that it needs.

        Empty when it has the type of none.
        """
        path = error.instance_path
        of_its_type = [
            errors
            for errors in error.kind.as_dict().get("context", ())
            if all(violation.instance_path != path or violation.kind.name in _OF_OBJECTS for violation in errors)
        ]
        begun = [errors for errors in of_its_type if not self._is_all_missing(errors)]
        closest = min(map(_missing_count, begun or of_its_type), default=0)
        near = [errors for errors in begun if _missing_count(errors) == closest] or of_its_type
        is_missing = (one.kind.name == "required" and one.instance_path == path for errors in near for one in errors)
        if len(near) > 1 and all(is_missing):
            needs = (" and ".join(violation.kind.as_dict()["property"] for violation in errors) for errors in near)
            return [(_dotted(path), f"needs {' or '.join(needs)}")]
        return [pair for errors in sorted(near, key=len)[:1] for one in errors for pair in self._explained(one)]

    def _is_all_missing(self, errors: list["ValidationError"]) -> bool:
        missing = [error for error in errors if error.kind.name == "required"]
        return bool(missing) and len(missing) == len(self._holder(missing[0])["required"])

    def _holder(self, error: "ValidationError") -> Schema:
        """Return the schema that has the failed keyword."""
        file, is_located, pointer = (error.absolute_keyword_location or "").rpartition("/")[0].partition("#")
        if file not in ("", BASE_URI):
            holder = schema_at(f"{file}#{pointer}")
        elif is_located:  # in a schema that is in no file
            holder = at_pointer(self._source, pointer)
        else:
            holder = at_pointer(self._source, "".join(f"/{token}" for token in error.schema_path[:-1]))
        return holder if isinstance(holder, dict) else {}


def _missing_count(errors: list["ValidationError"]) -> int:
    return sum(error.kind.name == "required" for error in errors)


@cache
def validator(name: str) -> Validator:
    """Return the validator of `contracts/schemas/NAME.json`, compiled at its first use."""
    return Validator(schema(name))


def _alternatives(wanted: Schema) -> list[str]:
    """Return the names of the members if an object needs at least one; empty if its schema has other alternatives."""
    needed = [name for each in wanted.get("anyOf", ()) for name in each.get("required", ())]
    is_about_members = all(each.keys() <= {"required", "properties"} for each in wanted.get("anyOf", ()))
    return [name for name in wanted.get("properties", needed if is_about_members else ()) if name in needed]


def expectation(wanted: Schema) -> str:
    """Return the requirement of a schema, as "must be ..."."""
    if "x-must-be" in wanted:
        return f"must be {wanted['x-must-be']}"
    if "enum" in wanted:
        return f"must be one of {', '.join(str(each) for each in wanted['enum'] if each not in ('', None))}"
    if "const" in wanted:
        return f"must be {wanted['const']}"
    types = wanted.get("type", [])
    nouns = [_NOUNS[each] for each in ([types] if isinstance(types, str) else types)]
    if not nouns:
        return "is not acceptable"
    return " ".join(["must be", " or ".join(nouns), *_bounds(wanted)])


def _bounds(wanted: Schema) -> Iterator[str]:
    for low_key, high_key, unit in _SIZES:
        low, high = wanted.get(low_key), wanted.get(high_key)
        if low is not None or high is not None:
            yield f"of {_range(low, high)} {unit}{'' if (high or low) == 1 else 's'}"
    if "exclusiveMinimum" in wanted:
        yield f"above {wanted['exclusiveMinimum']}"
    low, high = wanted.get("minimum"), wanted.get("maximum")
    if low is not None or high is not None:
        yield f"from {low} to {high}" if None not in (low, high) else f"of {_range(low, high)}"


def _range(low: object, high: object) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"{low} to {high}" if low != high else f"exactly {low}"


def beginning(value: Any) -> Any:
    """Return a value with only the first items and members of each part, at the same paths."""
    if isinstance(value, list):
        return [beginning(item) for item in value[:PROBLEMS_MAX]]
    if isinstance(value, dict):
        return {name: beginning(member) for name, member in islice(value.items(), 10 * PROBLEMS_MAX)}
    return value


def _is_large(value: Any) -> bool:
    """Return whether a value has more than `EXPLAINED_SIZE_MAX` members and items; long strings count as several."""
    left = EXPLAINED_SIZE_MAX
    waiting = [value]
    while waiting and left >= 0:
        each = waiting.pop()
        if isinstance(each, str):
            left -= len(each) // _CHARS_PER_UNIT
        elif isinstance(each, dict | list):
            left -= len(each)
            if left >= 0:
                waiting.extend(each if isinstance(each, list) else [*each, *each.values()])
    return left < 0


def _dotted(path: list[str | int]) -> str:
    return ".".join(shortened(str(each)) for each in path)
