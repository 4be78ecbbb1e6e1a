"""The bench at scale, made small: every subject has its rows, and what misses its target says so."""

from collections.abc import Callable

import pytest

from bench import scale
from bench.scale import Row, main


def test_a_row_says_when_it_misses_its_target() -> None:
    assert Row("a figure", 5.0, "ms", 4.0).cells()[-1] == "MISSED"
    assert Row("a figure", 4.0, "ms", 4.0).cells() == ("a figure", "4 ms", "at most 4", "")
    assert Row("a figure", 4.0, "ms").is_met


def test_a_subject_that_there_is_not_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "count", "rows"),
    [
        (scale.payments, 60, 1),
        (scale.sandboxes, 3, 2),
        (scale.memory, 60, 1),
        (scale.restarts, 60, 4),
    ],
)
def test_every_subject_has_its_rows(
    measure: Callable[[int], list[Row]], count: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "WARM_UP", 50)
    monkeypatch.setattr(scale, "PAID_AT_ONCE", 50)
    monkeypatch.setattr(scale, "KILLED_AFTER_S", 0.01)
    found = measure(count)
    assert len(found) == rows
    assert all(row.title and row.unit is not None for row in found)
