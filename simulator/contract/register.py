"""The register of assumptions: gaps of SPEC, our choices, and the scenario keys that change them."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from simulator.contract.files import yaml_document


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption where the specification is silent.

    `knob` is the scenario key that changes the choice, None without a knob. `values` are the knob's values, the default
    first. A single value represents any value of its kind. A knob that is a whole section of the scenario has no
    values.
    """

    id: str
    spec: str
    question: str
    choice: str
    why: str
    knob: str | None
    values: tuple[Any, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return the knob's values as a scenario may write them."""
        return tuple(value if isinstance(value, str) else json.dumps(value) for value in self.values)


def rows() -> tuple[dict[str, Any], ...]:
    """Return the register's raw rows, in the order of its file. They are large, so they are not cached."""
    return tuple(yaml_document("assumptions"))


@cache
def assumptions() -> tuple[Assumption, ...]:
    """Return the register without its knobs' editor metadata, in the order of its file."""
    return tuple(msgspec.convert(rows(), list[Assumption]))
