"""Every knob of the register does something: for each of its values a client sees something else."""

import json
from typing import Any

import pytest

from simulator.contract.register import Assumption, assumptions
from tests.support.client import running
from tests.support.knobs import ABSENT, PROBES, Probe

WITH_KNOB = {one.id: one for one in assumptions() if one.knob}


def test_every_knob_has_a_probe_and_every_probe_a_knob() -> None:
    assert set(PROBES) == set(WITH_KNOB)


def turned(world: dict[str, Any], knob: str, value: Any) -> dict[str, Any]:
    """The scenario with its knob at `value`."""
    if value is ABSENT:
        return world
    section, _, key = knob.partition(".")
    return world | {section: world.get(section, {}) | {key: value} if key else value}


def seen(probe: Probe, scenario: dict[str, Any]) -> str:
    with running(scenario) as client:
        return json.dumps(probe.ask(client), default=str, sort_keys=True)


def values_of(one: Assumption, probe: Probe) -> tuple[Any, ...]:
    """The values to try: all of the register, or the values of the probe where the register lists a kind or none."""
    listed = tuple(one.values)
    if len(listed) > 1:
        assert probe.values == (), "the register has the values"
        return listed
    assert len(probe.values) > 1, "a single value shows no difference"
    if listed and not isinstance(listed[0], dict):
        assert probe.values[0] == listed[0], "the first is the default"
    return probe.values


@pytest.mark.slow
@pytest.mark.parametrize("id_", sorted(PROBES))
def test_each_value_of_a_knob_changes_an_answer(id_: str) -> None:
    one, probe = WITH_KNOB[id_], PROBES[id_]
    assert one.knob is not None
    values = values_of(one, probe)
    views = [seen(probe, turned(probe.world, one.knob, value)) for value in values]
    assert len(set(views)) == len(values), list(zip(values, views, strict=True))
    if one.values:
        assert seen(probe, probe.world) == views[0], "the first value is the default"
