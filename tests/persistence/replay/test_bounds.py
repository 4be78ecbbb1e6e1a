"""Changed tapes: with any value in any member, they are refused, differ or replay, and nothing else."""

import gzip
import json
import logging
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from simulator.api.request_replayer import RequestReplayer
from simulator.domain.errors import DomainError
from simulator.persistence.replay.codec import BadTape
from simulator.persistence.replay.rebuilding import nowhere, prove
from simulator.persistence.replay.tape_reader import ReadTape, TooLargeFile, read_file, read_tapes
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.persistence.tape.tape import TAPES_BYTES_MAX
from simulator.scenario.reading.nodes import ScenarioError
from tests.support.client import running
from tests.support.taped_plays import FIRST, set_callback

REFUSED = (BadTape, ScenarioError, DomainError)
CANNOT_BE_PLAYED = (AssertionError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""Return the single line of `replay` with exit code 3."""

TIMES = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-23:59", "2026-11-21T00:00:00"]
HOSTILE: list[Any] = [
    None, True, -1, 2**63, 10**30, 1e308, "", "\x00\r\n", "\u2603", "a" * 70_000, [["a", "b"]], {},
    {"base64": "/w=="}, {"n": 1, "status": 200, "owner": "other"}, *TIMES,
]  # fmt: skip


@pytest.fixture(scope="module")
def lines() -> list[Any]:
    """A tape with an entry of every kind."""
    with running(FIRST | {"clock": {"mode": "manual"}}) as client:
        set_callback(client)
        client.pay("one")
        client.call("GET", "/v2/balance")
        client.advance(60)
        client.sim("PUT", "/sandboxes/default/inbox/box", {"replies": [{"status": 500}]})
        client.send("POST", "/_sim/inbox/default/box", "", b"hello")
        client.sim("DELETE", "/sandboxes/default/inbox/box")
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"})
        return [json.loads(line) for line in tape_lines(take_tape(client.live))]


RULE = {"command": "AddRule", "section": "payments", "document": 0}
END = '{"end":0}\n'


def members(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all members, but for those within the scenario."""
    if isinstance(value, dict) and path[-1:] != ("scenario",):
        for name, one in value.items():
            yield (*path, name)
            yield from members(one, (*path, name))


def changed(line: dict[str, Any], path: tuple[Any, ...], to: Any) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(line))
    at: Any = copy
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = to
    return copy


def told(contents: Iterable[Any]) -> None:
    """Read and replay these lines, as `replay` does."""
    try:
        for tape in read_tapes(json.dumps(one).encode() + b"\n" for one in contents):
            prove(tape, RequestReplayer(), nowhere())
    except (*REFUSED, *CANNOT_BE_PLAYED):
        pass


@pytest.mark.slow
def test_every_member_may_be_anything(lines: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """A mistake of ours while a tape is played would be logged, and answered 500."""
    kinds: dict[Any, int] = {}
    for number, one in enumerate(lines[1:-1], 1):
        kinds.setdefault((one["entry"], one.get("method"), one.get("command", {}).get("command")), number)
    assert {kind[0] for kind in kinds} >= {"request", "command", "attempt", "clock", "inbox_message", "inbox_replies"}
    tried = count()
    with caplog.at_level(logging.ERROR):
        for number in (0, *kinds.values()):
            of_request = [("answer", "owner"), ("waits",), ("shown",), ("prefix",)]
            added = of_request if lines[number].get("entry") == "request" else []
            for path in (*members(lines[number]), *added):
                for value in HOSTILE[next(tried) % 3 :: 3]:
                    wrong = changed(lines[number], path, value)
                    told([*lines[:number], wrong, *lines[max(1, number + 1) : number + 3]])
                    assert not caplog.records, (lines[number], path, value)


@pytest.mark.parametrize(
    ("place", "path", "value", "text"),
    [
        (0, ("started",), TIMES[0], "cannot be played: ValueError: 0001-01-01T00:00:00.00:00 is not from 1990 to 2200"),
        (0, ("started",), TIMES[3], "line 1 cannot be understood .*timezone component"),
        (0, ("clock", "mode"), "fast", "cannot be played: Unacceptable: clock mode 'fast' is not one of"),
        (0, ("entries",), 1, "line 3: this is entry 2, and the head of the tape counts 1"),
        (1, ("now",), TIMES[1], "cannot be played: ValueError: 9999-12-31"),
        (1, ("wall",), TIMES[2], "cannot be played: ValueError: 9999-12-31"),
        (1, ("replay_of",), -5, "line 2 cannot be understood .*replay_of"),
        (1, ("answer",), {"n": 1, "status": 99_999}, "line 2 cannot be understood .*answer.status"),
        (0, ("sandbox",), "../x", "line 1: sandbox: '../x' is the id of no sandbox"),
        (-1, ("now",), TIMES[0], "line [0-9]+: now is not from 1990 to 2200"),
        (-1, ("marks",), [{"mark": "m", "n": 2**70, "state": ""}], "line [0-9]+: mark 'm' is after entry [0-9]+ of "),
        (-1, ("marks",), [{"mark": "m", "n": -1, "state": ""}], "line [0-9]+ cannot be understood .*marks"),
        (-1, ("now",), TIMES[3], "line [0-9]+ cannot be understood .*timezone component"),
        (-1, ("left_out",), -1, "line [0-9]+ cannot be understood .*left_out"),
    ],
)
def test_values_that_no_sandbox_can_have_are_refused(
    lines: list[Any], place: int, path: tuple[Any, ...], value: Any, text: str
) -> None:
    wrong = list(lines)
    wrong[place] = changed(lines[place], path, value)
    assert re.search(text, refusal_of(wrong))


def refusal_of(contents: Iterable[Any]) -> str:
    """Why these lines cannot be read or played."""
    try:
        (tape,) = read(contents)
        prove(tape, RequestReplayer(), nowhere())
    except BadTape as bad:
        return str(bad)
    except (*REFUSED, *CANNOT_BE_PLAYED) as error:
        return f"cannot be played: {type(error).__name__}: {error}"
    return tape.damage


def read(contents: Iterable[Any], bytes_max: int = TAPES_BYTES_MAX) -> list[ReadTape]:
    return list(read_tapes((json.dumps(one).encode() + b"\n" for one in contents), bytes_max))


def test_an_unrecorded_request_differs(lines: list[Any]) -> None:
    place, found = next((n, one) for n, one in enumerate(lines) if one.get("method") == "GET")
    wrong = changed(found, ("answer", "owner"), "other")
    (tape,) = read_tapes(json.dumps(one).encode() + b"\n" for one in [*lines[:place], wrong, *lines[place + 1 :]])
    difference = prove(tape, RequestReplayer(), nowhere()).difference
    assert difference is not None
    assert (difference.entry, difference.replayed) == (place, "nobody recorded it")


def test_a_small_file_that_is_a_large_one_takes_little(lines: list[Any], tmp_path: Path) -> None:
    line = b'{"entry":"inbox_cleared","now":"2026-11-21T04:00:00Z","name":"x"}\n'
    head = json.dumps({**lines[0], "entries": 20}).encode() + b"\n"
    file = tmp_path / "bomb"
    file.write_bytes(gzip.compress(head + line * 300_000))
    tracemalloc.start()
    try:
        (tape,) = read_file(file)
        assert tape.damage == "line 22: this is entry 21, and the head of the tape counts 20"
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_all_that_is_read_of_a_file_is_bounded(lines: list[Any]) -> None:
    content = [json.dumps(one).encode() + b"\n" for one in lines]
    with pytest.raises(TooLargeFile, match="would take more than 1000000 bytes of memory, which is the limit"):
        list(read_tapes(content * 100, 1_000_000))


@pytest.mark.slow
@pytest.mark.parametrize("filling", ["[]", "{}", "1e0", '{"a":1e0}', "[[[1e0]]]", '"ab"', f'"\U0001f600{"a" * 40}"'])
@pytest.mark.parametrize("is_head", [True, False])
def test_a_document_counts_as_what_it_becomes(lines: list[Any], filling: str, is_head: bool) -> None:
    """Whatever it is filled with, reading it takes no more than is counted, or it is not read."""
    document = f'{{"x":[{",".join([filling] * 30_000)}],"n":%d}}'
    head = json.dumps(lines[0] | {"scenario": 0, "entries": 0 if is_head else 50}) + "\n"
    rule = json.dumps({"entry": "command", "now": lines[0]["started"], "command": RULE}) + "\n"
    if is_head:
        heads = (head.replace('"scenario": 0', f'"scenario": {document % n}') for n in range(50))
        content = [one for each in heads for one in (each, END)]
    else:
        content = [head, *[rule.replace('"document": 0', f'"document": {document % n}') for n in range(50)]]
        content[0] = head.replace('"scenario": 0', '"scenario": {}')
    encoded = [one.encode() for one in content]
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeFile):
            list(read_tapes(encoded, 20_000_000))
        assert tracemalloc.get_traced_memory()[1] < 25_000_000
    finally:
        tracemalloc.stop()


def test_lives_that_began_alike_share_their_scenario_and_are_bounded_in_memory(lines: list[Any]) -> None:
    life = [lines[0] | {"entries": 0}, {"end": 0}]
    first, _, third = read(life * 3, 2_000_000)
    assert third.head.scenario is first.head.scenario
    with pytest.raises(TooLargeFile, match="would take more than 2000000 bytes of memory, which is the limit"):
        read(life * 600, 2_000_000)
