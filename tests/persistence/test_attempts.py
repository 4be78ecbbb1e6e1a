"""Attempts that were in the air when the server was killed, or its sandbox rewound: a restart knows how they ended."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.sender import HttpSender
from simulator.http_client.slots import IsWanted
from simulator.persistence.tape.entries import AttemptSent
from simulator.wire.outbound import CallbackRequest
from tests.support.client import Client, running
from tests.support.data_folders import DEFAULT, killed, saving_of, serving
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST
from tests.support.wall import Wall

ENDED, REWOUND = "the simulator ended during this attempt", "the sandbox was rewound during this attempt"
SLOW = {"status": 200, "delay": "60s"}


def scenario(*replies: dict[str, Any]) -> dict[str, Any]:
    """A balance webhook whose receiver answers this, under a clock that runs."""
    return FIRST | {"clock": {"mode": "real"}, "inboxes": {"slow": list(replies)}, "schedule": []}


def deposit(client: Client) -> None:
    assert client.call("PUT", "/v2/balance-webhook", {"url": "inbox:slow"}).status == 200
    assert client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "5"}).status == 201
    arrived(client, 1)


def arrived(client: Client, count: int) -> None:
    """Wait until so many attempts have been sent, after the present time's."""

    async def wait() -> None:
        await client.acall("GET", "/v2/balance")
        while len(client.live.inboxes.peek("slow").received) < count:  # noqa: ASYNC110 - an attempt rings no bell
            await asyncio.sleep(0)
        for _ in range(5):  # an answer at once is its end
            await asyncio.sleep(0)

    client.run(wait())


def attempts(client: Client) -> list[tuple[int | None, str]]:
    (delivery,) = client.sim("GET", f"{DEFAULT}/deliveries").json["deliveries"]
    return [(one["status"], one["error"]) for one in delivery["attempts"]]


@pytest.mark.slow
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_second_attempt_in_the_air_is_made_again_after_a_restart(has_snapshot: bool, tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", scenario({"status": 500}, SLOW), wall) as client:
        deposit(client)
        client.pass_time(10)
        arrived(client, 2)
        assert client.live.core.state.in_flight
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        folder = killed(client, tmp_path)
    with serving(folder, FIRST, wall) as client:
        assert attempts(client) == [(500, ""), (None, ENDED), (None, "")]
        assert len(client.live.core.state.in_flight) == 1
        assert client.live.core.state.agenda.next_due is None
        assert_replays(client.app)


@pytest.mark.slow
def test_entries_that_a_rewind_adds_to_the_tape_are_on_disk(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", scenario(SLOW), wall) as client:
        deposit(client)
        assert client.live.core.state.in_flight
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": len(client.live.tape)}).status == 200
        arrived(client, 2)
        assert attempts(client) == [(None, REWOUND), (None, "")]
        folder = killed(client, tmp_path)
    with serving(folder, FIRST, wall) as client:
        assert attempts(client) == [(None, REWOUND), (None, ENDED), (None, "")]
        assert_replays(client.app)


URL = "http://127.0.0.1:9099/hook"
ANSWERED_500 = AttemptResult(AttemptEnd.ANSWERED, 500)


class Receiver:
    """A network whose one receiver takes `room` requests at once, and answers what the test says, or never."""

    def __init__(self, room: int, *answers: AttemptResult) -> None:
        self.answers = list(answers)
        self.received: list[OutgoingRequest] = []
        self._room = asyncio.Semaphore(room)

    @asynccontextmanager
    async def turn(self, url: str, owner: str) -> AsyncIterator[IsWanted]:
        async with self._room:
            yield self._room.locked

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        self.received.append(outgoing)
        if not self.answers:
            await asyncio.Event().wait()
        return self.answers.pop(0)

    async def close(self) -> None:
        pass


@pytest.fixture
def deliver_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Receiver], None]:
    def patched(receiver: Receiver) -> None:
        monkeypatch.setattr(HttpSender, "turn", lambda _, url, owner: receiver.turn(url, owner))
        monkeypatch.setattr(
            HttpSender, "send", lambda _, request, limit_s, owner: receiver.send(request, limit_s, owner)
        )

    return patched


def turns(client: Client) -> None:
    async def wait() -> None:
        await client.acall("GET", "/v2/balance")
        for _ in range(20):
            await asyncio.sleep(0)

    client.run(wait())


def callbacks(client: Client) -> list[Callback]:
    return list(client.live.core.state.callbacks)


def endings(callback: Callback) -> list[tuple[str, int | None]]:
    return [(one.result.kind, one.result.status) for one in callback.attempts if one.result]


CALLED = FIRST | {
    "clock": {"mode": "real"},
    "schedule": [],
    "payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]}],
}


def pay_many(client: Client, count: int) -> None:
    assert client.call("POST", f"/v2/callback-url?method=POST&url={quote(URL, safe='')}").status == 200
    for number in range(count):
        assert client.pay(f"order-{number}").status == 200
    client.pass_time(3600)
    turns(client)


def test_an_attempt_is_on_the_tape_once_it_is_its_turn_at_the_receiver(
    deliver_by: Callable[[Receiver], None], tmp_path: Path
) -> None:
    deliver_by(receiver := Receiver(3))
    with serving(tmp_path / "data", CALLED, Wall()) as client:
        pay_many(client, 10)
        sent = [entry for entry in client.live.tape if isinstance(entry, AttemptSent)]
        assert len(client.live.core.state.in_flight) == 10
        assert len(sent) == len(receiver.received) == 3
        assert_replays(client.app)


def test_the_tape_renders_the_body_of_a_callback_as_it_was_sent_in_place_of_a_copy(
    deliver_by: Callable[[Receiver], None], tmp_path: Path
) -> None:
    deliver_by(receiver := Receiver(3, *[AttemptResult(AttemptEnd.ANSWERED, 200)] * 10))
    with serving(tmp_path / "data", CALLED, Wall()) as client:
        pay_many(client, 10)
        sent = [entry.request for entry in client.live.tape if isinstance(entry, AttemptSent)]
        assert {type(one) for one in sent} == {CallbackRequest}
        assert [(one.method, one.url, one.headers, one.body) for one in sent] == [
            (one.method, one.url, one.headers, one.body) for one in receiver.received
        ]
        assert len(sent) == 10


def memory(roots: Iterable[object], without: Mapping[int, object] = MappingProxyType({})) -> dict[int, object]:
    """Return the objects that the roots lead to, by their ids."""
    found: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in found or id(one) in without or isinstance(one, type | Enum | None):
            continue
        found[id(one)] = one
        if isinstance(one, msgspec.Struct):
            waiting += msgspec.structs.astuple(one)
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | deque):
            waiting += one
        elif not isinstance(one, str | bytes | int | float | datetime):
            slots = [getattr(one, name, None) for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
            waiting += [getattr(one, "__dict__", None), *slots]
    return found


@pytest.mark.slow
def test_a_tape_takes_at_most_a_fifth_more_memory_than_the_journal(
    deliver_by: Callable[[Receiver], None],
) -> None:
    deliver_by(
        Receiver(3, *[AttemptResult(AttemptEnd.ANSWERED, 200, "OK", headers=(("A", "b"),)) for _ in range(4000)])
    )
    steps = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "2s", "status": "Succesful"}]
    with running(CALLED | {"payments": [{"then": steps}]}, Wall()) as client:
        client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "100000"})
        pay_many(client, 2000)
        while client.live.core.state.in_flight:
            turns(client)
        state = memory([client.live.core.state])
        tape, journal = (
            sum(sys.getsizeof(one) for one in memory(roots, state).values())
            for roots in ([client.live.tape.entries], [client.live.journal])
        )
        assert sum(isinstance(entry, AttemptSent) for entry in client.live.tape) == 4000
        print("RATIO", tape, journal, tape / journal)
        assert tape < 1.2 * journal


def test_an_attempt_that_waits_for_its_turn_is_no_attempt_yet_where_attempts_are_shown(
    deliver_by: Callable[[Receiver], None], tmp_path: Path
) -> None:
    deliver_by(Receiver(3))
    with serving(tmp_path / "data", CALLED, Wall()) as client:
        pay_many(client, 10)
        rows = client.sim("GET", f"{DEFAULT}/callbacks").json["callbacks"]
        assert [(one["attempt"], one["ending"]) for one in rows] == [(1, None)] * 3
        trxids = [one["trxid"] for one in client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]]
        stories = [client.sim("GET", f"{DEFAULT}/transactions/{trxid}").json for trxid in trxids]
        assert sorted(len(one["callbacks"][0]["attempts"]) for one in stories) == [0] * 7 + [1] * 3
        metrics = client.sim("GET", "/metrics").body.decode()
        assert "\nreseller_sim_attempts_in_flight 3\n" in metrics


def test_a_webhook_that_waits_for_its_turn_has_no_attempt_yet(
    deliver_by: Callable[[Receiver], None], tmp_path: Path
) -> None:
    deliver_by(Receiver(1))
    with serving(tmp_path / "data", CALLED, Wall()) as client:
        assert client.call("PUT", "/v2/balance-webhook", {"url": URL}).status == 200
        for amount in ("1", "2"):
            assert client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": amount}).status == 201
        turns(client)
        rows = client.sim("GET", f"{DEFAULT}/deliveries").json["deliveries"]
        assert [len(one["attempts"]) for one in rows] == [1, 0]
        shown = [client.sim("GET", f"{DEFAULT}/deliveries/{one['id']}").json for one in rows]
        assert [len(one["attempts"]) for one in shown] == [1, 0]


def test_attempts_that_kills_cut_are_made_again_and_count_for_no_limit(
    deliver_by: Callable[[Receiver], None], tmp_path: Path
) -> None:
    wall, folder, begun = Wall(), tmp_path / "data", 0
    for number in range(6):
        deliver_by(receiver := Receiver(3))
        with serving(folder, CALLED, wall) as client:
            if not number:
                pay_many(client, 10)
            turns(client)
            assert len(receiver.received) == 3
            begun += 3
            (tmp_path / f"{number}").mkdir()
            folder = killed(client, tmp_path / f"{number}")
    deliver_by(Receiver(3, *[AttemptResult(AttemptEnd.ANSWERED, 200)] * 10))
    with serving(folder, CALLED, wall) as client:
        for _ in range(10):
            turns(client)
        assert [one.state for one in callbacks(client)] == ["delivered"] * 10
        ended = [each for one in callbacks(client) for each in endings(one)]
        assert ended.count(("interrupted", None)) == begun
        assert len(ended) == begun + 10
        assert client.sim("GET", f"{DEFAULT}/invariants").json["violations"] == []
        assert_replays(client.app)


def test_the_last_attempt_that_a_kill_cut_is_made_again(deliver_by: Callable[[Receiver], None], tmp_path: Path) -> None:
    wall = Wall()
    deliver_by(receiver := Receiver(1, *[ANSWERED_500] * 3))
    with serving(tmp_path / "data", CALLED, wall) as client:
        pay_many(client, 1)
        for _ in range(3):
            client.pass_time(60)
            turns(client)
        assert len(receiver.received) == 4, "the last one hangs"
        folder = killed(client, tmp_path)
    deliver_by(receiver := Receiver(1, ANSWERED_500))
    with serving(folder, CALLED, wall) as client:
        turns(client)
        assert len(receiver.received) == 1
        (callback,) = callbacks(client)
        assert callback.state == "failed"
        answered = ("answered", 500)
        assert endings(callback) == [answered, answered, answered, ("interrupted", None), answered]
        assert client.live.core.state.agenda.next_due is None
