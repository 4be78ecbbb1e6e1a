"""`exec --tape` and `replay` as real processes: a failed run is replayed elsewhere, and continued."""

import gzip
import re
import signal
import sys
from pathlib import Path

import pytest

from simulator.persistence.replay.tape_reader import read_file
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from simulator.persistence.tape.entries import RequestBegan
from simulator.runtime.journal import Exchange
from tests.support.client import running
from tests.support.processes import ask, run, serving

pytestmark = pytest.mark.slow

TRANSACTIONS = "/sandboxes/default/transactions"

PAY = "import os, subprocess, sys; call = [sys.executable, '-m', 'simulator', 'call']; " + "; ".join(
    f"subprocess.run([*call, 'POST', '/v2/topup', '-d', '{body}'])"
    for body in (
        '{"refid":"a","product":"RELOAD","account":"0123456789","amount":10}',
        '{"refid":"b","product":"RELOAD","account":"0120000001","amount":10}',
    )
)


@pytest.fixture(scope="module")
def taped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tape of a run that failed."""
    file = tmp_path_factory.mktemp("tapes") / "failed.tape"
    done = run("exec", "--tape", str(file), "--clock", "manual", "--", sys.executable, "-c", f"{PAY}; sys.exit(4)")
    assert done.status == 4, done.err
    return file


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_a_failed_run_replays_under_any_hash_seed(taped: Path, seed: str) -> None:
    done = run("replay", str(taped), PYTHONHASHSEED=seed)
    assert (done.status, done.err) == (0, "")
    # A request whose body came in a packet of its own has another entry.
    pattern = r"default: [2-4] entries replayed, 2 requests, 0 callbacks, 0 webhooks: all as it was\n"
    assert re.fullmatch(pattern, done.out), done.out


def test_differences_are_printed_and_the_status_is_1(taped: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.tape"
    changed.write_bytes(gzip.decompress(taped.read_bytes()).replace(rb"\"cost\":9.75", rb"\"cost\":9.80", 1))
    done = run("replay", str(changed))
    assert done.status == 1
    first, before, after = done.out.splitlines()
    assert re.fullmatch(r"default: entry [12] of [2-4] differs: request 1 \(POST /v2/topup\): content", first), first
    assert '"cost":9.80' in before
    assert '"cost":9.75' in after


def test_a_sandbox_resumes_at_the_end_of_its_tape(taped: Path) -> None:
    (tape,) = read_file(taped)
    second = [at for at, one in enumerate(tape.entries) if isinstance(one, RequestBegan | Exchange)][1]
    with serving(str(taped), "--until", str(second), "--serve", "--port", "0", verb="replay") as server:
        url = server.first_line.split()[-1]
        advance = ask(f"{url}/_sim/sandboxes/default/clock/advance", "POST", b'{"until":"idle"}')
        assert advance.status == 200
        found = ask(f"{url}/_sim/sandboxes/default/transactions").json["transactions"]
        assert [(one["refid"], one["status"]) for one in found] == [("a", "Succesful")]
        assert len(ask(f"{url}/_sim/sandboxes/default/inbox/callbacks").json["items"]) == 2
        assert ask(f"{url}/_sim/sandboxes/default/requests").json["requests"][0]["refid"] == "a"
        again = Path(taped.parent) / "again.tape"
        again.write_bytes(ask(f"{url}/_sim/sandboxes/default/tape").body)
    done = run("replay", str(again))
    assert done.status == 0, done.out


def test_a_sandbox_resumes_at_the_requested_time_as_after_a_rewind(tmp_path: Path) -> None:
    start, asked = "2026-11-21T12:00:00+08:00", "2026-11-21T12:00:05+08:00"
    file = tmp_path / "advanced.tape"
    with running({"clock": {"mode": "manual", "start": start}}) as client:
        client.pay("one")
        client.advance(1)
        client.advance(60)
        whole = b"".join(packed(tape_lines(take_tape(client.live))))
        client.sim("POST", "/sandboxes/default/rewind", {"to": asked})
        rewound = client.sim("GET", "/sandboxes/default/clock").json["now"]
        before = [(one["refid"], one["status"]) for one in client.sim("GET", TRANSACTIONS).json["transactions"]]
    file.write_bytes(whole)
    with serving(str(file), "--until", asked, "--serve", "--port", "0", verb="replay") as server:
        url = server.first_line.split()[-1]
        assert ask(f"{url}/_sim/sandboxes/default/clock").json["now"] == rewound
        assert rewound == "2026-11-21T04:00:05.000000Z"
        found = ask(f"{url}/_sim{TRANSACTIONS}").json["transactions"]
        assert [(one["refid"], one["status"]) for one in found] == before
    file.write_bytes(whole[:-12])  # a truncated file is resumed from its entries
    with serving(str(file), "--serve", "--port", "0", verb="replay") as server:
        _, _, err = server.stop(signal.SIGTERM)
        assert f"{file}: default: the file ends too early, after entry " in err


REFUSALS = {
    "no file": (["nowhere.tape"], 3, "nowhere.tape: No such file or directory"),
    "a folder": (["."], 3, ".: Is a directory"),
    "no tape": ([__file__], 3, "line 1 is not the beginning of a tape, which is written by `exec --tape`"),
    "no such sandbox": (["TAPE", "--sandbox", "x"], 3, "has no tape of x; it has tapes of default"),
    "no number": (["TAPE", "--until", "-1"], 2, "--until"),
    "no time": (["TAPE", "--until", "yesterday"], 2, "--until"),
    "no argument": ([], 2, "TAPE"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_a_tape_that_cannot_be_replayed_is_refused_on_one_line(taped: Path, what: str) -> None:
    arguments, status, text = REFUSALS[what]
    done = run("replay", *(str(taped) if one == "TAPE" else one for one in arguments))
    assert done.status == status
    assert text in done.only_error_line


def test_a_tape_that_cannot_be_written_is_refused_before_the_command_runs(tmp_path: Path) -> None:
    done = run("exec", "--tape", str(tmp_path / "none" / "x.tape"), "--", sys.executable, "-c", "print('ran')")
    assert done.status == 3
    assert "cannot be written: No such file or directory" in done.only_error_line


def test_the_tapes_of_deleted_and_reset_sandboxes_are_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "several.tape"
    code = """
import json, os, urllib.request
url = os.environ["RESELLER_SIM_URL"]
def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"content-type": "application/json"}, method=method)
    return urllib.request.urlopen(request).read()
ask("POST", "/sandboxes", {"id": "gone"})
ask("POST", "/sandboxes/gone/resellers/RS001/deposits", {"amount": "5"})
ask("DELETE", "/sandboxes/gone")
ask("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "6"})
ask("POST", "/sandboxes/default/reset")
ask("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "7"})
"""
    assert run("exec", "--tape", str(file), "--", sys.executable, "-c", code).status == 0
    done = run("replay", str(file))
    assert done.status == 0
    lives = ["gone", "default (life 1 of 2)", "default (life 2 of 2)"]
    assert [line.partition(":")[0] for line in done.out.splitlines()] == lives
    ends = ["; then it was deleted", "; then it was reset", "all as it was"]
    assert all(line.endswith(end) for line, end in zip(done.out.splitlines(), ends, strict=True)), done.out
    assert run("replay", str(file), "--until", "1").status == 2
    assert run("replay", str(file), "--until", "1", "--sandbox", "gone").out.startswith("gone: 1 entry replayed")


def test_a_run_without_requests_has_a_tape_without_entries(tmp_path: Path) -> None:
    file = tmp_path / "idle.tape"
    new = "reseller-sim sandbox new --id idle".replace("reseller-sim", f"{sys.executable} -m simulator")
    assert run("exec", "--tape", str(file), "--", "sh", "-c", f"{new} >/dev/null").status == 0
    done = run("replay", str(file))
    text = "0 entries replayed, 0 requests, 0 callbacks, 0 webhooks: all as it was"
    assert (done.status, done.out) == (0, f"default: {text}\nidle: {text}\n")


def test_secrets_are_left_on_a_tape_that_is_written(tmp_path: Path) -> None:
    done = run("exec", "--tape-secrets", "--", sys.executable, "-c", "print('ran')")
    assert done.status == 2
    assert "--tape FILE" in done.only_error_line


INBOX = b'{"entry":"inbox_replies","now":"2026-11-21T04:00:00Z","name":"x","document":{"odd":1}}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"mode":"manual"', b'"mode":"bogus"'),
        (b'"mode":"manual","rate":0.0', b'"mode":"xN","rate":0.0'),
        (b'"scenario":{', b'"scenario":{"x":' + b"[" * 500 + b"]" * 500 + b","),
        (b'"scenario":{', b'"scenario":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b","),
        (b'"clock":"', b'"clock":"yS8i'),
    ],
)
def test_a_head_that_was_changed_by_hand_is_refused_on_one_line(
    taped: Path, tmp_path: Path, before: bytes, after: bytes
) -> None:
    content = gzip.decompress(taped.read_bytes())
    changed = tmp_path / "changed.tape"
    changed.write_bytes(content.replace(before, after, 1))
    assert changed.read_bytes() != content
    for more in ((), ("--serve", "--port", "0")):
        done = run("replay", str(changed), *more)
        assert (done.status, done.out) == (3, ""), done
        assert str(changed) in done.only_error_line
        assert len(done.only_error_line) < 2_000


def test_invalid_replies_are_refused_on_one_line(taped: Path, tmp_path: Path) -> None:
    head, rest = gzip.decompress(taped.read_bytes()).split(b"\n", 1)
    changed = tmp_path / "changed.tape"
    changed.write_bytes(head + b"\n" + INBOX + rest)
    done = run("replay", str(changed))
    assert (done.status, done.out) == (3, ""), done
    assert str(changed) in done.only_error_line
