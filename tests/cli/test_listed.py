"""`replay --list`: what is on a tape, with the numbers and times that `--until` takes."""

from pathlib import Path

import pytest

from simulator.cli import tape_file
from simulator.persistence.replay.head import taken
from simulator.persistence.replay.tape_writer import packed, tape_lines
from tests.support.client import Client, running
from tests.support.runner import invoke
from tests.support.taped_plays import FIRST, PLAYS, set_callback

START = "2026-11-21T12:00:00+08:00"


def tape_of(client: Client, file: Path) -> Path:
    with file.open("ab") as target:
        target.writelines(packed(tape_lines(taken(client.live))))
    return file


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """A file with two lives."""
    with running({"clock": {"mode": "manual", "start": START}}) as client:
        client.pay("order-1")
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"})
        client.advance(10)
        client.call("GET", "/v2/balance?of=me")
        file = tape_of(client, tmp_path / "run.tape")
        client.sim("POST", "/sandboxes/default/reset")
        client.call("GET", "/v2/" + 10_000 * "x" + "%0A")
        return tape_of(client, file)


def test_each_entry_is_a_line_with_its_number_time_and_life(tape: Path) -> None:
    done = invoke("replay", str(tape), "--list", "--life", "1")
    assert done.exit_code == 0, done.output
    lines = [line.lstrip() for line in done.stdout.splitlines()]
    here = f"{START}  default (life 1 of 2)  "
    assert lines[:3] == [
        f"1  {here}request 1: POST /v2/topup: begins to wait",
        f"2  {here}request 1: POST /v2/topup: goes on (ready): 200, order-1",
        f"3  {here}command Credit: reseller RS001",
    ]
    assert lines[-1].endswith("  default (life 1 of 2)  request 2: GET /v2/balance: 200")
    assert [line.split()[0] for line in lines] == [str(n + 1) for n in range(len(lines))]


def test_a_line_is_bounded_and_one_line(tape: Path) -> None:
    lines = invoke("replay", str(tape), "--list", "--sandbox", "default").stdout.splitlines()
    assert {"default (life 1 of 2)" in line for line in lines} == {True, False}
    assert max(map(len, lines)) < tape_file.WHAT_CHARS_MAX + 80
    assert all(line.lstrip()[0].isdigit() for line in lines)


def test_the_number_of_a_line_is_what_until_takes(tape: Path) -> None:
    lines = invoke("replay", str(tape), "--list", "--life", "1").stdout.splitlines()
    for line in lines:
        n, time, *_ = line.split()
        done = invoke("replay", str(tape), "--life", "1", "--until", n)
        assert done.stdout.startswith(f"default (life 1 of 2): {n} {'of ' if int(n) < len(lines) else 'entries'}")
        assert invoke("replay", str(tape), "--life", "1", "--until", time).exit_code == 0


@pytest.mark.parametrize("happens", PLAYS)
def test_every_kind_of_entry_has_words(happens: object, tmp_path: Path) -> None:
    assert callable(happens)
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        file, count = tape_of(client, tmp_path / "play.tape"), len(client.live.tape)
    done = invoke("replay", str(file), "--list")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) == count
    assert all(
        line.split("  default  ")[1].startswith(("request", "command ", "attempt", "clock: ", "inbox "))
        for line in lines
    )


def test_what_was_cut_is_listed_as_far_as_it_goes(tape: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.tape"
    part.write_bytes(tape.read_bytes()[:-200])
    done = invoke("replay", str(part), "--list")
    assert done.exit_code == 1
    assert "the file ends too early" in done.stdout


@pytest.mark.parametrize("flags", [("--serve",), ("--until", "1")])
def test_a_list_plays_nothing(flags: tuple[str, ...], tape: Path) -> None:
    done = invoke("replay", str(tape), "--list", *flags)
    assert done.exit_code == 2
    assert "--list plays nothing: leave --until and --serve out" in done.stderr
