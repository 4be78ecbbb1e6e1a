"""A tape has what commands answered, and the digest of the state at its end and its marks; a replay compares them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from simulator.persistence.replay.differences import state_digest
from simulator.persistence.replay.tape_redaction import lines_without_secrets
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from tests.support.client import Client, running
from tests.support.runner import invoke

MANUAL: dict[str, Any] = {"clock": {"mode": "manual", "start": "2026-11-21T12:00:00+08:00"}}
DEFAULT = "/sandboxes/default"
Line = dict[str, Any]


def play(client: Client) -> None:
    """Commands of every kind, with a mark in their middle."""
    client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "25.00"})
    client.pay()
    client.sim("PUT", f"{DEFAULT}/network/RELOAD", {"status": "Interruption"})
    client.sim(
        "PATCH", f"{DEFAULT}/catalog/products/GAME", {"note": "New", "options": {"GAME-100": {"is_active": False}}}
    )
    client.advance(10)
    assert client.sim("POST", f"{DEFAULT}/marks", {"name": "half"}).status == 201
    client.sim("POST", f"{DEFAULT}/resellers/RS001/api-keys")
    client.sim("PATCH", f"{DEFAULT}/resellers/RS001/settings", {"require_api_key_for_topup": True})
    client.sim(
        "POST", f"{DEFAULT}/rules", {"section": "payments", "rule": {"name": "x", "then": [{"status": "Failed"}]}}
    )
    client.sim("DELETE", f"{DEFAULT}/rules/x")
    unused = {
        "name": "dear",
        "when": {"amount": {"more_than": 999.50}, "chance": 0.25},
        "then": {"refuse": "Invalid_Account"},
    }
    assert client.sim("POST", f"{DEFAULT}/rules", {"section": "payments", "rule": unused}).status == 201
    replies = {"replies": [{"status": 500, "delay": 0.5}, {"status": 200}]}
    assert client.sim("PUT", f"{DEFAULT}/inbox/shop", replies).status == 200
    assert client.send("POST", "/_sim/inbox/default/shop", "", b"from outside").status == 500
    client.sim("DELETE", f"{DEFAULT}/rules/nothing")
    client.sim("POST", f"{DEFAULT}/resellers", {"code": "RS009", "balance": "1.00"})


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    with running(MANUAL) as client:
        play(client)
        return list(tape_lines(take_tape(client.live)))


def replayed(tmp_path: Path, lines: list[bytes], change: Callable[[Line], None] = lambda line: None) -> Result:
    """The tape with each of its lines changed, replayed."""
    changed = []
    for line in lines:
        content = json.loads(line)
        change(content)
        is_same = content == json.loads(line)  # whose numbers keep their digits
        changed.append(line if is_same else json.dumps(content).encode() + b"\n")
    file = tmp_path / "changed.tape"
    file.write_bytes(b"".join(packed(changed)))
    return invoke("replay", str(file))


def test_a_tape_has_answers_and_digests_and_replays(lines: list[bytes], tmp_path: Path) -> None:
    done = replayed(tmp_path, lines)
    assert (done.exit_code, done.stdout.strip()[-len("all as it was") :]) == (0, "all as it was"), done.output
    contents = [json.loads(line) for line in lines]
    answers = {one["command"]["command"]: one.get("answer", "") for one in contents if one.get("entry") == "command"}
    assert answers["Credit"] == "entry 1: DEPOSIT 25.00, balance 5025.00"
    assert answers["RemoveRule"] == "refused: unknown_rule"
    assert answers["EndAttempt"] == ""
    end = contents[-1]
    assert len(end["state"]) == 16
    (mark,) = end["marks"]
    assert (mark["mark"], len(mark["state"])) == ("half", 16)
    assert mark["state"] != end["state"]


def test_a_deposit_that_was_changed_is_found_by_its_answer(lines: list[bytes], tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line.get("command", {}).get("command") == "Credit":
            line["command"]["amount"] = 26.00

    done = replayed(tmp_path, lines, change)
    assert done.exit_code == 1
    first, tape, replay = done.stdout.splitlines()
    assert first == f"default: entry 1 of {len(lines) - 2} differs: Credit: answer"
    assert "25.00, balance 5025.00" in tape
    assert "26" in replay


@pytest.mark.parametrize(
    ("command", "member", "value"),
    [
        ("SetNetwork", "status", "Healthy"),
        ("ChangeProduct", "changes", {"note": "Newer"}),
        ("AddReseller", "start", None),
    ],
)
def test_the_effect_of_any_command_that_was_changed_is_found(
    lines: list[bytes], tmp_path: Path, command: str, member: str, value: Any
) -> None:
    def change(line: Line) -> None:
        if line.get("command", {}).get("command") == command:
            if command == "AddReseller":
                line["command"]["start"]["balance"] = 2.00
            else:
                line["command"][member] = value

    done = replayed(tmp_path, lines, change)
    assert done.exit_code == 1, done.output
    assert "differs: " in done.stdout


def test_an_effect_without_an_answer_is_found_at_the_next_mark(lines: list[bytes], tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if line.get("command", {}).get("command") == "SetNetwork":
            line["command"]["product"] = "GAME"

    done = replayed(tmp_path, lines, change)
    assert done.exit_code == 1
    assert "differs: the state at the mark 'half'" in done.stdout


def _of(command: str, **members: Any) -> Callable[[Line], None]:
    """Change members of every such command, or of the result in it."""

    def change(line: Line) -> None:
        if (found := line.get("command", {})).get("command") == command:
            found.get("result", found).update(members)

    return change


def _of_entry(entry: str, **members: Any) -> Callable[[Line], None]:
    """Change members of every such entry."""

    def change(line: Line) -> None:
        if line.get("entry") == entry:
            line.update(members)

    return change


def change_unused_rule(line: Line) -> None:
    document = line.get("command", {}).get("document", {})
    if document.get("name") == "dear":
        document["when"]["amount"]["more_than"] = 9.50


QUIET_CHANGES = {
    "the remarks of a deposit": _of("Credit", description="Refund"),
    "the status that a receiver answered": _of("EndAttempt", status=201),
    "the body that a receiver answered": _of("EndAttempt", body="taken"),
    "a rule that decided nothing": change_unused_rule,
    "the replies of an inbox": _of_entry("inbox_replies", document={"replies": [{"status": 200}]}),
    "the address of a client": _of_entry("request", client="192.0.2.1"),
    "the mode of the clock": _of_entry("clock", mode="real", rate=1.0),
}


@pytest.mark.parametrize("what", QUIET_CHANGES)
def test_a_change_that_no_answer_shows_is_found(lines: list[bytes], tmp_path: Path, what: str) -> None:
    done = replayed(tmp_path, lines, QUIET_CHANGES[what])
    assert done.exit_code == 1, done.output
    assert "differs: " in done.stdout


def test_a_digest_of_the_end_is_compared(lines: list[bytes], tmp_path: Path) -> None:
    def change(line: Line) -> None:
        if "end" in line:
            line["state"] = "0" * 16

    done = replayed(tmp_path, lines, change)
    assert done.exit_code == 1
    assert "differs: the state at the end" in done.stdout


def test_a_tape_without_a_digest_replays_and_says_so(lines: list[bytes], tmp_path: Path) -> None:
    """`data export` writes such a tape, and an older one has no answers of commands, either."""

    def change(line: Line) -> None:
        if line.get("entry") == "command":
            line.pop("answer", None)
        if "end" in line:
            del line["state"], line["marks"]

    done = replayed(tmp_path, lines, change)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("; it has no digest of the state to compare\n")


def test_a_tape_without_secrets_has_digests_of_its_own(tmp_path: Path) -> None:
    secret = {"resellers": [{"code": "RS001", "api_keys": [{"key": "mine", "secret": "c2VjcmV0LW9mLW1pbmUtb25seQ=="}]}]}
    with running(MANUAL | secret) as client:
        play(client)
        masked = list(lines_without_secrets(take_tape(client.live), client.app.replayer))
    assert b"c2VjcmV0LW9mLW1pbmUtb25seQ" not in b"".join(masked)
    end = json.loads(masked[-1])
    assert end["state"]
    assert [one["mark"] for one in end["marks"]] == ["half"]
    assert replayed(tmp_path, masked).exit_code == 0


def test_a_fork_and_a_rewound_sandbox_replay_with_their_marks(tmp_path: Path) -> None:
    with running(MANUAL) as client:
        play(client)
        assert client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "default", "mark": "half"}}).status == 201
        forked = list(tape_lines(take_tape(client.app.sandboxes.get("fork"))))
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "half"}).status == 200
        rewound = list(tape_lines(take_tape(client.live)))
    for lines in (forked, rewound):
        end = json.loads(lines[-1])
        assert [one["mark"] for one in end["marks"]] == ["half"]
        assert replayed(tmp_path, lines).exit_code == 0


def test_the_digest_changes_with_the_state_and_only_with_it() -> None:
    with running(MANUAL) as client:
        begun = state_digest(client.live)
        client.call("GET", "/v2/balance")
        assert state_digest(client.live) == begun
        client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "0.01"})
        assert state_digest(client.live) != begun
    with running(MANUAL) as client:
        assert state_digest(client.live) == begun
