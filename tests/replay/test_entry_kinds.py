"""Whoever has to do with all kinds of entries knows each of them: writing, reading, playing, listing."""

from typing import get_args

import pytest

from simulator.cli import listed
from simulator.persistence.replay import entry_codec, lines, player
from simulator.persistence.tape.entries import Entry, Recorded
from simulator.runtime.journal import Exchange

KINDS = [Exchange if kind is Recorded else kind for kind in get_args(Entry)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_entry_is_written_played_and_listed(kind: type) -> None:
    assert kind in entry_codec._LINES
    assert kind in player._PLAYS
    assert kind in listed._what.registry


def test_no_other_kind_is_and_each_line_is_read() -> None:
    assert entry_codec._LINES.keys() == player._PLAYS.keys() == set(KINDS)
    assert set(listed._what.registry) - {object} == set(KINDS)
    assert {*entry_codec._ENTRIES, lines.RequestLine} == set(lines.Line.__subclasses__())
