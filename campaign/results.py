"""The last figures of each row, in `results.json`. docs/reliability.md shows them, and they bound later runs."""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from campaign.outcome import Outcome

FILE: Final = Path(__file__).with_name("results.json")
MARGIN: Final = 1.3
"""How many times the measured figure a later run may reach."""

Row = dict[str, Any]


def load() -> list[Row]:
    """The rows as they were saved."""
    rows: list[Row] = json.loads(FILE.read_text("utf-8"))
    return rows


def hold(outcomes: Iterable[Outcome], rows: Iterable[Row]) -> None:
    """Note each bounded figure of the outcomes that is more than `MARGIN` times that of the rows."""
    known = {(row["part"], row["promise"]): row["bounded"] for row in rows}
    for outcome in outcomes:
        before = known.get((outcome.section, outcome.promise), {})
        for name, value in outcome.bounded.items():
            bound = before.get(name, value) * MARGIN
            outcome.expect(value <= bound, f"{outcome.promise}: {name} is {value:.0f}, {bound:.0f} is allowed")


def merged(rows: Iterable[Row], outcomes: Iterable[Outcome], day: date) -> list[Row]:
    """The rows with those of the outcomes, measured on this day, in place of the former ones."""
    found = {(row["part"], row["promise"]): row for row in rows}
    for one in outcomes:
        found[one.section, one.promise] = {
            "part": one.section,
            "promise": one.promise,
            "tried": one.tried,
            "broken": len(one.broken),
            "figures": one.figures,
            "bounded": one.bounded,
            "on": day.isoformat(),
        }
    return list(found.values())


def save(rows: Sequence[Row]) -> None:
    """Write the rows."""
    FILE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
