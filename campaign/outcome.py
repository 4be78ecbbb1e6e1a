"""What one part of the campaign counted, and all of them as one table."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.tables import markdown


@dataclass(slots=True)
class Outcome:
    """One row. `tried` counts requests or deliveries; `broken` says in words which promises were not kept. `bounded`
    has the figures that bound the next run, see `results`."""

    section: str
    promise: str
    tried: int = 0
    figures: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    bounded: dict[str, float] = field(default_factory=dict)

    def expect(self, is_kept: bool, otherwise: str) -> None:
        """Note a promise that was not kept, in words; the first ten of a row are shown."""
        if not is_kept:
            self.broken.append(otherwise)


COLUMNS = ("", "promise", "tried", "broken", "measured")


def table(outcomes: Iterable[Outcome]) -> str:
    """All rows in Markdown."""
    counts = ((one, f"{one.tried:,}", str(len(one.broken))) for one in outcomes)
    return markdown(
        [COLUMNS, *((one.section, one.promise, tried, broken, "; ".join(one.figures)) for one, tried, broken in counts)]
    )


def complaints(outcomes: Iterable[Outcome]) -> list[str]:
    """The promises that were not kept, a line each."""
    return [f"{one.section}: {text}" for one in outcomes for text in one.broken[:10]]
