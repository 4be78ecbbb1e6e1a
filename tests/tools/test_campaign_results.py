"""The measurements of the campaign bound its next runs, and docs/reliability.md shows them."""

from datetime import date

import pytest

from campaign.floods import FLOODS
from campaign.outcome import Outcome
from campaign.results import MARGIN, hold, load, merged

MEASURED = Outcome("floods", "long polls", 10, ["76 MB"], bounded={"MB at most": 100})
DAY = date(2026, 11, 29)


@pytest.mark.parametrize(("found", "broken"), [(90, 0), (130, 0), (131, 1)])
def test_a_later_figure_is_at_most_1_3_times_the_measured_figure(found: int, broken: int) -> None:
    later = Outcome("floods", "long polls", bounded={"MB at most": found})
    hold([later], merged([], [MEASURED], DAY))
    assert len(later.broken) == broken


def test_a_row_that_was_measured_replaces_the_former_one_and_leaves_the_others() -> None:
    other = Outcome("soak", "memory ends")
    rows = merged([], [MEASURED, other], date(2026, 11, 22))
    found = merged(rows, [Outcome("floods", "long polls", 20)], DAY)
    assert [(row["promise"], row["tried"], row["on"]) for row in found] == [
        ("long polls", 20, "2026-11-29"),
        ("memory ends", 0, "2026-11-22"),
    ]


def test_each_flood_is_bound_by_its_measurement() -> None:
    bound = {row["promise"].partition(":")[0] for row in load() if "MB at most" in row["bounded"]}
    assert bound >= set(FLOODS)
    assert MARGIN == 1.3
