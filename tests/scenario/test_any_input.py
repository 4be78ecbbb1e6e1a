"""Whatever comes in, a scenario or a `ScenarioError` comes out, soon."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.scenario.build import build, build_reseller, build_rule
from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.sources import resolved
from simulator.scenario.reading.yaml_parser import load_text
from tests.support.tiers import examples

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parent / "everything.yaml").read_bytes()
DATA: Any = load_text(TEXT, "everything.yaml").data

words = st.sampled_from(
    ["", "x", "-1s", "5s", "9" * 50, "{refid}", "{", "(", "RS001", "COINS", "a b", "\x00", "\ud800"]
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | words | st.text(max_size=5)
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3))


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value."""
    below = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [path, *(place for key, inner in below for place in places(inner, (*path, key)))]


PLACES = places(DATA)
NO_REASON = Problem("", 0, 0, "", "", "refused without a reason")


def replaced(path: tuple[Any, ...], value: Any) -> Any:
    """`DATA` with something else at `path`."""
    if not path:
        return value
    changed = copy.deepcopy(DATA)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return changed


def refusal(make: Callable[[], object]) -> tuple[Problem, ...]:
    """Why `make` refuses; empty when it does not."""
    try:
        make()
    except ScenarioError as error:
        return error.problems or (NO_REASON,)
    return ()


@settings(max_examples=examples(300))
@given(path=st.sampled_from(PLACES), value=values)
def test_any_value_in_any_place_is_taken_or_refused(path: tuple[Any, ...], value: Any) -> None:
    assert NO_REASON not in refusal(lambda: scenario_from_object(replaced(path, value)))


@settings(max_examples=examples(100))
@given(value=values)
def test_any_value_is_a_rule_or_a_reseller_or_refused(value: Any) -> None:
    assert NO_REASON not in refusal(lambda: build_rule("payments", value, "a"))
    assert NO_REASON not in refusal(lambda: build_rule("faults", value, "a"))
    assert NO_REASON not in refusal(lambda: build_rule("faults", {"when": value, "then": {"status": 500}}, "a"))
    assert NO_REASON not in refusal(lambda: build_rule("payments", {"then": value}, "a"))
    assert NO_REASON not in refusal(lambda: build_reseller(value))
    assert NO_REASON not in refusal(lambda: build_reseller({"code": "A", "catalog": value, "api_keys": value}))


damage = st.binary(max_size=8) | st.sampled_from([b"{", b"- ", b"&a ", b"\t"])


@settings(max_examples=examples(200))
@given(at=st.integers(0, len(TEXT)), cut=st.integers(0, 40), put=damage)
def test_any_damage_to_a_file_is_taken_or_refused_with_a_line(at: int, cut: int, put: bytes) -> None:
    text = TEXT[:at] + put + TEXT[at + cut :]
    for problem in refusal(lambda: build(resolved(load_text(text, "f"), None), "f")):
        assert problem.line >= 1
        assert problem.column >= 1
