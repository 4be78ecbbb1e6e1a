"""The times of a tape never fall: a sandbox that begins again where its tape ends is not younger than it was."""

from pathlib import Path
from typing import Any

import pytest

from simulator.persistence.tape.entries import CommandApplied, RequestResumed
from tests.support.client import Client, running
from tests.support.data_folders import DEFAULT, killed, serving
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST
from tests.support.unfinished import unfinished

HIDDEN = FIRST | {"faults": [{"when": {"path": "/v2/topup"}, "then": {"disconnect": True}}]}
LARGE = 11_000_000
WAYS: dict[str, tuple[dict[str, Any], bytes | None, bytes, bool]] = {
    "the client leaves in the middle of its body": (FIRST, b"73", b'{"refid":"slow', True),
    "the body is too large": (FIRST, None, b"x" * LARGE, False),
    "the body comes after a fault has decided": (HIDDEN, b"2", b"{}", False),
    "that body is too large": (HIDDEN, None, b"x" * LARGE, False),
    "the client leaves in the middle of that": (HIDDEN, b"73", b"{", True),
}
all_ways = pytest.mark.parametrize(("scenario", "announced", "body", "leaves"), WAYS.values(), ids=WAYS)


def wait_an_hour(client: Client, announced: bytes | None, body: bytes, leaves: bool) -> None:
    """A request that stays suspended for an hour."""
    client.pay("before")

    async def advance() -> None:
        assert (await client.asim("POST", f"{DEFAULT}/clock/advance", {"seconds": 3600})).status == 200

    client.run(unfinished(client, announced, body, leaves=leaves, meanwhile=advance))


@all_ways
def test_a_request_that_resumes_late_does_not_move_time_back_at_a_restart(
    scenario: dict[str, Any], announced: bytes | None, body: bytes, leaves: bool, tmp_path: Path
) -> None:
    with serving(tmp_path / "data", scenario) as client:
        wait_an_hour(client, announced, body, leaves)
        now = client.live.clock.now()
        assert_replays(client.app)
        folder = killed(client, tmp_path)
    with serving(folder, scenario) as client:
        assert client.live.clock.now() == now


@all_ways
def test_nor_when_it_is_rewound_to_the_present(
    scenario: dict[str, Any], announced: bytes | None, body: bytes, leaves: bool
) -> None:
    with running(scenario) as client:
        wait_an_hour(client, announced, body, leaves)
        now = client.live.clock.now()
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": len(client.live.tape)}).status == 200
        assert client.live.clock.now() == now


@pytest.mark.parametrize("how", list(WAYS))
def test_items_due_under_a_running_clock_are_on_the_tape_before_the_request(how: str) -> None:
    scenario, announced, body, leaves = WAYS[how]
    with running(scenario | {"clock": {"mode": "xN", "rate": 60}}) as client:
        client.call("GET", "/v2/balance")

        async def pass_time() -> None:
            client.pass_time(2)  # two minutes, and a deposit after 30 s

        client.run(unfinished(client, announced, body, leaves=leaves, meanwhile=pass_time))
        kinds = [type(entry) for entry in client.live.tape]
        assert kinds[kinds.index(RequestResumed) - 1] is CommandApplied
        assert_replays(client.app)
