"""`mark`, `rewind` and `fork`."""

import pytest

from tests.support.asking import Asking
from tests.support.runner import refusal


def refids(asking: Asking, sandbox: str | None = None) -> list[str]:
    flags = ("--sandbox", sandbox) if sandbox else ()
    return [one["refid"] for one in asking.json("requests", *flags)["requests"] if one["refid"]]


def names(asking: Asking) -> list[str]:
    return [one["name"] for one in asking.json("mark", "list")["marks"]]


def test_marks_are_made_listed_and_forgotten(asking: Asking) -> None:
    for name in ("ordered", "before the order"):
        made = asking.json("mark", "add", name)
        assert made["name"] == name
    assert names(asking) == ["ordered", "before the order"]
    assert asking.verb("mark", "rm", "before the order").exit_code == 0
    assert names(asking) == ["ordered"]
    assert "there is a mark 'ordered' already" in refusal(asking.verb("mark", "add", "ordered"), 1)
    assert "name must be 1 to 64 letters" in refusal(asking.verb("mark", "add", "a/b"), 1)
    assert "there is no mark 'gone'" in refusal(asking.verb("mark", "rm", "gone"), 1)
    assert "which no name can have" in refusal(asking.verb("mark", "rm", "x/../y"), 1)


def test_people_read_lines_and_a_table(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.cli.output.is_terminal", lambda: True)
    assert asking.verb("mark", "add", "here").stdout.startswith("here: after entry ")
    head, row = asking.verb("mark", "list").stdout.splitlines()
    assert head.split() == ["mark", "entries", "time"]
    assert row.split()[0] == "here"
    assert asking.verb("rewind", "here").stdout.startswith(f"{asking.sandbox}: rewound, it is ")
    made = asking.verb("fork", "here", "--id", "shown").stdout
    assert made.startswith("sandbox    shown, scenario ")
    assert "reseller-sim sandbox rm shown" in made
    asking.verb("sandbox", "rm", "shown")


def test_a_list_of_nothing_says_so(asking: Asking) -> None:
    assert asking.verb("mark", "list").stdout == "no marks\n"
    assert asking.verb("hold", "list").stdout == "no holds\n"


def test_a_new_sandbox_shows_the_speed_of_its_clock(asking: Asking) -> None:
    asking.json("clock", "x60")
    assert "\nclock      x60, " in asking.verb("fork", "--id", "fast").stdout
    asking.verb("sandbox", "rm", "fast")


@pytest.mark.parametrize("form", ["mark", "time", "number"])
def test_a_sandbox_returns_to_a_mark_a_time_or_a_number(form: str, asking: Asking) -> None:
    asking.pay("order-1")
    mark = asking.json("mark", "add", "ordered")
    moment = {"mark": "ordered", "time": mark["at"], "number": str(mark["n"])}[form]
    asking.json("advance", "10s")
    asking.pay("order-2")
    assert asking.json("rewind", moment)["id"] == asking.sandbox
    assert refids(asking) == ["order-1"]


def test_a_mark_may_look_like_a_number(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("mark", "add", "0")
    asking.pay("order-2")
    asking.json("rewind", "0", "--mark")
    assert refids(asking) == ["order-1"]
    asking.json("rewind", "0")
    assert refids(asking) == []


def test_a_fork_continues_independently(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("mark", "add", "ordered")
    asking.pay("order-2")
    for words, expected in ((("ordered",), ["order-1"]), ((), ["order-2", "order-1"])):
        made = asking.json("fork", *words)["id"]
        assert refids(asking, made) == expected
        asking.verb("sandbox", "rm", made)
    lines = asking.verb("fork", "ordered", "--id", "exported", "--export").stdout.splitlines()
    assert "export RESELLER_SIM_SANDBOX=exported" in lines
    assert "there is a sandbox 'exported' already" in refusal(asking.verb("fork", "--id", "exported"), 1)
    asking.verb("sandbox", "rm", "exported")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("rewind", "nothing"), 1, "there is no mark 'nothing'"),
        (("fork", "nothing"), 1, "there is no mark 'nothing'"),
        (("rewind", "999999"), 1, "the tape has "),
        (("rewind", "9" * 5000), 1, "n must be"),
        (("rewind", "2001-01-01T00:00:00Z"), 1, "the tape has no such time"),
        (("rewind", "12:00"), 2, "must be an ISO 8601 time"),
        (("rewind", "2300-01-01T00:00:00Z"), 2, "must be between 1990 and 2200"),
        (("fork", "--mark"), 2, "--mark belongs to the name of a mark"),
        (("fork", "--sandbox", "nobody"), 3, "there is no sandbox 'nobody'"),
        (("rewind", "x", "--sandbox", "nobody"), 3, "there is no sandbox 'nobody'"),
    ],
)
def test_an_invalid_moment_is_refused_on_one_line(
    words: tuple[str, ...], status: int, said: str, asking: Asking
) -> None:
    line = refusal(asking.verb(*words), status)
    assert said in line
    assert len(line) < 400
