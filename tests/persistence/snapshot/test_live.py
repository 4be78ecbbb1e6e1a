"""A snapshot of a running sandbox: its tape continues from there, and so does the sandbox, when its time runs again."""

from datetime import timedelta

import pytest

from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import Snapshot, snapshot_of
from tests.support.client import Client, running
from tests.support.replaying import read_back
from tests.support.snapshots import differing, resume, resumed, take
from tests.support.taped_plays import (
    FIRST,
    a_clock_that_runs_jumps_and_stops,
    a_load,
    changes_at_run_time,
    conditions,
    drawn_outcomes,
    new_resellers_and_refusals,
    set_callback,
)
from tests.support.wall import Wall

AS_LIVED = ("events", "state")
"""A player does not know the wall time of commands and who gave them; a scenario that was read from a tape has 12 where
the file has 12.00. Other members of `state` are compared in `test_going_on`."""


def now(client: Client) -> Snapshot:
    return take(client.live, len(client.live.tape))


@pytest.mark.slow
def test_a_running_sandbox_equals_its_snapshot_after_the_rest_of_its_tape() -> None:
    with running(FIRST) as client:
        set_callback(client)
        found = [now(client)]
        for happens in (a_clock_that_runs_jumps_and_stops, changes_at_run_time, a_load, drawn_outcomes, conditions):
            happens(client)
            client.pay(f"after {happens.__name__}")
            found.append(now(client))
        new_resellers_and_refusals(client)
        tape, end = read_back(client.app, client.live, shows_secrets=True), now(client)
        assert [one.n for one in found] == sorted({one.n for one in found})
        for snapshot in found:
            player = resumed(client.app, tape, snapshot)
            for entry in tape.entries[snapshot.n :]:
                difference = player.play(entry)
                assert difference is None, (snapshot.n, difference)
            other = differing(take(player.live, player.place), end)
            assert not {each for each in other if each.partition("/")[0] not in AS_LIVED}, (snapshot.n, other)


def test_a_restored_sandbox_can_continue_under_a_clock_of_its_own() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.advance(1)
        client.sim("PUT", "/sandboxes/default/clock", {"mode": "real"})
        snapshot = now(client)
        tape = read_back(client.app, client.live, shows_secrets=True)
        wall = client.wall
        assert isinstance(wall, Wall)
        live = resume(resumed(client.app, tape, snapshot), wall)
        began = live.clock.now()
        assert began == snapshot.now
        wall.pass_(86_400)
        assert live.clock.now() == began + timedelta(days=1)
        client.app.sandboxes.adopt(live)
        client.pay("two")
        assert client.live is live
        statuses = [one.result.status for one in live.core.state.transactions.values()]
        assert statuses[0] == "successful"
        assert len(statuses) == 2
        assert not live.core.violations()


def test_a_sandbox_whose_tape_is_full_has_a_snapshot_of_all_that_happened() -> None:
    with running(FIRST | {"limits": {"tape": 4}}) as client:
        set_callback(client)
        for number in range(6):
            client.pay(f"r{number}")
        assert client.live.tape.left_out
        snapshot = snapshot_of(parts_of(client.live))
        assert snapshot.n == len(client.live.tape) + client.live.tape.left_out
        tape = read_back(client.app, client.live, shows_secrets=True)
        live = resumed(client.app, tape, snapshot).live
        assert (len(live.tape), live.tape.left_out) == (4, snapshot.n - 4)
        assert list(live.core.state.transactions) == list(client.live.core.state.transactions)
        assert take(live, snapshot.n) == snapshot
