"""Written YAML is read back unchanged, by our reader and by others."""

from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulator.scenario.reading.nodes import CONTROL
from simulator.scenario.reading.yaml_parser import load_text
from simulator.scenario.yaml import LINE_CHARS_MAX, block, scalar

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30).filter(lambda text: CONTROL.search(text) is None)
LEAVES = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXTS, below, max_size=4), max_leaves=20
)


@pytest.mark.slow
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_any_values_are_read_as_they_were_written(value: dict[str, Any]) -> None:
    text = "\n".join(block(value))
    document = load_text(text, "f")
    assert document.problems == ()
    assert document.data == value
    assert yaml.safe_load(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "No",
        "null",
        "~",
        "1",
        "1.0",
        "007",
        "1e3",
        "12:30",
        "- a",
        "a: b",
        "a #b",
        "{a}",
        "x ",
        "\t",
        "2026-01-01",
    ],
)
def test_a_text_that_looks_like_something_else_is_quoted(text: str) -> None:
    assert scalar(text).startswith('"')
    assert yaml.safe_load(scalar(text)) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [(Decimal("1E+3"), "1000"), (Decimal("0.10"), "0.10"), (Decimal("1E-7"), "0.0000001"), (5, "5"), (True, "true")],
)
def test_numbers_have_no_exponents(value: object, written: str) -> None:
    assert scalar(value) == written


def test_a_value_that_does_not_fit_on_a_line_is_written_on_several() -> None:
    lines = list(block({"a": [{"b": "x" * 100, "c": "y" * 100}], "d": [{"e": "z"}]}))
    assert lines == ["a:", f"  - b: {'x' * 100}", f"    c: {'y' * 100}", "d: [{ e: z }]"]
    assert max(map(len, lines)) <= LINE_CHARS_MAX
