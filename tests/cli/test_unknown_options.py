"""An option that a verb does not have gets the one that is most like it, or none."""

import pytest

from tests.support.runner import invoke


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("serve --clok", "there is no option --clok; did you mean --clock?"),
        ("serve --hst", "there is no option --hst; did you mean --host?"),
        ("deposit --resller", "there is no option --resller; did you mean --reseller?"),
        ("inbox --clera", "there is no option --clera; did you mean --clear?"),
        ("serve --sequence", "there is no option --sequence (see"),
        ("advance --port 1", "there is no --port here: give the simulator's address"),
        ("advance -5", "what begins with -5 is below 0"),
    ],
)
def test_an_unknown_option_has_the_likeliest_suggestion(words: str, said: str) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert said in result.stderr
