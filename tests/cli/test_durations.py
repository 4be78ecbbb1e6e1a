"""`advance` takes durations as scenario files and the clients do."""

from datetime import datetime

import pytest

from tests.support import durations
from tests.support.asking import Asking
from tests.support.runner import invoke, refusal

pytestmark = pytest.mark.slow

# What the command line reads as seconds, or never gets to read: a number, and what looks like a flag.
NUMBERS = {"5", "90"}


@pytest.mark.parametrize(("text", "seconds"), [case for case in durations.GOOD if case[1] >= 0])
def test_the_clock_advances_by_a_duration(asking: Asking, text: str, seconds: float) -> None:
    before, after = (datetime.fromisoformat(asking.json("advance", by)["now"]) for by in ("1s", text))
    assert (after - before).total_seconds() == seconds


@pytest.mark.parametrize(
    "text",
    [
        *(text for text in durations.BAD if text not in NUMBERS and not text.startswith("-")),
        *("٣", "３０", "1_0", "1e3", "1e12", "nan", "inf"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    line = refusal(invoke("advance", text, "--url", "http://127.0.0.1:1"), 2)
    assert "is no time to advance by: write a duration such as 90s, 1h30m or 1.5d" in line


@pytest.mark.parametrize("text", [*durations.TOO_LONG, "432000000", "316224001"])
def test_a_duration_that_is_too_long_is_refused_as_such(text: str) -> None:
    line = refusal(invoke("advance", text, "--url", "http://127.0.0.1:1"), 2)
    assert f"{text!r} is longer than 3660 days" in line
