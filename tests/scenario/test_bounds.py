"""A file has room for the catalog of a large account; what comes from the network has less."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.build import ScenarioCompiler
from simulator.scenario.library import load_scenario, problems, scenario_from_object
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.patterns import finder
from simulator.scenario.reading.scenario_files import NODES_MAX, OWN_FILE, Bounds
from simulator.scenario.reading.yaml_parser import load_object, load_text
from simulator.scenario.sections.templates import template

PRODUCT = "{{ code: {}, name: Many, processing_time: instant, discount: {{ type: fixed, value: 0 }}, fields: {} }}"
FIELD = "[{{ id: f, type: select, label: F, options: [{}] }}]"
OPTIONS, FEATURES = 300, 100


def large() -> str:
    features = ", ".join(["x"] * FEATURES)
    options = ", ".join(f"{{ code: C{number}, features: [{features}] }}" for number in range(OPTIONS))
    return f"resellers: [{{ code: R }}]\ncatalog:\n  products: [{PRODUCT.format('P', FIELD.format(options))}]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "large.yaml"
    path.write_text(large())
    return path


def refused(value: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as raised:
        scenario_from_object(value)
    return [problem.code for problem in raised.value.problems]


@pytest.mark.slow
def test_a_file_may_have_more_values_than_a_scenario_from_the_network(file: Path) -> None:
    assert OPTIONS * FEATURES > NODES_MAX
    assert problems(file) == []
    scenario = load_scenario(file)
    assert len(scenario.catalog.products["P"].options["f"]) == OPTIONS
    assert refused(dict(scenario.document)) == ["too_big"]


def test_the_files_that_a_file_names_have_its_bounds(file: Path) -> None:
    over = file.with_name("over.yaml")
    over.write_text("extends: ./large.yaml\n")
    assert len(load_scenario(over).catalog.products["P"].options["f"]) == OPTIONS
    catalog = file.with_name("catalog.yaml")
    catalog.write_text(large().partition("catalog:\n")[2].replace("  products", "products"))
    over.write_text("resellers: [{ code: R }]\ncatalog: ./catalog.yaml\n")
    assert len(load_scenario(over).catalog.products["P"].options["f"]) == OPTIONS


def test_a_large_file_can_be_loaded_again_from_the_document_of_its_command(file: Path) -> None:
    scenario = load_scenario(file)
    again = ScenarioCompiler().scenario(scenario.document, scenario.name)
    assert again.document == scenario.document


def test_a_file_has_its_bounds_too(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"a" * (OWN_FILE.bytes_max + 1))
    assert [problem.code for problem in problems(path)] == ["too_big"]


@pytest.mark.parametrize(
    ("bounds", "said"), [(Bounds(20), "at most 20 bytes"), (Bounds(nodes_max=5), "at most 5 values")]
)
def test_a_value_that_is_too_large_is_refused_with_its_bound(bounds: Bounds, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        load_text("[0, 0, 0, 0, 0, 0, 0, 0]", "f", bounds)
    with pytest.raises(ScenarioError, match=said) if bounds.nodes_max == 5 else nullcontext():
        load_object([0] * 8, bounds=bounds)


def test_a_pattern_or_a_template_that_is_longer_than_the_schema_allows_is_not_compiled() -> None:
    before = finder.cache_info().misses, template.cache_info().misses
    long = "a" * 501
    rule = {"when": {"account": {"pattern": long}}, "then": [{"status": "Failed", "sn": long}]}
    assert refused({"resellers": [], "payments": [rule]}) == ["out_of_range", "out_of_range"]
    assert (finder.cache_info().misses, template.cache_info().misses) == before
