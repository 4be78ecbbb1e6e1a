"""People are shown times in the service's zone with the offset, or in UTC when they ask for it; JSON keeps ISO 8601."""

import re

import pytest

from reseller_sim.times import shown_time
from simulator.cli.watch import Lines
from tests.support.asking import Asking
from tests.support.runner import invoke

AT = "2026-11-29T20:00:00.123456Z"
EVENT = {"kind": "action", "at": AT, "sandbox": "default", "action": "reset", "about": ""}
VERBS = [("clock",), ("advance", "1s"), ("sandbox", "list"), ("requests", "1"), ("story", "order-1")]


@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
def test_each_verb_writes_the_offset_and_follows_the_flag_and_the_variable(
    asking: Asking, words: tuple[str, ...]
) -> None:
    asking.pay("order-1")
    assert "+08:00" in asking.verb(*words).stdout
    in_utc = asking.verb(*words, "--utc").stdout
    assert "+00:00" in in_utc
    assert "+08:00" not in in_utc
    assert "+08:00" in asking.verb(*words).stdout, "the flag is of one run"
    where = {"RESELLER_SIM_URL": asking.url, "RESELLER_SIM_SANDBOX": asking.sandbox}
    assert "+00:00" in invoke(*words, RESELLER_SIM_UTC="1", **where).stdout  # type: ignore[arg-type]
    assert re.search(r"\dZ\"", asking.verb(*words, "--json").stdout)


def test_a_line_and_a_time_have_the_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Lines(coloured=False).line(EVENT).startswith("04:00:00.123+08:00 default")
    assert shown_time(AT) == "2026-11-30 04:00:00.123+08:00"
    monkeypatch.setenv("RESELLER_SIM_UTC", "true")
    assert Lines(coloured=False).line(EVENT).startswith("20:00:00.123+00:00 default")
    assert shown_time(AT) == "2026-11-29 20:00:00.123+00:00"


@pytest.mark.parametrize("text", ["", "x", "9999-12-31T23:59:59Z", "\x1b[2J"])
def test_what_is_no_time_changes_nothing(text: str) -> None:
    assert shown_time(text) == text
