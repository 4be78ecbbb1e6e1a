"""Differences on a tape are found, and shown with both sides."""

import re
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from simulator.cli.tape_file import TapeLife, difference_lines
from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.rebuilding import nowhere, prove
from simulator.persistence.replay.tape_reader import ReadTape, read_tapes
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from tests.support.client import Client, running
from tests.support.taped_plays import FIRST, set_callback

Lines = list[dict[str, Any]]

# A number keeps its digits, since a catalog shows them.
DECODER = msgspec.json.Decoder(float_hook=Decimal)
ENCODER = msgspec.json.Encoder(decimal_format="number")


@pytest.fixture(scope="module")
def recorded() -> Any:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.pay("two", amount=20)
        client.advance()
        yield client, [DECODER.decode(line) for line in tape_lines(take_tape(client.live))]


def of_kind(lines: Lines, kind: str, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = [line for line in lines if line.get("entry") == kind][place]
    return found


def of_command(lines: Lines, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one["command"] for one in lines if one.get("command", {}).get("command") == name)
    return found


ORDINARY = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "1s", "status": "Succesful"}]


def without_the_last_attempt(lines: Lines) -> None:
    """As a tape is that was taken while the attempt was due and not begun, but for what its last line says of that."""
    sent = of_kind(lines, "attempt", -1)
    ended = [one for one in lines if one.get("command", {}).get("job") == sent["job"]][-1]
    lines.remove(sent)
    lines.remove(ended)


def found_in(client: Client, lines: Lines) -> tuple[ReadTape, Difference | None]:
    (tape,) = read_tapes(ENCODER.encode(line) + b"\n" for line in lines)
    assert not tape.damage, tape.damage
    return tape, prove(tape, client.app.replayer, nowhere()).difference


def counted(lines: Lines) -> None:
    lines[0]["entries"] = lines[-1]["end"] = len(lines) - 2


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
        r"attempt 1 of x\n  tape    ends\n  replay  is not in flight",
    ),
    "a request less": (
        lambda lines: lines.remove(of_kind(lines, "request", 1)),
        r"attempt 1 of cb-1\n",
    ),
    "a request that waited and did not": (
        lambda lines: of_kind(lines, "request", 1).update(waits=False),
        r"request 2 \(POST /v2/topup\)\n  tape    answered at once\n  replay  waits",
    ),
    "a duplicate that the tape lacks": (
        lambda lines: lines[0]["scenario"].update(
            payments=[{"name": "ordinary", "then": ORDINARY, "callbacks": [{"status": "Succesful", "duplicate": 1}]}]
        ),
        r"attempt \d of cb-\d\n  tape    is not due\n  replay  is due",
    ),
    "an attempt less, with its end present": (
        lambda lines: lines.remove(of_kind(lines, "attempt", -1)),
        r"attempt \d of cb-\d\n  tape    ends\n  replay  is not sent before",
    ),
    "an attempt less, and its end": (
        without_the_last_attempt,
        r"entry (\d+) of \1 differs: attempt \d of cb-\d\n  tape    is not due\n  replay  is due",
    ),
    "an attempt that was never due": (
        lambda lines: lines[-1].update(due=[["cb-99", 1]]),
        r"entry (\d+) of \1 differs: attempt 1 of cb-99\n  tape    is due\n  replay  is not due",
    ),
    "an attempt twice": (
        lambda lines: lines.insert(lines.index(of_kind(lines, "attempt", -1)), dict(of_kind(lines, "attempt", -1))),
        r"attempt \d of cb-\d\n  tape    is sent\n  replay  was sent before",
    ),
    "the end of another attempt": (
        lambda lines: of_command(lines, "EndAttempt").update(attempt=7),
        r"attempt 7 of cb-1\n  tape    ends\n  replay  is not in flight",
    ),
    "a time that did not pass": (
        lambda lines: next(one for one in lines if one.get("due")).update(command={"command": "RecordTime"}, due=[]),
        r"attempt 1 of cb-1",
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
    copied: Lines = deepcopy(lines)
    change, shown = CHANGES[what]
    change(copied)
    counted(copied)
    if what in ("a request that waited and did not", "a request less"):
        for line in [one for one in copied if one.get("entry") == "resumed"]:
            copied.remove(line)
        counted(copied)
    tape, found = found_in(client, copied)
    assert found is not None
    text = difference_lines(TapeLife(tape, 1, 1), found)
    assert re.search(shown, text), text
    assert len(text.splitlines()) == 3


def test_an_unchanged_tape_has_no_differences(recorded: tuple[Client, Lines]) -> None:
    client, lines = recorded
    assert found_in(client, lines)[1] is None


def test_a_request_that_stays_suspended_was_not_answered() -> None:
    with running() as client:
        client.pay()
        lines = [DECODER.decode(line) for line in tape_lines(take_tape(client.live))]
        lines.remove(of_kind(lines, "resumed"))
        counted(lines)
        tape, found = found_in(client, lines)
    assert found is not None
    shown = "entry 1 of 1 differs: request 1 (POST /v2/topup)\n  tape    was answered\n  replay  waits"
    assert difference_lines(TapeLife(tape, 1, 1), found) == f"default: {shown}"


def test_items_due_but_not_begun_at_the_end_of_a_replay_are_no_difference(recorded: tuple[Client, Lines]) -> None:
    client, lines = recorded
    for place in range(len(lines) - 1):
        (tape,) = read_tapes(ENCODER.encode(line) + b"\n" for line in lines)
        assert prove(tape, client.app.replayer, nowhere(), place).difference is None, place


def test_measured_values_may_differ(recorded: tuple[Client, Lines]) -> None:
    client, lines = recorded
    copied: Lines = deepcopy(lines)
    of_kind(copied, "request")["answer"]["duration_us"] = 987_654
    assert found_in(client, copied)[1] is None


def test_a_command_before_the_set_time_of_the_clock_differs() -> None:
    with running({"clock": {"mode": "manual", "start": "2026-11-21T12:00:00+08:00"}}) as client:
        client.sim("PUT", "/sandboxes/default/clock", {"now": "2026-11-21T13:00:00+08:00"})
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "25.00"})
        lines = [DECODER.decode(line) for line in tape_lines(take_tape(client.live))]
        assert found_in(client, lines)[1] is None
        clock = of_kind(lines, "clock")
        clock["now"] = clock["now"].replace(":00:00", ":00:01")
        tape, found = found_in(client, lines)
    assert found is not None
    assert ": now\n" in difference_lines(TapeLife(tape, 1, 1), found)


def test_long_sides_are_shown_around_the_difference() -> None:
    head = "a" * 5000
    found = Difference(3, "request 1 (GET /): content", f"{head}b{head}".encode(), f"{head}c{head}".encode())
    with running() as client:
        (tape,) = read_tapes(tape_lines(take_tape(client.live)))
        _, before, after = difference_lines(TapeLife(tape, 1, 1), found).splitlines()
    assert before == f"  tape    …{'a' * 60}b{'a' * 339}…"
    assert after == f"  replay  …{'a' * 60}c{'a' * 339}…"
