"""The form of a rule: every field of the scenario schema, however deep, is entered in it and stands in its YAML."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.schemas import SCENARIO, schema
from simulator.scenario.reading.yaml_parser import load_text
from tests.support.console import Console, console

pytestmark = pytest.mark.slow

Path = tuple[str, ...]

# From a rule with nothing in it each field is reached as a person does: added, unfolded, written.
ENTER = """async ([section, paths]) => {
    const maker = document.querySelector("sim-rule-maker");
    const label = (name) => `[aria-label="${name}"]`;
    const set = (field, value, event) => {
        field.value = value;
        field.dispatchEvent(new Event(event, { bubbles: true }));
    };
    const enter = async (path) => {
        maker.take({ [section]: [{}] });
        let [at, name] = [maker.querySelector(".fields"), `the rule of ${section}`];
        for (const part of path) {
            const shape = at.querySelector(label(`How ${name} is written`));
            if (shape) set(shape, part === "[]" ? "list" : "object", "change");
            if (part === "[]") {
                at.querySelector(label(`Add to ${name}`)).click();
                [at, name] = [at.querySelector("li"), `${name} 1`];
                continue;
            }
            const row = () => at.querySelector(`[data-key="${part}"]`);
            if (!row()) set(at.querySelector(label(`Add to ${name}`)), part, "change");
            [at, name] = [row(), part];
        }
        const field = at.querySelector(".one input, select:not([aria-label])") ?? at.querySelector("select, input");
        if (field.tagName === "SELECT") set(field, "0", "change");
        else set(field, "1", "input");
        return maker.written();
    };
    const entered = [];
    for (const path of paths) entered.push(await enter(path).catch((failure) => `# ${failure}`));
    return entered;
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Console]:
    with console() as shown:
        shown.new_sandbox()
        shown.open("rules")
        shown.page.locator(".member").first.wait_for()
        yield shown


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = schema(SCENARIO)["definitions"][node["$ref"].rpartition("/")[2]] | {
            key: value for key, value in node.items() if key != "$ref"
        }
    return node


def fields_of(node: dict[str, Any], path: Path = ()) -> Iterator[Path]:
    """The fields below a node that have no others in them; what may be within itself is entered once."""
    members = {key: resolved(one) for key, one in node.get("properties", {}).items() if key not in path}
    for key, one in members.items():
        below = list(fields_of(one, (*path, key)))
        yield from below
        if not below or set(one.get("type", ())) & {"string", "number"}:
            yield (*path, key)
    if (items := node.get("items")) is not None:
        below = list(fields_of(resolved(items), (*path, "[]")))
        yield from below or [(*path, "[]")]


def found(value: Any, path: Path) -> Any:
    for part in path:
        value = value[0] if part == "[]" else value[part]
    return value


@pytest.mark.parametrize("section", ["payments", "faults", "voids", "disputes", "bills"])
def test_every_field_of_the_schema_is_entered_in_the_form(page: Console, section: str) -> None:
    rule = schema(SCENARIO)["definitions"][f"{section.removesuffix('s')}_rule"]
    paths = list(dict.fromkeys(fields_of(rule)))
    assert {len(path) for path in paths} >= {1, 2, 4}
    texts = page.page.evaluate(ENTER, [section, paths])
    missing = []
    for path, text in zip(paths, texts, strict=True):
        try:
            found(load_text(text, "draft").root.plain()[section][0], path)
        except (KeyError, IndexError, TypeError):
            missing.append((path, text))
    assert missing == []
