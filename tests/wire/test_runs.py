"""Runs of things end where the first thing begins that is none of theirs."""

import pytest

from simulator.wire.runs import end_of_run, run_of

RUN = run_of(r"(?!%(?:26|23))(?:\\.|[^&\\])")


@pytest.mark.parametrize(
    ("text", "begins", "rest"),
    [
        ("a=b&c", 2, "&c"),
        ("a=&c", 2, "&c"),
        ("a=", 2, ""),
        ("a=b%26c", 2, "%26c"),
        ("a=b%25c", 2, ""),
        (r"a=b\&c&d", 2, "&d"),
        ("a=b\\", 2, "\\"),
        ("a=b\\\n", 2, "\\\n"),
        ("a=" + "b" * 12_345 + "%23c", 2, "%23c"),
        ("a=" + r"\&" * 12_345 + "&c", 2, "&c"),
    ],
)
def test_a_run_ends_before_what_does_not_belong_to_it(text: str, begins: int, rest: str) -> None:
    assert text[end_of_run(RUN, text, begins) :] == rest
