"""The campaign, small: what `make campaign` tries at length holds for a few requests of each kind too."""

import pytest

from campaign.__main__ import main
from campaign.outcome import Outcome, complaints, table

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("part", "scale"),
    [("load", "0.01"), ("fuzz", "0.01"), ("floods", "0.01"), ("faults", "0.01"), ("races", "0.01"), ("imports", "1")],
)
def test_a_campaign_breaks_no_promise(part: str, scale: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A small one, but for the import of a large account, which is soon done."""
    assert main(["--scale", scale, "--only", part]) == 0, capsys.readouterr().err
    rows = capsys.readouterr().out.splitlines()[2:]
    assert rows
    assert all(row.split(" | ")[3] == "0" for row in rows)


def test_a_broken_promise_is_counted_and_told() -> None:
    outcome = Outcome("load", "no 5xx", tried=1000)
    outcome.expect(True, "kept")
    outcome.expect(False, "request 7 was answered 500")
    assert table([outcome]).splitlines()[-1] == "| load | no 5xx | 1,000 | 1 |  |"
    assert complaints([outcome]) == ["load: request 7 was answered 500"]
