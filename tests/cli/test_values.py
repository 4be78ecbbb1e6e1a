"""The command line takes durations as scenario files and the clients do."""

from datetime import datetime

import click
import pytest

from simulator.cli.main import cli
from simulator.cli.values import Span
from tests.support import durations
from tests.support.asking import Asking
from tests.support.runner import invoke, refusal

# Words that the command line reads as seconds or as a flag.
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
    assert "is not a duration to advance by: write a duration such as 90s, 1h30m or 1.5d" in line


@pytest.mark.parametrize("text", [*durations.TOO_LONG, "432000000", "316224001"])
def test_a_duration_that_is_too_long_is_refused_as_such(text: str) -> None:
    line = refusal(invoke("advance", text, "--url", "http://127.0.0.1:1"), 2)
    assert f"{text!r} is longer than 3660 days" in line


LENGTHS = {
    "serve --sandbox-ttl": ("serve",),
    "serve --drain": ("serve",),
    "serve --lease": ("serve",),
    "serve --store-grace": ("serve",),
    "exec --sandbox-ttl": ("exec", "--", "true"),
    "exec --lease": ("exec", "--", "true"),
    "exec --store-grace": ("exec", "--", "true"),
    "exec --timeout": ("exec", "--", "true"),
    "explore --sandbox-ttl": ("explore", "--", "true"),
    "explore --timeout": ("explore", "--", "true"),
    "prove --timeout": ("prove", __file__, "--", "true"),
    "listen --timeout": ("listen", "--forward-to", "http://127.0.0.1:1"),
    "inbox --timeout": ("inbox",),
    "health --wait": ("health",),
    "import --timeout": ("import",),
    "conform --timeout": ("conform",),
    "conform --wait": ("conform",),
    "proxy --timeout": ("proxy", "--upstream", "http://127.0.0.1:1"),
}


@pytest.mark.parametrize(("name", "words"), LENGTHS.items(), ids=LENGTHS)
def test_every_length_of_time_says_what_to_write(name: str, words: tuple[str, ...]) -> None:
    flag = name.split()[1]
    line = refusal(invoke(words[0], flag, "soon", *words[1:]), 2)
    assert f"'{flag}': 'soon' is not a duration: write a duration such as 90s, 1h30m or 500ms" in line
    assert "is not" in refusal(invoke(words[0], flag, "-1s", *words[1:]), 2)


def test_no_other_flag_takes_seconds_in_another_way() -> None:
    found = set()
    for name in cli.list_commands(click.Context(cli)):
        verb = cli.get_command(click.Context(cli), name)
        assert verb is not None
        for flag in verb.params:
            assert not {flag.metavar} & {"SECONDS", "S"}
            if isinstance(flag.type, Span):
                found.add(f"{name} {flag.opts[0]}")
    assert found == set(LENGTHS)


@pytest.mark.parametrize(("text", "seconds"), [*durations.GOOD, ("0.25", 0.25), ("30", 30)])
def test_a_length_of_time_is_a_duration_or_a_number_of_seconds(text: str, seconds: float) -> None:
    assert Span(0).convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "", "1e999", *durations.TOO_LONG])
def test_a_length_of_time_is_finite(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a duration"):
        Span(0).convert(text, None, None)
