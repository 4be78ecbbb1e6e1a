"""What a scenario file of thousands of rules costs: to load, and for each payment."""

import tempfile
import time
from pathlib import Path
from statistics import median

from bench.scale.row import Row
from bench.scale.world import World
from simulator.cli.process import tune_gc
from simulator.domain.model.scenario import Scenario
from simulator.scenario.library import load_scenario

FEW, MANY = 10, 5_000
LOAD_S_MAX = 0.5
PAYMENT_RATIO_MAX = 1.5
LOADS = 3
PAYMENTS = 500
_HEAD = "scenario: rules\nextends: default\nlimits: { rules: 20000, requests_per_interval: null }\npayments:\n"
_RULE = """\
  - name: rule {number}
    when: {{ product: RELOAD, account: "01{number:08}" }}
    then: [{{ status: Accepted }}, {{ after: 30s, status: Succesful }}]
"""


def many() -> list[Row]:
    """Loading a file, and a payment that none of its rules but the last decides."""
    load_scenario("default")  # of which all have the catalog
    tune_gc()  # as a server does
    _, few = _loaded(FEW)
    load_s, scenario = _loaded(MANY)
    beside_few, beside_many = World(few), World(scenario)
    few_us, many_us = [], []
    for _ in range(PAYMENTS):
        few_us.append(_payment_us(beside_few, FEW))
        many_us.append(_payment_us(beside_many, MANY))
    beside_few.close()
    beside_many.close()
    ratio = median(many_us) / median(few_us)
    return [
        Row(f"loading a file of {MANY:,} rules", load_s, "s", LOAD_S_MAX),
        Row(f"a payment against {FEW} rules", median(few_us), "µs"),
        Row(f"a payment against {MANY:,} rules", median(many_us), "µs"),
        Row(f"a payment against {MANY:,} rules to one against {FEW}", ratio, "times", PAYMENT_RATIO_MAX),
    ]


def file_of(count: int, folder: str) -> Path:
    """A scenario file with so many rules."""
    path = Path(folder) / "rules.yaml"
    path.write_text(_HEAD + "".join(_RULE.format(number=number) for number in range(count)))
    return path


def _loaded(count: int) -> tuple[float, Scenario]:
    """The best time of several, and the scenario."""
    took_s = []
    with tempfile.TemporaryDirectory() as folder:
        path = file_of(count, folder)
        for _ in range(LOADS):
            began = time.process_time()
            scenario = load_scenario(path)
            took_s.append(time.process_time() - began)
    return min(took_s), scenario


def _payment_us(world: World, count: int) -> float:
    request = world.topup(f"01{count - 1:08}")
    began = time.process_time()
    world.run(world.answer(request))
    return (time.process_time() - began) * 1e6
