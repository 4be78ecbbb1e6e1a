"""docs/tape.md against real tapes: its tables have each member of each line, and absent members are null."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from simulator.persistence.replay import codec, tape_writer
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.persistence.tape.entries import Line
from tests.support.client import Client, running
from tests.support.taped_plays import FIRST, PLAYS, set_callback
from tools.pages.tape import PAGE as PATH

PAGE = PATH.read_text("utf-8")
NAMED = re.compile(r"`([a-z_]+)`")
LINES = PAGE.partition("## The file")[2].partition("### Commands")[0]
ROWS = {name: set(NAMED.findall(cells)) for name, cells in re.findall(r"^\| ([^|]+?) \| (.*) \|$", LINES, re.MULTILINE)}
NOTHING: tuple[Any, ...] = ("", 0, False, None, [], {})
OF_EVERY_LINE = {"entry"}


def rows_of(line: dict[str, Any]) -> set[str]:
    """The members that the page names for a line."""
    if "entry" in line:
        return ROWS[f"`{line['entry']}`"] | OF_EVERY_LINE
    return ROWS["none: the head" if "tape" in line else "none: the end"]


def all_members(value: Any) -> Iterator[str]:
    """Yield the members of a line and of its answer; members of documents and commands are described elsewhere."""
    for name, one in value.items():
        yield name
        if name in ("answer", "clock") and isinstance(one, dict):
            yield from one


@pytest.mark.parametrize("happens", PLAYS)
def test_every_member_of_a_real_tape_is_on_the_page(happens: Callable[[Client], None]) -> None:
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        found = [json.loads(line) for line in tape_lines(take_tape(client.live))]
    for line in found:
        assert set(all_members(line)) <= rows_of(line), line
    for command in (line["command"] for line in found if line.get("entry") == "command"):
        assert set(command) - {"command"} == set(re.findall(r"`([a-z_]+)`:", row(command["command"]))), command
    assert all(line["how"] for line in found if line.get("entry") == "resumed")
    assert found[0]["audited"] is True


def row(command: str) -> str:
    """The row of a command."""
    (found,) = re.findall(rf"^\| `{command}` \| (.*)$", PAGE, re.MULTILINE)
    return str(found)


def test_the_page_says_the_version_of_the_format() -> None:
    (version,) = re.findall(r"^\| none: the head \|.*\(the format's version, (\d+)\)", PAGE, re.MULTILINE)
    assert int(version) == tape_writer.VERSION


KINDS = [*Line.__subclasses__(), codec.AnswerLine, tape_writer.Head, tape_writer.HeadClock, tape_writer.End]


@pytest.mark.parametrize("kind", KINDS)
def test_an_optional_member_is_null_when_absent(kind: type[msgspec.Struct]) -> None:
    absent = [one for one in msgspec.structs.fields(kind) if one.default not in (msgspec.NODEFAULT, *NOTHING, ())]
    assert not kind.__struct_config__.omit_defaults or absent == []
