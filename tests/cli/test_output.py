"""Tables and times of the verbs: they fit the terminal, and have their offset."""

import re

import pytest

from reseller_sim.formats import shown_time
from simulator.cli.output import clock_time, cut, print_table, times_of_day
from simulator.cli.watch import EventLines
from simulator.short_text import whole_line
from tests.support.asking import Asking
from tests.support.processes import PROGRAM, environment
from tests.support.runner import invoke
from tests.support.terminal import shown_on_terminal


def test_a_table_fits_the_terminal_and_marks_failures(asking: Asking) -> None:
    asking.pay("order-1")
    asking.pay("order-2", "12")
    where = {"RESELLER_SIM_URL": asking.url, "RESELLER_SIM_SANDBOX": asking.sandbox}
    coloured = shown_on_terminal([*PROGRAM, "requests"], environment(**where, NO_COLOR="", TERM="xterm"), 80)
    head, first, second, *_ = coloured.splitlines()
    assert head.startswith("\x1b[1mn  at ")
    assert "\x1b" not in first
    assert second.startswith("\x1b[31m2 ")
    below = re.search(r"\n\x1b\[31m    account must match .*", coloured)
    assert below is not None
    assert below[0].endswith("\x1b[0m")
    plain = shown_on_terminal([*PROGRAM, "requests"], environment(**where, NO_COLOR="1"), 80)
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    assert "…" not in plain
    diagnosis = asking.json("requests", "--refused")["requests"][0]["diagnosis"]
    assert " ".join(plain.split()).endswith(diagnosis)
    assert shown_on_terminal([*PROGRAM, "requests", "--json"], environment(**where), 80).startswith("{\n")


def test_columns_without_a_value_are_left_out_and_controls_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a", "b", "c"), [("1", "", "x\x1b"), ("22", "", "y\n")])
    assert capsys.readouterr().out == "a   c\n1   x\\x1b\n22  y\\n\n"
    print_table(("a", "b"), [])
    assert capsys.readouterr().out == "a  b\n"


def test_a_long_cell_is_cut() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"
    assert clock_time(None) == ""
    assert whole_line(clock_time("2027-01-10T15:59:00.000000Z")) == "2027-01-10 23:59:00 +08:00"


def test_times_of_a_single_day_show_the_date_in_the_heading_alone() -> None:
    times = ["2027-01-10T15:59:00.123456Z", "2027-01-10T15:59:01.000000Z"]
    assert times_of_day(times) == ("at 2027-01-10 +08:00", ["23:59:00.123", "23:59:01.000"])
    assert times_of_day([*times, "2027-01-10T16:00:00.000000Z"])[0] == "at +08:00"
    assert times_of_day([times[0], "2027-01-10T16:00:00.000000Z"])[1] == [
        "2027-01-10 23:59:00.123",
        "2027-01-11 00:00:00.000",
    ]
    assert times_of_day([]) == ("at +08:00", [])


def test_times_are_in_utc_when_a_variable_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESELLER_SIM_UTC", "1")
    assert clock_time("2027-01-10T15:59:00.000000Z") == "2027-01-10 15:59:00 +00:00"
    assert times_of_day(["2027-01-10T15:59:00.123456Z"]) == ("at 2027-01-10 +00:00", ["15:59:00.123"])


def test_a_list_of_sandboxes_keeps_their_urls_whole(asking: Asking) -> None:
    where = {"RESELLER_SIM_URL": asking.url}
    url = f"{asking.url}/s/{asking.sandbox}"
    shown = shown_on_terminal([*PROGRAM, "sandbox", "list"], environment(**where, NO_COLOR="1"), 80)
    assert url in shown.split()
    assert "time" in shown


def test_headings_of_requests_are_not_cut(asking: Asking) -> None:
    asking.pay("a-refid-that-is-as-long-as-some-are-1234", "12")
    where = {"RESELLER_SIM_URL": asking.url, "RESELLER_SIM_SANDBOX": asking.sandbox}
    shown = shown_on_terminal([*PROGRAM, "requests"], environment(**where, NO_COLOR="1"), 80)
    assert "diagnosis" in shown.split()


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
    assert "+08:00" in asking.verb(*words).stdout, "the flag applies to a single run"
    where = {"RESELLER_SIM_URL": asking.url, "RESELLER_SIM_SANDBOX": asking.sandbox}
    assert "+00:00" in invoke(*words, RESELLER_SIM_UTC="1", **where).stdout  # type: ignore[arg-type]
    assert re.search(r"\dZ\"", asking.verb(*words, "--json").stdout)


def test_a_line_and_a_time_have_the_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EventLines(coloured=False).line(EVENT).startswith("04:00:00.123+08:00 default")
    assert shown_time(AT) == "2026-11-30 04:00:00.123+08:00"
    monkeypatch.setenv("RESELLER_SIM_UTC", "true")
    assert EventLines(coloured=False).line(EVENT).startswith("20:00:00.123+00:00 default")
    assert shown_time(AT) == "2026-11-29 20:00:00.123+00:00"


@pytest.mark.parametrize("text", ["", "x", "9999-12-31T23:59:59Z", "\x1b[2J"])
def test_an_invalid_time_zone_changes_nothing(text: str) -> None:
    assert shown_time(text) == text
