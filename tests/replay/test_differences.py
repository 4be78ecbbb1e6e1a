"""What is otherwise on a tape is found, and shown with both sides."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from simulator.cli.replayed import difference
from simulator.cli.taped import Life
from simulator.replay.differences import Difference
from simulator.replay.head import taken
from simulator.replay.proof import player_for
from simulator.replay.reading import ReadTape, read_tapes
from simulator.replay.rebuilding import nowhere
from simulator.replay.writing import tape_lines
from tests.support.client import Client, running
from tests.support.replaying import play
from tests.support.taped_plays import FIRST, set_callback

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def recorded() -> Any:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.pay("two", amount=20)
        client.advance()
        yield client, [json.loads(line) for line in tape_lines(taken(client.live))]


def of_kind(lines: Lines, kind: str, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = [line for line in lines if line.get("entry") == kind][place]
    return found


def of_command(lines: Lines, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one["command"] for one in lines if one.get("command", {}).get("command") == name)
    return found


def found_in(client: Client, lines: Lines) -> tuple[ReadTape, Difference | None]:
    (tape,) = read_tapes(json.dumps(line).encode() + b"\n" for line in lines)
    assert not tape.damage, tape.damage
    return tape, play(player_for(tape.head, client.app.again, nowhere()), tape.entries)


CHANGES: dict[str, tuple[Callable[[Lines], Any], str]] = {
    "the body of an answer": (
        lambda lines: of_kind(lines, "request", 1)["answer"].update(body="{}"),
        r"entry 3 of \d+ differs: request 2 \(POST /v2/topup\): content",
    ),
    "the status of an answer": (
        lambda lines: of_kind(lines, "request", 1)["answer"].update(status=500),
        r"request 2 .*: status\n  tape    500\n  replay  200",
    ),
    "what the journal says": (
        lambda lines: of_kind(lines, "request", 1)["answer"].update(rule="another"),
        r"request 2 .*: rule\n  tape    another\n  replay  ",
    ),
    "the number of a request": (
        lambda lines: of_kind(lines, "request", 1)["answer"].update(n=7),
        r"request 7 .*: n\n  tape    7\n  replay  2",
    ),
    "what was asked": (
        lambda lines: of_kind(lines, "request", 1).update(
            body=of_kind(lines, "request", 1)["body"].replace('"10"', '"11"')
        ),
        r"request 2 .*: status\n  tape    200\n  replay  401",
    ),
    "the body of a callback": (
        lambda lines: of_kind(lines, "attempt").update(body="{}"),
        r"attempt 1 of cb-1: body\n  tape    \{\}\n  replay  \{\"data\"",
    ),
    "the address of a callback": (
        lambda lines: of_kind(lines, "attempt").update(url="http://127.0.0.1:9/"),
        r"attempt 1 of cb-1: url",
    ),
    "an attempt of nothing": (
        lambda lines: of_kind(lines, "attempt").update(job="cb-99"),
        r"attempt 1 of cb-99\n  tape    is sent\n  replay  is not due",
    ),
    "the end of an attempt that was never made": (
        lambda lines: of_command(lines, "EndAttempt").update(job="x"),
        r"the end of attempt 1 of x\n  tape    .*\n  replay  nothing of this job is in flight",
    ),
    "a request less": (
        lambda lines: lines.remove(of_kind(lines, "request", 1)),
        r"attempt 1 of cb-1\n",
    ),
    "a request that waited and did not": (
        lambda lines: of_kind(lines, "request", 1).update(waits=False),
        r"request 2 \(POST /v2/topup\)\n  tape    answered at once\n  replay  waits",
    ),
    "another seed": (lambda lines: lines[0].update(seed=lines[0]["seed"] + 1), r"request 2 .*: trxid"),
    "another scenario": (
        lambda lines: lines[0]["scenario"].update(payments=[{"then": [{"status": "Failed"}]}]),
        r"content",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_first_difference_is_shown_with_both_sides(recorded: tuple[Client, Lines], what: str) -> None:
    client, lines = recorded
    copied: Lines = json.loads(json.dumps(lines))
    change, shown = CHANGES[what]
    change(copied)
    copied[0]["entries"] = copied[-1]["end"] = len(copied) - 2
    if what in ("a request that waited and did not", "a request less"):
        for line in [one for one in copied if one.get("entry") == "resumed"]:
            copied.remove(line)
        copied[-1]["end"] = len(copied) - 2
    tape, found = found_in(client, copied)
    assert found is not None
    text = difference(Life(tape, 1, 1), found)
    assert re.search(shown, text), text
    assert len(text.splitlines()) == 3


def test_nothing_differs_where_nothing_was_changed(recorded: tuple[Client, Lines]) -> None:
    client, lines = recorded
    assert found_in(client, lines)[1] is None


def test_what_was_measured_may_differ(recorded: tuple[Client, Lines]) -> None:
    client, lines = recorded
    copied: Lines = json.loads(json.dumps(lines))
    of_kind(copied, "request")["answer"]["duration_us"] = 987_654
    assert found_in(client, copied)[1] is None


def test_long_sides_are_shown_around_the_difference() -> None:
    head = "a" * 5000
    found = Difference(3, "request 1 (GET /): content", f"{head}b{head}".encode(), f"{head}c{head}".encode())
    with running() as client:
        (tape,) = read_tapes(tape_lines(taken(client.live)))
        _, before, after = difference(Life(tape, 1, 1), found).splitlines()
    assert before == f"  tape    …{'a' * 60}b{'a' * 339}…"
    assert after == f"  replay  …{'a' * 60}c{'a' * 339}…"
