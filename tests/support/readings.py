"""Scenarios of a few lines, built or refused."""

from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import build
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.sources import resolved
from simulator.scenario.reading.yaml_parser import load_text


def built(text: str) -> Scenario:
    """The scenario of a text; it may extend a bundled one."""
    return build(resolved(load_text(text, "f.yaml"), None), "f")


def problems(text: str) -> list[str]:
    """Return `line:column: code message` for each problem of a text; problems elsewhere have their file's name."""
    try:
        built(text)
    except ScenarioError as error:
        return [str(problem).removeprefix("f.yaml:") for problem in error.problems]
    return []


def places(text: str) -> list[str]:
    """`line:column: code` for all that is wrong with a text."""
    return [" ".join(problem.split(" ")[:2]) for problem in problems(text)]
