"""The schema names a default for every bound of memory, and it is the code's."""

import json
import re

from simulator.contract.files import data_dir
from simulator.domain.model.scenario import Limits

DEFAULT = re.compile(r"(\d+)( MiB)? when absent")
MIB = 1024 * 1024


def test_the_default_of_every_counted_limit_is_in_its_description() -> None:
    schema = json.loads((data_dir("contracts") / "scenario.schema.json").read_text())["definitions"]["limits"]
    usual, named = Limits(), {}
    for name, described in schema["properties"].items():
        if type(getattr(usual, name, None)) is int and name != "requests_per_interval":
            found = DEFAULT.search(described["description"])
            assert found, name
            named[name] = int(found[1]) * (MIB if found[2] else 1)
    assert len(named) == 17
    assert named == {name: getattr(usual, name) for name in named}
