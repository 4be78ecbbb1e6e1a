"""Renders the register of assumptions as a page."""

from simulator.contract.register import Assumption, assumptions

_FIRST_LINE = "<!-- Generated from contracts/assumptions.yaml by `make docs`; change it there. -->"
_INTRODUCTION = f"""\
{_FIRST_LINE}

# Assumptions

What the specification leaves open, what the simulator does, and the scenario key that changes it.
SPEC 2.1 and the like name the section of the service's own specification that is silent there.
`reseller-sim assumptions` prints the same.
"""


def as_markdown() -> str:
    """The content of `docs/assumptions.md`."""
    return "\n".join([_INTRODUCTION, *map(_section, assumptions())])


def _section(one: Assumption) -> str:
    knob = f"`{one.knob}`" if one.knob else "none"
    if one.values:
        knob += ": " + ", ".join(f"`{text}`" for text in one.spellings)
    return f"""\
## {one.id}

{one.question} (SPEC {one.spec})

{one.choice}

- Why: {one.why}
- Knob: {knob}
"""
