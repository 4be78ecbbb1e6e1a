"""The register of assumptions: what SPEC leaves open, what was chosen, and the scenario key that changes it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.contract.files import data_dir

KNOB_PREFIX = "assume."

_INTRODUCTION = """\
# Assumptions

What the specification leaves open, what the simulator does, and the scenario key that changes it.
SPEC 2.1 and the like name the section of the service's own specification that is silent there.
Generated from `contracts/assumptions.yaml` by `make docs`; `reseller-sim assumptions` prints the same.
"""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One silence of the specification.

    `knob` is the scenario key that changes the choice, None when nothing does. `values` are what the knob accepts,
    the default first; a single one stands for any other value of its kind, and a knob that is a whole section of the
    scenario has none.
    """

    id: str
    spec: str
    question: str
    choice: str
    why: str
    knob: str | None
    values: tuple[Any, ...] = ()

    @property
    def is_assumed(self) -> bool:
        """True when the knob is a key of the scenario's `assume` section, named by the id."""
        return self.knob == KNOB_PREFIX + self.id


@cache
def assumptions() -> tuple[Assumption, ...]:
    """The register, in the order of its file."""
    import yaml  # only whoever reads the register needs it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (data_dir("contracts") / "assumptions.yaml").read_bytes()
    rows = yaml.load(text, loader)  # noqa: S506  # both are safe loaders
    return tuple(Assumption(**{**row, "values": tuple(row.get("values", ()))}) for row in rows)


def as_markdown() -> str:
    """The register as `docs/assumptions.md` shows it."""
    return "\n".join([_INTRODUCTION, *map(_section, assumptions())])


def _section(one: Assumption) -> str:
    knob = f"`{one.knob}`" if one.knob else "none"
    if one.values:
        knob += ": " + ", ".join(f"`{_shown(value)}`" for value in one.values)
    return f"""\
## {one.id}

{one.question} (SPEC {one.spec})

{one.choice}

- Why: {one.why}
- Knob: {knob}
"""


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {member}" for name, member in value.items()) + "}"
    return str(value)
