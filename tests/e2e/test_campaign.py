"""The campaign, small: what `make campaign` tries at length holds for a few requests of each kind too."""

import subprocess
import sys

import pytest

from campaign.__main__ import main
from campaign.outcome import Outcome, complaints, table
from tests.support.processes import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", ["floods", "faults", "races"])
def test_a_small_campaign_breaks_no_promise(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scale", "0.01", "--only", part]) == 0, capsys.readouterr().err
    assert_kept(capsys.readouterr().out)


def test_a_large_account_is_imported_byte_for_byte() -> None:
    """In its own process, which creates the account in one turn. `make campaign` imports 25,000 billers; with these
    there are several pages of them, too."""
    command = [sys.executable, "-m", "campaign", "--only", "imports", "--scale", "0.4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    assert_kept(done.stdout)
    assert "200 products and 10000 billers" in done.stdout


def assert_kept(printed: str) -> None:
    rows = printed.splitlines()[2:]
    assert rows
    assert all(row.split(" | ")[3] == "0" for row in rows)


def test_a_broken_promise_is_counted_and_reported() -> None:
    outcome = Outcome("soak", "no 5xx", tried=1000)
    outcome.expect(True, "kept")
    outcome.expect(False, "request 7 was answered 500")
    assert table([outcome]).splitlines()[-1] == "| soak | no 5xx | 1,000 | 1 |  |"
    assert complaints([outcome]) == ["soak: request 7 was answered 500"]
