"""`replay`: files with several lives, that were cut or damaged; and what is on them."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from simulator.cli import tape_file
from simulator.cli.tape_file import read_tape_file
from simulator.persistence.replay.tape_reader import read_file
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from tests.support.client import Client, running
from tests.support.processes import DEADLINE_S, PROGRAM, environment
from tests.support.runner import invoke
from tests.support.taped_plays import FIRST, PLAYS, set_callback

START = "2026-11-21T12:00:00+08:00"
CHECKSUM_BYTES = 8
LONG = " ".join(map(str, range(1000))).encode()
SCENARIO: dict[str, Any] = {"clock": {"mode": "manual", "start": START}}


def replay(file: Path, *arguments: str) -> Result:
    return invoke("replay", str(file), *arguments)


def lines_of(client: Client, sandbox: str = "default") -> list[bytes]:
    return list(tape_lines(take_tape(client.app.sandboxes.get(sandbox))))


@pytest.fixture(scope="module")
def lives() -> list[list[bytes]]:
    """The lines of two lives of the default sandbox, and of a life of another: 3, 2 and 0 entries."""
    with running(SCENARIO) as client:
        deposit = "/sandboxes/default/resellers/RS001/deposits"
        for _ in range(3):
            client.sim("POST", deposit, {"amount": "5"})
            client.advance(10)
        first = lines_of(client)
        client.sim("POST", "/sandboxes/default/reset")
        client.sim("POST", deposit, {"amount": "6"})
        client.sim("POST", "/sandboxes", {"id": "idle"})
        return [first, lines_of(client), lines_of(client, "idle")]


@pytest.fixture
def first(lives: list[list[bytes]], tmp_path: Path) -> Path:
    """A file with the first of these lives alone."""
    return written(tmp_path / "first.tape", lives[0])


def written(file: Path, *of: list[bytes]) -> Path:
    file.write_bytes(b"".join(b"".join(packed(one)) for one in of))
    return file


def count(lines: list[bytes]) -> int:
    return len(lines) - 2


def test_each_life_is_played_and_has_a_number(lives: list[list[bytes]], tmp_path: Path) -> None:
    done = replay(written(tmp_path / "all.tape", *lives))
    assert done.exit_code == 0, done.output
    counts = [count(one) for one in lives]
    assert [line.partition(" replayed")[0] for line in done.stdout.splitlines()] == [
        f"default (life 1 of 2): {counts[0]} entries",
        f"default (life 2 of 2): {counts[1]} entries" if counts[1] != 1 else "default (life 2 of 2): 1 entry",
        "idle: 0 entries",
    ]


def test_a_life_is_selected_by_its_number_and_defaults_to_the_last(lives: list[list[bytes]], tmp_path: Path) -> None:
    file = written(tmp_path / "all.tape", *lives)
    default = ("--sandbox", "default")
    assert replay(file, *default).stdout.count("\n") == 2
    for arguments, said in (
        (("--life", "1"), "default (life 1 of 2): "),
        (("--life", "2"), "default (life 2 of 2): "),
        (("--until", "1"), "default (life 2 of 2): 1"),
        (("--life", "1", "--until", "1"), "default (life 1 of 2): 1 of "),
    ):
        done = replay(file, *default, *arguments)
        assert (done.exit_code, done.stdout.count("\n")) == (0, 1), done.output
        assert done.stdout.startswith(said)
    done = replay(file, *default, "--life", "3")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == f"reseller-sim replay: {file}: it has 2 lives of default: --life is from 1 to 2\n"


@pytest.mark.parametrize("arguments", [("--until", "1"), ("--serve",), ("--life", "1")])
def test_a_user_selects_a_sandbox_among_several(
    arguments: tuple[str, ...], lives: list[list[bytes]], tmp_path: Path
) -> None:
    done = replay(written(tmp_path / "all.tape", *lives), *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has the tapes of default, idle; choose with --sandbox" in done.stderr


@pytest.mark.parametrize("text", ["abc", "-1", "", "1.5", "2026-11-21", "2026-11-21T12:00:00", "2" * 400 + "x"])
def test_until_is_a_number_or_a_time(text: str, first: Path) -> None:
    done = replay(first, "--until", text)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "a number of entries from 0, or an ISO time" in done.stderr
    assert len(done.stderr) < 400


@pytest.mark.parametrize(
    "text", ["100", "9" * 5000, "2026-11-21T11:59:59.999999+08:00", "2026-11-21T12:00:30.000001+08:00"]
)
def test_a_moment_that_the_tape_lacks_is_refused_with_the_existing_moments(
    text: str, first: Path, lives: list[list[bytes]]
) -> None:
    done = replay(first, "--until", text)
    assert (done.exit_code, done.stdout) == (3, "")
    n = count(lives[0])
    bounds = (
        f"the tape has {n} entries: N is from 0 to {n}"
        if text.isdigit()
        else f"it is from {START} to 2026-11-21T12:00:30"
    )
    assert f"{first}: default: --until: " in done.stderr
    assert bounds in done.stderr


def test_the_first_and_the_last_moment_are_some(first: Path, lives: list[list[bytes]]) -> None:
    n = count(lives[0])
    for text, said in (("0", f"0 of {n}"), (str(n), str(n)), (START, "1 of"), ("2026-11-21T12:00:30+08:00", str(n))):
        done = replay(first, "--until", text)
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(f"default: {said} ")


def test_a_time_at_which_nothing_came_is_one_until_the_tape_was_taken(tmp_path: Path) -> None:
    with running({"clock": {"mode": "real", "start": START}}) as client:
        client.call("GET", "/v2/balance")
        client.pass_time(60)
        file = written(tmp_path / "real.tape", lines_of(client))
    assert replay(file, "--until", "2026-11-21T12:00:59+08:00").exit_code == 0
    assert replay(file, "--until", "2026-11-21T12:01:01+08:00").exit_code == 3


def test_a_time_in_milliseconds_means_the_end_of_that_millisecond_as_it_does_for_rewind(tmp_path: Path) -> None:
    with running({"clock": {"mode": "manual", "start": "2026-11-21T04:00:00.123456Z"}}) as client:
        client.call("GET", "/v2/balance")
        client.advance(to="2026-11-21T04:00:01.500100Z")
        client.call("GET", "/v2/balance")
        file = written(tmp_path / "fine.tape", lines_of(client))
    whole = replay(file).stdout
    for until in ("2026-11-21T04:00:01.500Z", "2026-11-21T12:00:01.500100+08:00"):
        assert replay(file, "--until", until).stdout == whole
    assert replay(file, "--until", "2026-11-21T04:00:00.123Z").stdout.startswith("default: 1 of 3 ")
    for until in ("2026-11-21T04:00:00.122Z", "2026-11-21T04:00:01.501Z", "2026-11-21T04:00:00.123000Z"):
        assert replay(file, "--until", until).exit_code == 3


@pytest.mark.parametrize("is_packed", [True, False])
def test_a_file_that_was_cut_is_replayed_as_far_as_it_goes(
    is_packed: bool, lives: list[list[bytes]], tmp_path: Path
) -> None:
    content = b"".join(packed(lives[0])) if is_packed else b"".join(lives[0])
    file = tmp_path / "cut.tape"
    for size in (11, len(content) // 2, len(content) - 12):
        file.write_bytes(content[:size])
        done = replay(file)
        assert done.exit_code == 1
        assert f"{file}: " in done.output
        assert "the file ends too early, " in done.output
        if done.stdout:
            played, missing = done.stdout.splitlines()
            assert ": all as it was" in played
            n = int(played.split()[1])
            assert f"default: the file ends too early, after entry {n} of {count(lives[0])}" in missing
    assert done.stdout


def test_a_truncated_file_is_reported_with_the_place_of_the_cut(lives: list[list[bytes]], tmp_path: Path) -> None:
    tapes = [b"".join(packed(one)) for one in lives]
    content, file = b"".join(tapes), tmp_path / "cut.tape"
    ends = [len(b"".join(tapes[:n])) for n in range(1, len(tapes) + 1)]
    near = {end + more for end in ends for more in range(-20, 20)}
    said = set()
    for size in sorted({*near, *range(1, 20), *range(1, len(content), 23)} & set(range(1, len(content)))):
        file.write_bytes(content[:size])
        found = read_tape_file(file)
        if size in ends:  # as `exec --tape` leaves it when it is killed
            assert (found.damage, len(found.lives)) == ("", ends.index(size) + 1)
            continue
        assert found.is_cut
        number = len([end for end in ends if end < size])
        assert len(found.lives) - number in (0, 1)
        said.add(found.damage)
        if ends[number] - size <= CHECKSUM_BYTES:
            where = "within the head of a tape or the checksum before it"
            assert found.damage == f"the file ends too early, {where}"
    assert len(said) > 5


def test_the_end_of_its_last_line_may_be_missing(lives: list[list[bytes]], tmp_path: Path) -> None:
    file = tmp_path / "edited.tape"
    file.write_bytes(b"".join(lives[0]).rstrip(b"\n"))
    assert replay(file).exit_code == 0


def _without_now(line: bytes) -> bytes:
    return json.dumps({name: value for name, value in json.loads(line).items() if name != "now"}).encode() + b"\n"


def test_a_time_that_no_sandbox_has_is_refused_with_one_advice(lives: list[list[bytes]], tmp_path: Path) -> None:
    file = tmp_path / "edited.tape"
    file.write_bytes(b"".join((lives[0][0], *(line.replace(b"2026-", b"2300-") for line in lives[0][1:]))))
    done = replay(file)
    assert done.exit_code == 3
    why = "it cannot be played (ValueError: 2300-11-21T04:00:00+00:00 is not from 1990 to 2200)"
    what = "was it edited, or damaged in transfer? Copy it again from its origin"
    assert done.stderr == f"reseller-sim replay: {file}: default: {why}: {what}\n"


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "a member less": _without_now,
    "another type": lambda line: b"[]\n",
    "an unknown command": lambda line: line.replace(b'"command":{"command":"', b'"command":{"command":"Nix'),
    "no JSON": lambda line: line[: len(line) // 2] + b"\n",
    "no line": lambda line: b"",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_line_that_cannot_be_understood_is_3_with_its_place_and_what_to_do(
    what: str, lives: list[list[bytes]], tmp_path: Path
) -> None:
    lines = lives[0]
    at = next(n for n, line in enumerate(lines) if n > 1 and line.startswith(b'{"entry":"command"'))
    file = tmp_path / "edited.tape"
    file.write_bytes(b"".join((*lines[:at], CHANGES[what](lines[at]), *lines[at + 1 :])))
    done = replay(file)
    assert done.exit_code == 3
    [said] = done.stderr.splitlines()
    number = at + 1 if what != "no line" else len(lines) - 1
    assert said.startswith(f"reseller-sim replay: {file}: default: line {number} ")
    assert "was it edited, or damaged in transfer? Copy it again" in said
    if what != "no line":
        assert f"--until {at - 1} plays the entries before it" in said
        assert ": all as it was" in done.stdout  # what comes before it
        assert replay(file, "--until", str(at - 1)).exit_code == 0
        assert replay(file, "--until", str(at)).exit_code == 3
        assert replay(file, "--serve").exit_code == 3


def test_invalid_content_after_a_whole_tape_is_refused_when_all_tapes_are_selected(
    lives: list[list[bytes]], tmp_path: Path
) -> None:
    file = tmp_path / "more.tape"
    file.write_bytes(b"".join(packed(lives[0])) + b"more")
    done = replay(file)
    assert done.exit_code == 3
    assert ": all as it was" in done.stdout
    assert f"{file}: what follows is no compressed data" in done.stderr
    assert replay(file, "--life", "1").exit_code == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello\n", "line 1 is not the beginning of a tape, which is written by `exec --tape`"),
        (b"hello", "line 1 is not the beginning of a tape, which is written by `exec --tape`"),
        (gzip.compress(LONG)[:-500], "line 1 is not the beginning of a tape, which is written by `exec --tape`"),
        (
            b'{"tape":2}\n',
            "line 1: the tape has version 2, and this reseller-sim reads up to 1; replay it with a newer one",
        ),
    ],
)
def test_an_empty_file_is_not_reported_as_damaged(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    done = replay(file)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == f"reseller-sim replay: {file}: {said}\n"


def test_an_empty_file_and_a_file_without_a_sandbox_name_the_missing_part(first: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.tape"
    empty.write_bytes(b"")
    assert (done := replay(empty)).exit_code == 3
    assert f"{empty}: it is empty: the run that was to write it could not start" in done.stderr
    assert "or its secrets could not be replaced" in done.stderr
    assert (done := replay(first, "--sandbox", "x")).exit_code == 3
    assert f"{first}: it has no tape of x; it has tapes of default" in done.stderr


@pytest.mark.parametrize(("limit", "count"), [(0, 3), (2, 1)])
def test_entries_beyond_the_tape_budget_are_counted(limit: int, count: int, tmp_path: Path) -> None:
    with running({"limits": {"tape": limit}}) as client:
        for _ in range(3):
            client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"})
        done = replay(written(tmp_path / "full.tape", lines_of(client)))
    assert done.exit_code == 0
    assert f"; inputs after these that are not on the tape (limits.tape or --tape-budget): {count}\n" in done.stdout


@pytest.mark.parametrize(("version", "do"), [("0.0.1", "reseller-sim 0.0.1 wrote this tape"), ("", "was it edited")])
def test_a_refused_scenario_is_attributed_to_the_tape(
    version: str, do: str, lives: list[list[bytes]], tmp_path: Path
) -> None:
    head = json.loads(lives[0][0])
    head["scenario"]["surprise"] = 1
    head["version"] = version or head["version"]
    file = written(tmp_path / "old.tape", [json.dumps(head).encode() + b"\n", *lives[0][1:]])
    for more in ((), ("--serve", "--port", "0")):
        done = replay(file, *more)
        assert (done.exit_code, done.stdout) == (3, "")
        assert f"{file}: default: it cannot be played (ScenarioError: surprise: unknown_key " in done.stderr
        assert do in done.stderr


def test_a_written_tape_is_read_unchanged(first: Path) -> None:
    (tape,) = read_file(first)
    assert tape.end is not None
    assert tape.end.now is not None
    assert tape.end.now.isoformat() == "2026-11-21T04:00:30+00:00"


def tape_of(client: Client, file: Path) -> Path:
    with file.open("ab") as target:
        target.writelines(packed(tape_lines(take_tape(client.live))))
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
        f"2  {here}request 1: POST /v2/topup: resumes (ready): 200, order-1",
        f"3  {here}command Credit: reseller RS001",
    ]
    assert lines[-1].endswith("  default (life 1 of 2)  request 2: GET /v2/balance: 200")
    assert [line.split()[0] for line in lines] == [str(n + 1) for n in range(len(lines))]


def test_a_line_is_bounded_and_one_line(tape: Path) -> None:
    lines = invoke("replay", str(tape), "--list", "--sandbox", "default").stdout.splitlines()
    assert {"default (life 1 of 2)" in line for line in lines} == {True, False}
    assert max(map(len, lines)) < tape_file.WHAT_CHARS_MAX + 80
    assert all(line.lstrip()[0].isdigit() for line in lines)


def test_until_takes_the_number_of_a_line(tape: Path) -> None:
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


def test_a_truncated_tape_is_listed_up_to_the_damage(tape: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.tape"
    part.write_bytes(tape.read_bytes()[:-200])
    done = invoke("replay", str(part), "--list")
    assert done.exit_code == 1
    assert "the file ends too early" in done.stdout


@pytest.mark.parametrize("flags", [("--serve",), ("--until", "1")])
def test_a_list_plays_no_entries(flags: tuple[str, ...], tape: Path) -> None:
    done = invoke("replay", str(tape), "--list", *flags)
    assert done.exit_code == 2
    assert "--list excludes --until and --serve" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux alone")
def test_a_first_line_that_cannot_be_written_ends_the_server_with_a_line(first: Path) -> None:
    with open("/dev/full", "w") as full:
        process = [*PROGRAM, "replay", str(first), "--serve", "--port", "0"]
        done = subprocess.run(process, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=DEADLINE_S)
    assert done.returncode == 3
    assert done.stderr.decode() == "reseller-sim: stdout cannot be written: No space left on device\n"
