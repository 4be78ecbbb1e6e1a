"""Render docs/assumptions.md."""

from simulator.contract.register import Assumption, assumptions
from tools.pages.service import anchors, plain, written

_FIRST_LINE = "<!-- Generated from contracts/assumptions.yaml by `make docs`; change it there. -->"
_INTRODUCTION = f"""\
{_FIRST_LINE}

# Assumptions

Find what the simulator does where the specification is silent, and the scenario key that changes it.
SPEC 2.1 and the like name the section of [service.md](service.md) that it belongs to.
`reseller-sim assumptions` prints the same.
"""


def as_markdown() -> str:
    """Return the content of `docs/assumptions.md`."""
    anchor_of = anchors(written())
    return "\n".join([_INTRODUCTION, *(_section(one, anchor_of[one.spec]) for one in assumptions())])


def _section(one: Assumption, anchor: str) -> str:
    knob = f"`{one.knob}`" if one.knob else "none"
    if one.values:
        knob += ": " + ", ".join(f"`{text}`" for text in one.spellings)
    return f"""\
## {one.id}

{plain(one.question)} ([SPEC {one.spec}](service.md#{anchor}))

{plain(one.choice)}

- Why: {plain(one.why)}
- Knob: {knob}
"""
