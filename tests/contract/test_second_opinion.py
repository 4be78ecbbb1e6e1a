"""Every compiled validator judges as `jsonschema` does, which is slow, plain and independent."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from ipaddress import ip_interface
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from simulator.contract import schemas
from simulator.contract.openapi import CONTROL, bundled
from simulator.contract.schemas import BASE_URI, schema
from simulator.contract.validator import validator
from simulator.scenario.reading.schema_check import schema as scenario_schema
from tests.support.schema_values import ODD, Maker, Words, absolute, patterns, referred
from tools.pages.bundle import other_types

VALUES_A_SEED = 6
CHANGES_A_VALUE = 3
VALUES_A_DEFINITION = 5

# White space of ECMA-262, which differs from Python's `re`.
_BLANKS = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def in_python(pattern: str) -> str:
    """A pattern of ECMA-262, which JSON Schema means, in the words of Python's `re`."""
    pattern = pattern.replace(r"\S", f"[^{_BLANKS}]")
    outside = {r"\d": "[0-9]", "$": r"\Z"}
    within = {r"\s": _BLANKS}
    parts = re.split(r"(\[[^]]*\])", pattern.replace(r"\S", f"[^{_BLANKS}]"))
    return "".join(_replaced(part, within if part.startswith("[") else outside) for part in parts)


def _replaced(text: str, words: dict[str, str]) -> str:
    for word, other in words.items():
        text = text.replace(word, other)
    return text


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(value, str) and not re.search(in_python(pattern), value):
        yield jsonschema.ValidationError(f"{value!r} is not {pattern}")


def _is_number(_: Any, value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_integer(_: Any, value: Any) -> bool:
    return _is_number(_, value) and value == int(value)


ScenarioOpinion = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft7Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft7Validator.TYPE_CHECKER.redefine_many({"number": _is_number, "integer": _is_integer}),
)
TYPES = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _is_number, "integer": _is_integer})
Opinion = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"pattern": _pattern}, type_checker=TYPES
)
FORMATS = jsonschema.FormatChecker(formats=())


def checks(name: str, well_formed: Callable[[str], object]) -> None:
    """Says what a format means; every value that is not a text has it."""
    FORMATS.checks(name, raises=ValueError)(lambda value: not isinstance(value, str) or bool(well_formed(value)))


TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
checks("ip-network", ip_interface)
checks("date-time", lambda text: TIME.fullmatch(text) and datetime.fromisoformat(text))
checks("uuid", ID.fullmatch)
checks("uri", re.compile(r"[A-Za-z]+:[!-~]+").fullmatch)

# Without the keyword, since jsonschema takes a class of its own, not ours, when the schema names a draft.
PLAIN = {name: {key: part for key, part in schema(name).items() if key != "$schema"} for name in schemas.names()}
REGISTRY: Registry[Any] = Registry().with_resources(
    (f"{BASE_URI}schemas/{name}.json", DRAFT202012.create_resource(plain)) for name, plain in PLAIN.items()
)


def judge(name: str, value: Any, opinion: Any) -> bool:
    """Return both verdicts of the value."""
    ours = validator(name).is_valid(value)
    assert ours == opinion.is_valid(value), f"{name} {'accepts' if ours else 'refuses'} {value!r}"
    return ours


def second(name: str) -> Any:
    return Opinion(PLAIN[name], registry=REGISTRY, format_checker=FORMATS)


def words(name: str) -> st.SearchStrategy[Words]:
    """Some strings for each pattern of a schema."""
    return st.fixed_dictionaries(
        {pattern: st.lists(st.from_regex(in_python(pattern)), min_size=1, max_size=3)
         for pattern in sorted(patterns(absolute(name)))}
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", schemas.names())
def test_both_validators_agree(name: str) -> None:
    opinion, wanted, seen = second(name), absolute(name), Counter[bool]()

    @settings(max_examples=5)
    @given(seed=st.integers(0, 2**64), vocabulary=words(name))
    def compare(seed: int, vocabulary: Words) -> None:
        maker = Maker(Random(seed), vocabulary)  # noqa: S311 - a test's values, from a seed that is printed
        for _ in range(VALUES_A_SEED):
            value = maker.value(wanted)
            seen[judge(name, value, opinion)] += 1
            for _ in range(CHANGES_A_VALUE):
                value = maker.changed(value)
                seen[judge(name, value, opinion)] += 1

    compare()
    assert seen.total() >= 100
    assert seen[True], "no value was good: it says nothing about what is accepted"
    assert seen[False], "no value was bad: it says nothing about what is refused"


class ScenarioOpinions:
    """Validators of each part of the scenario schema: the server's, the published document's, and `jsonschema`'s."""

    def __init__(self) -> None:
        self.scenario = scenario_schema()
        self.components = bundled(CONTROL)["components"]
        self.judged = Counter[bool]()

    def judge_all(self, definition: str, maker: Maker, count: int) -> None:
        """Make values for a definition, "" for the whole schema, and let all judge them."""
        part = self.scenario["definitions"][definition] if definition else self.scenario
        whole = {**part, "definitions": self.scenario["definitions"]}
        whole.pop("$id", None)
        compiled = jsonschema_rs.Draft7Validator(whole, pattern_options=jsonschema_rs.RegexOptions())
        # Only the object of a choice is a component of its own; a list is published where it is used.
        is_choice, is_list = bool(other_types(part)), part.get("type") == "array"
        component = component_of(definition) + ("Object" if is_choice else "")
        published = None if is_list else self.published(component)
        plain = ScenarioOpinion(whole)
        wanted = referred(f"{schemas.SCENARIO}.json#" + (f"/definitions/{definition}" if definition else ""))
        for _ in range(count):
            value = maker.value(wanted)
            for each in (value, maker.changed(value), maker.changed(maker.changed(value))):
                is_component = isinstance(each, dict) or not is_choice
                judges = [compiled, plain] + ([published] if published and is_component else [])
                said = [one.is_valid(each) for one in judges]
                assert len(set(said)) == 1, f"{definition or 'a scenario'}: {said} of {each!r}"
                self.judged[said[0]] += 1

    def published(self, component: str) -> Any:
        """The validator of a component of the published document."""
        return jsonschema_rs.Draft202012Validator(
            {"$ref": f"#/components/schemas/{component}", "components": self.components}
        )


def component_of(definition: str) -> str:
    return "Scenario" + "".join(word.capitalize() for word in definition.split("_"))


@pytest.mark.slow
def test_all_agree_on_scenarios_and_every_definition_of_theirs() -> None:
    opinions, name = ScenarioOpinions(), schemas.SCENARIO
    assert len(opinions.scenario["definitions"]) > 100

    @settings(max_examples=2)
    @given(seed=st.integers(0, 2**64), vocabulary=words(name))
    def compare(seed: int, vocabulary: Words) -> None:
        maker = Maker(Random(seed), vocabulary)  # noqa: S311 - a test's values, from a seed that is printed
        for definition in ("", *opinions.scenario["definitions"]):
            opinions.judge_all(definition, maker, VALUES_A_DEFINITION)

    compare()
    assert opinions.judged[True] > 1000, opinions.judged
    assert opinions.judged[False] > 500, opinions.judged


@pytest.mark.parametrize("name", schemas.names())
def test_both_judge_odd_values_alike(name: str) -> None:
    opinion = second(name)
    for value in ODD:
        judge(name, value, opinion)
