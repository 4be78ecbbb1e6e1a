"""How much work a hostile scenario can cause, counted."""

from typing import Any

import pytest

from simulator.domain.model import likeness
from simulator.domain.model.likeness import COMPARED_MAX
from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading import yaml_parser
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import PROBLEMS_MAX, Node, ScenarioError
from simulator.scenario.reading.scenario_files import BYTES_MAX, NODES_MAX
from simulator.scenario.reading.yaml_parser import load_object, load_text
from simulator.scenario.sections.product_forms import GENERATED_MAX
from tests.support.bad_scenarios import HOSTILE

pytestmark = pytest.mark.slow

PRODUCT = {"name": "x", "processing_time": "instant", "discount": {"type": "fixed", "value": 0}}
PRODUCTS = {"products": [PRODUCT | {"code": f"PRODUCT-{number:04}"} for number in range(1_000)]}
UNKNOWN = [f"PRODUCTS-{number:04}" for number in range(300)]


@pytest.mark.parametrize(("text", "code"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_no_more_of_a_hostile_text_is_parsed_than_a_scenario_may_hold(
    text: str | bytes, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0

    class Counted(yaml_parser.LOADER):  # type: ignore[misc]  # it is libyaml's, or the one in Python
        def get_event(self) -> Any:
            nonlocal seen
            seen += 1
            return super().get_event()

    monkeypatch.setattr(yaml_parser, "LOADER", Counted)
    try:
        found = load_text(text, "f").problems
    except ScenarioError as error:
        found = error.problems
    assert found[0].code == code
    assert (found[0].line, found[0].column) >= (1, 1)
    assert seen <= (0 if len(text) > BYTES_MAX else 2 * NODES_MAX)


@pytest.mark.parametrize("item", [{}, [], 1, {"a": {"b": 1}}], ids=["objects", "lists", "numbers", "nested"])
def test_no_more_of_an_object_is_read_than_a_scenario_may_hold(item: object, monkeypatch: pytest.MonkeyPatch) -> None:
    built = 0

    class Counted(Node):
        def __post_init__(self) -> None:
            nonlocal built
            built += 1

    monkeypatch.setattr(yaml_parser, "Node", Counted)
    with pytest.raises(ScenarioError) as raised:
        load_object({"payments": [item] * (6 * NODES_MAX)})
    assert [problem.code for problem in raised.value.problems] == ["too_big"]
    assert built <= NODES_MAX


def refused(scenario: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as raised:
        scenario_from_object(scenario)
    return [problem.code for problem in raised.value.problems]


@pytest.mark.parametrize(
    "wrong",
    [
        {"payments": [{"when": {"product": {"in": UNKNOWN}}, "then": [{"status": "Failed"}]}]},
        {"network": dict.fromkeys(UNKNOWN, "Healthy")},
        {"resellers": [{"code": "A", "catalog": {code: {"is_active": False} for code in UNKNOWN}}]},
        {"schedule": [{"at": "1s", "product": {"code": code, "set": {"name": "x"}}} for code in UNKNOWN]},
        {f"payments{number}": 1 for number in range(300)},
    ],
    ids=["matcher", "network", "overlay", "schedule", "keys"],
)
def test_near_names_are_looked_for_a_hundred_times_among_a_hundred(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    most_alike = likeness._most_alike

    def counted(word: str, names: tuple[str, ...]) -> str:
        compared.append(len(names))
        return most_alike(word, names)

    monkeypatch.setattr(likeness, "_most_alike", counted)
    assert len(refused({"catalog": PRODUCTS} | wrong)) == PROBLEMS_MAX
    assert len(compared) <= PROBLEMS_MAX
    assert max(compared) <= COMPARED_MAX


def test_the_nearest_of_a_thousand_names_is_found_by_how_it_begins() -> None:
    assert suggestion("product-0777x", [f"PRODUCT-{number:04}" for number in range(1_000)]) == (
        " (did you mean 'PRODUCT-0777'?)"
    )
    assert suggestion("x", [f"PRODUCT-{number:04}" for number in range(1_000)]) == ""


def test_a_catalog_generates_a_bounded_number_of_options() -> None:
    def product(number: int) -> dict[str, Any]:
        field = {"id": "f", "label": "f", "type": "select", "generate": {"count": 25_000}}
        return PRODUCT | {"code": f"P{number}", "fields": [field]}

    most = GENERATED_MAX // 25_000
    codes = refused({"catalog": {"products": [product(number) for number in range(most + 3)]}})
    assert codes == ["out_of_range"] * 3
