"""The bench of history and statement: every search answers, in one row each."""

import gc

import pytest

from bench.history import SEARCHES, main


@pytest.mark.slow
def test_every_search_is_a_row_and_every_count_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    main(["20", "60"])
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[-2:] == ["20", "60"]
    assert len(rows) == len(SEARCHES) + 1
    assert all(float(figure.replace(",", "")) > 0 for row in rows for figure in row.split()[-2:])
    assert gc.isenabled()


@pytest.mark.parametrize("count", ["none", "1.5", "0"])
def test_a_count_that_cannot_be_is_refused(count: str) -> None:
    with pytest.raises(SystemExit):
        main([count])
