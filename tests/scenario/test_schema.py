"""`contracts/scenario.schema.json` against what it promises editors, and against what the builder reads."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from simulator.contract.files import data_dir
from simulator.scenario import build as building
from simulator.scenario.reading.merge import CHANGEABLE
from simulator.scenario.reading.nodes import Document
from simulator.scenario.reading.schema_check import schema
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.reading.yaml_parser import load_file, load_text
from tests.support import durations

EVERYTHING = Path(__file__).parent / "everything.yaml"
KEYWORDS = {
    "$comment", "$id", "$ref", "$schema", "additionalProperties", "default", "definitions", "description",
    "else", "enum", "examples", "exclusiveMinimum", "if", "items", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minProperties", "minimum", "pattern", "properties", "required",
    "title", "type", "x-must-be",
}  # fmt: skip

Place = tuple[str, ...]

# Keys that are read while files are merged, and are gone then.
MERGING: set[Place] = {("extends",), *((section, "remove") for section in CHANGEABLE)}
ADDED_RULE: Place = ("schedule", "rule", "add")


def parts(found: dict[str, Any], path: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every schema within a schema, with its path."""
    yield path, found
    for keyword in ("properties", "definitions"):
        for name, below in found.get(keyword, {}).items():
            yield from parts(below, (*path, keyword, name))
    for keyword in ("items", "additionalProperties"):
        if isinstance(found.get(keyword), dict):
            yield from parts(found[keyword], (*path, keyword))


def resolved(found: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference."""
    while "$ref" in found:
        found = schema()["definitions"][found["$ref"].rpartition("/")[2]]
    return found


def test_the_schema_is_draft_7() -> None:
    assert schema()["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert jsonschema_rs.meta.is_valid(schema())
    used = {keyword for _, part in parts(schema()) for keyword in part}
    assert used <= KEYWORDS | {"x-enum-varnames"}  # for generators; an editor ignores it


def test_every_part_has_a_description_and_refuses_unknown_keys() -> None:
    for path, part in parts(schema()):
        assert part.get("description", "").endswith("."), path
        if "properties" in part:
            assert part["additionalProperties"] is False, path
        if "pattern" in part:
            assert part.get("x-must-be"), f"{path}: `x-must-be` says what the pattern wants"


# The keys whose values are hard to guess, with a place where each is.
WITH_EXAMPLES = [
    "callbacks.again_after", "damage.headers", "damage.one_of", "expectation.apart", "expectation.per",
    "expectation.remove", "fault_when.query", "inbox.during", "inbox.repeat", "matcher.more_than", "payment_rule.per",
    "payment_rule.remove", "payment_then.one_of", "payment_when.any", "payment_when.since", "payment_when.time",
    "payment_when.until", "payment_when.weekday", "scheduled.at", "scheduled.rule", "step.at",
]  # fmt: skip


@pytest.mark.parametrize("place", [*WITH_EXAMPLES, "extends", "timelines"])
def test_an_editor_shows_an_example_of_each_key_that_is_hard_to_guess(place: str) -> None:
    *definition, key = place.split(".")
    holder = schema()["definitions"][definition[0]] if definition else schema()
    assert holder["properties"][key]["examples"]


@pytest.mark.slow
def test_each_example_and_each_default_is_valid() -> None:
    shown = [
        (part, value)
        for _, part in parts(schema())
        for value in [*part.get("examples", ()), *([part["default"]] if "default" in part else [])]
    ]
    assert len(shown) > len(WITH_EXAMPLES)
    for part, value in shown:
        at = {"allOf": [part], "definitions": schema()["definitions"]}
        assert jsonschema_rs.Draft7Validator(at).is_valid(value), (part["description"], value)


def test_every_definition_is_used() -> None:
    used = {part["$ref"].rpartition("/")[2] for _, part in parts(schema()) if "$ref" in part}
    assert used == set(schema()["definitions"])


def schema_at(path: Place) -> dict[str, Any] | None:
    """Return the schema of the value at a path without places, or None when it does not allow it."""
    found: dict[str, Any] = schema()
    for name in path:
        found = resolved(found)
        if "array" in found.get("type", ()) and "items" in found and name not in found.get("properties", {}):
            found = resolved(found["items"])
        free = found.get("additionalProperties")
        if name in found.get("properties", {}):
            found = found["properties"][name]
        elif isinstance(free, dict):
            found = free
        else:
            return None
    return resolved(found)


def allowed(found: dict[str, Any], path: Place = (), seen: tuple[str, ...] = ()) -> Iterator[Place]:
    """The path of every key that the schema allows. Left out are a matcher within a matcher, and what a rule of the
    schedule has, which is a rule of its section."""
    if path[:-1] == ADDED_RULE:
        return
    if "$ref" in found:
        name = found["$ref"].rpartition("/")[2]
        if name in seen:
            return
        seen = (*seen, name)
        found = resolved(found)
    for name, below in found.get("properties", {}).items():
        yield (*path, name)
        yield from allowed(below, (*path, name), seen)
    for keyword in ("items", "additionalProperties"):
        if isinstance(found.get(keyword), dict):
            yield from allowed(found[keyword], path if keyword == "items" else (*path, "*"), seen)


@pytest.fixture(scope="module")
def read() -> tuple[set[Place], set[Place]]:
    """The paths of all keys that the builder reads or lists while it builds `everything`."""
    asked: set[Place] = set()
    listed: set[Place] = set()

    def plain(reader: ValueReader, key: str) -> Place:
        return (*(part for part in reader.path if isinstance(part, str)), key)

    class Watched(ValueReader, frozen=True):
        def __getitem__(self, key: str) -> ValueReader:
            asked.add(plain(self, key))
            return _watched(super().__getitem__(key))

        def items(self) -> list[ValueReader]:
            return [_watched(item) for item in super().items()]

        def entries(self) -> Iterator[tuple[str, ValueReader]]:
            for key, reader in super().entries():
                listed.add(plain(self, key))
                yield key, _watched(reader)

    def _watched(reader: ValueReader) -> ValueReader:
        return Watched(reader.node, reader.path, reader.report, reader.position, reader.key_position)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "ValueReader", Watched)
        building.build(load_file(EVERYTHING), "everything")
    return asked, listed


def general(path: Place) -> Place:
    """A path with `*` for keys that a scenario chooses."""
    made: list[str] = []
    for name in path:
        found = schema_at(tuple(made))
        assert found is not None, path
        inner = resolved(found["items"]) if "items" in found and name not in found.get("properties", {}) else found
        is_free = name not in inner.get("properties", {}) and isinstance(inner.get("additionalProperties"), dict)
        made.append("*" if is_free else name)
    return tuple(made)


MATCHER_KEYS = set(schema()["definitions"]["matcher"]["properties"])


def test_every_key_that_the_schema_allows_is_read(read: tuple[set[Place], set[Place]]) -> None:
    asked, listed = read
    got = {general(path) for path in asked | listed}
    # Matchers are compiled as a whole and have their own tests; keys that merge files are read before building.
    unread = {path for path in allowed(schema()) if path not in got and path[-1] not in MATCHER_KEYS}
    assert unread == MERGING


def test_every_key_that_is_read_is_one_that_the_schema_allows(read: tuple[set[Place], set[Place]]) -> None:
    asked, listed = read
    assert [path for path in sorted(asked | listed) if schema_at(path) is None] == []


def written(node: Any, path: Place = ()) -> Iterator[Place]:
    if isinstance(node, dict):
        for key, below in node.items():
            yield (*path, key)
            yield from written(below, (*path, key))
    elif isinstance(node, list):
        for item in node:
            yield from written(item, path)


def test_the_file_of_everything_has_every_key() -> None:
    body = ("faults", "then", "body")
    data = load_file(EVERYTHING).data
    present = {general(path) for path in written(data) if path[:3] != body or path == body}
    assert {path for path in allowed(schema()) if path not in present and path[-1] not in MATCHER_KEYS} == MERGING


def test_the_schema_has_the_knobs_of_the_register_with_their_values() -> None:
    register: Document = load_text((data_dir("contracts") / "assumptions.yaml").read_bytes(), "assumptions.yaml")
    assert register.problems == ()
    knobs = {entry["knob"]: entry.get("values") for entry in register.data if entry["knob"]}
    ours = schema()["definitions"]["assume"]["properties"]
    assert {knob.removeprefix("assume.") for knob in knobs if knob.startswith("assume.")} == set(ours)
    for id_, part in ours.items():
        if "enum" in part:
            assert part["enum"] == knobs[f"assume.{id_}"], id_
    for knob in knobs:
        assert schema_at(tuple(knob.split("."))) is not None, knob


def _patterns(node: Any) -> Iterator[str]:
    """Every pattern in a schema that is about durations."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str) and "(ms|s|m|h|d)" in node["pattern"]:
            yield node["pattern"]
        for inner in node.values():
            yield from _patterns(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _patterns(inner)


REPLIES_SCHEMA = json.loads((data_dir("contracts/schemas") / "inbox-replies-request.json").read_text("utf-8"))
DURATION_PATTERNS = sorted({*_patterns(schema()), *_patterns(REPLIES_SCHEMA)})


def test_durations_are_written_alike_in_all_schemas() -> None:
    duration = schema()["definitions"]["duration"]["pattern"]
    wholes = {one.partition("|^(")[0].replace("-?", "") for one in DURATION_PATTERNS}
    assert (wholes, len(DURATION_PATTERNS)) == ({duration}, 3), "plain, below zero too, or a time of day"


@pytest.mark.parametrize("pattern", DURATION_PATTERNS)
def test_the_schemas_take_the_durations_that_are_read(pattern: str) -> None:
    taken = jsonschema_rs.validator_for({"type": "string", "pattern": pattern})
    below = [text for text, _ in durations.BELOW_ZERO]
    assert [text for text, _ in durations.GOOD if not taken.is_valid(text)] == []
    assert [text for text in durations.BAD if taken.is_valid(text)] == []
    assert [text for text in below if taken.is_valid(text)] == (below if "-?" in pattern else [])
