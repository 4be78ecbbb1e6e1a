"""All code that handles entries knows each kind: writing, reading, playing, listing."""

from typing import get_args

import pytest

from simulator.cli import tape_file
from simulator.persistence.replay import codec, player
from simulator.persistence.tape.entries import Entry, Line, RequestRecord
from simulator.runtime.journal import Exchange

KINDS = [Exchange if kind is RequestRecord else kind for kind in get_args(Entry)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_entry_is_written_played_and_listed(kind: type) -> None:
    assert kind in codec._LINES or issubclass(kind, Line)
    assert kind in player._PLAYS
    assert kind in tape_file._WHAT


def test_no_other_kind_is_and_each_line_is_read() -> None:
    assert player._PLAYS.keys() == set(KINDS)
    assert set(tape_file._WHAT) == set(KINDS)
    assert codec._LINES.keys() <= set(KINDS)
