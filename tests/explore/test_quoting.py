"""Words that a shell reads as they were."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.explore.fault_findings import joined, quoted
from tests.support.tiers import examples

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_bash_reads_what_was_quoted_from_one_line(words: list[str]) -> None:
    line = joined(words)
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [one.encode() for one in words]


def test_a_line_feed_is_written_as_dollar_quotes_have_it() -> None:
    assert quoted("a\nit's \x01") == r"$'a\012it\047s \001'"
    assert quoted("a b") == "'a b'"
    assert quoted("\udcff1") == r"$'\3771'"
