"""What was learned, as a block of a scenario: `assume:`, each line below its evidence."""

from collections.abc import Iterable
from json import dumps
from typing import Any

from simulator.staging.conform.findings import Learned


def assume_block(learned: Iterable[Learned]) -> str:
    """YAML with one line for each knob; empty when nothing was learned."""
    lines = [
        line for one in learned for line in (f"  # {_comment(one.evidence)}", f"  {one.knob}: {_value(one.value)}")
    ]
    return "\n".join(["assume:", *lines]) + "\n" if lines else ""


def _comment(text: str) -> str:
    """One line, without a character that YAML or a terminal reads."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name}: {_value(one)}" for name, one in value.items()) + " }"
    return value if isinstance(value, str) and value.isidentifier() else dumps(value)
