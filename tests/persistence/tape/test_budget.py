"""The tapes of a server never take more memory together than their budget."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from simulator.domain.commands import RecordTime
from simulator.persistence.tape.entries import CommandApplied, Entry
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape, TapeBudget, Unread
from tests.support.client import Client, running
from tests.support.data_folders import DEFAULT, killed, serving
from tests.support.replaying import read_back


def command() -> Entry:
    return CommandApplied(datetime(2026, 11, 21, tzinfo=UTC), RecordTime())


def budget_of(client: Client) -> TapeBudget:
    return client.app.sandboxes.surroundings.tape_budget


def on_tapes(client: Client) -> int:
    return sum(one.tape.bytes for one in client.app.sandboxes)


def filled(client: Client) -> None:
    """Let the tapes have all that they may, with a sandbox beside the default one."""
    client.sim("POST", "/sandboxes", {"id": "other"})
    client.pay("of-other", sandbox="other")
    client.pay("of-default")
    budget_of(client).bytes_max = budget_of(client).bytes


def test_no_tape_grows_beyond_the_budget_and_the_log_says_so_once() -> None:
    with running() as client:
        filled(client)
        told: list[str] = []
        budget_of(client).on_passed = lambda: told.append("passed")
        before = on_tapes(client)
        for sandbox in (None, "other", None):
            client.call("GET", "/v2/balance", sandbox=sandbox)
        assert on_tapes(client) == before == budget_of(client).bytes
        assert (client.live.tape.left_out, told) == (2, ["passed"])
        assert not read_back(client.app, client.live, shows_secrets=False).damage
        refused = client.sim("POST", f"{DEFAULT}/rewind", {"n": 99})
        assert refused.json["error"] == "tape_full"
        assert "--tape-budget of the server" in refused.json["message"]


@pytest.mark.parametrize("ending", ["reset", "deleted", "rewound"])
def test_a_tape_that_ends_makes_room(ending: str) -> None:
    with running() as client:
        filled(client)
        size = client.app.sandboxes.get("other").tape.bytes
        {
            "reset": lambda: client.sim("POST", "/sandboxes/other/reset"),
            "deleted": lambda: client.sim("DELETE", "/sandboxes/other"),
            "rewound": lambda: client.sim("POST", "/sandboxes/other/rewind", {"n": 0}),
        }[ending]()
        size -= ENTRY_BYTES if ending == "rewound" else 0  # a running clock continues with a line of its own
        assert budget_of(client).bytes == on_tapes(client) == budget_of(client).bytes_max - size
        client.call("GET", "/v2/balance")
        assert client.live.tape.left_out == 0


def test_a_rebuilt_or_forked_sandbox_counts_with_its_whole_tape() -> None:
    with running() as client:
        filled(client)
        budget_of(client).bytes_max *= 10
        client.call("GET", "/v2/balance")
        client.sim("POST", f"{DEFAULT}/rewind", {"n": 1})
        assert client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "default"}}).status == 201
        assert client.sim("GET", f"{DEFAULT}/tape").status == 200
        client.pay("again", sandbox="fork")
        assert budget_of(client).bytes == on_tapes(client)


def test_entries_only_in_a_folder_do_not_count(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "here"})
        client.pay("two")
        size = budget_of(client).bytes
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert size <= budget_of(client).bytes == on_tapes(client)


def test_entries_that_are_read_late_count_when_they_are_there() -> None:
    budget, entries = TapeBudget(), [command(), command()]
    tape = Tape(100, 10**6, budget)
    tape.restore((), 700, 0, 0)
    tape.restore_unread(Unread(2, lambda: entries))
    assert budget.bytes == 0
    tape.add(command())
    assert budget.bytes == ENTRY_BYTES
    assert len(list(tape)) == 3
    assert budget.bytes == tape.bytes == 700 + ENTRY_BYTES
    tape.leave()
    assert budget.bytes == 0


def test_sandboxes_that_are_gone_count_as_nothing() -> None:
    budget, none = TapeBudget(), list[Entry]()
    tape = Tape(100, 10**6, budget)
    tape.restore((), 700, 0, 0)
    tape.restore_unread(Unread(2, lambda: none))
    assert list(tape) == []
    assert budget.bytes == 0


def test_a_budget_is_reported_as_used_up_again_after_it_had_room() -> None:
    told: list[Any] = []
    budget = TapeBudget(100)
    budget.on_passed = lambda: told.append(budget.bytes)
    budget.bytes += 90
    assert [budget.has_room(20), budget.has_room(20), len(told)] == [False, False, 1]
    budget.bytes -= 80
    assert budget.has_room(20)
    budget.bytes += 80
    assert not budget.has_room(20)
    assert told == [90, 90]
