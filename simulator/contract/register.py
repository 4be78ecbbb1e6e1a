"""The register of assumptions: what SPEC leaves open, our choice, and the scenario key that changes it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.contract.files import data_dir

KNOB_PREFIX = "assume."

_FIRST_LINE = "<!-- Generated from contracts/assumptions.yaml by `make docs`; change it there. -->"
_INTRODUCTION = f"""\
{_FIRST_LINE}

# Assumptions

What the specification leaves open, what the simulator does, and the scenario key that changes it.
SPEC 2.1 and the like name the section of the service's own specification that is silent there.
`reseller-sim assumptions` prints the same.
"""


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the specification leaves open.

    `knob` is the scenario key that changes the choice, None when there is none. `values` are the knob's values, the
    default first; a single one represents any value of its kind; a knob that is a whole section of the scenario has
    none.
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
def rows() -> tuple[dict[str, Any], ...]:
    """The register's raw rows, in the order of its file. Do not modify them."""
    import yaml  # imported lazily

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (data_dir("contracts") / "assumptions.yaml").read_bytes()
    return tuple(yaml.load(text, loader))  # noqa: S506  # both are safe loaders


@cache
def assumptions() -> tuple[Assumption, ...]:
    """The register without its knobs' editor metadata, in the order of its file."""
    return tuple(
        Assumption(
            id=row["id"],
            spec=row["spec"],
            question=row["question"],
            choice=row["choice"],
            why=row["why"],
            knob=row["knob"],
            values=tuple(row.get("values", ())),
        )
        for row in rows()
    )


def as_markdown() -> str:
    """The content of `docs/assumptions.md`."""
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
