"""While a scenario is compiled or a large sandbox built, the event loop answers."""

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from simulator.contract import body
from simulator.domain.errors import Busy
from simulator.runtime.background import BYTES_MAX, PLACES, SMALL_BYTES, in_background, place
from simulator.runtime.lives import first_state
from simulator.runtime.scenario_watch import ScenarioWatch
from simulator.scenario import library
from simulator.scenario.sections.scripted_answers import build_inbox
from tests.support.client import Client, Response, running

INLINE: dict[str, Any] = {"scenario": "inline", "extends": "default", "clock": {"mode": "manual"}}


class Gate:
    """Holds up calls of a function until it is opened; on the event loop itself nothing could open it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._opened = threading.Event()
        self.entered = threading.Event()

    def hold(self, target: str, function: Callable[..., Any]) -> None:
        """Hold up this function, which is found by that name."""

        def held(*arguments: Any, **options: Any) -> Any:
            self.entered.set()
            assert self._opened.wait(10), "nothing else was done meanwhile"
            return function(*arguments, **options)

        self._monkeypatch.setattr(target, held)

    async def around(self, work: Awaitable[Any], meanwhile: Callable[[], Awaitable[Any]]) -> Any:
        """The result of `work`, while which `meanwhile` is done."""
        task = asyncio.ensure_future(work)
        async with asyncio.timeout(60):
            while not self.entered.is_set():  # noqa: ASYNC110 - an event of threads
                await asyncio.sleep(0)
            await meanwhile()
            assert not task.done()
            self._opened.set()
            return await task


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def another(client: Client) -> Callable[[], Awaitable[None]]:
    async def pay() -> None:
        body = {"refid": "meanwhile", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        assert (await client.acall("POST", "/v2/topup", body)).status == 200

    return pay


CREATIONS = [
    ("simulator.control.sandbox_endpoints.scenario_from_object", library.scenario_from_object, INLINE),
    ("simulator.control.sandbox_endpoints.load_scenario", library.load_scenario, "bad-day"),
    ("simulator.runtime.sandboxes.first_state", first_state, INLINE),
]


@pytest.mark.parametrize(("target", "function", "scenario"), CREATIONS, ids=["object", "bundled", "state"])
def test_requests_are_answered_while_a_sandbox_is_created(
    client: Client, gate: Gate, target: str, function: Callable[..., Any], scenario: Any
) -> None:
    gate.hold(target, function)
    creation = client.asim("POST", "/sandboxes", {"id": "new", "scenario": scenario})
    assert client.run(gate.around(creation, another(client))).status == 201
    assert client.call("GET", "/v2/balance", sandbox="new").status == 200


def test_requests_are_answered_while_a_sandbox_is_reset(client: Client, gate: Gate) -> None:
    client.sandbox(INLINE, "other")
    gate.hold("simulator.runtime.live_sandbox.first_state", first_state)
    assert client.run(gate.around(client.asim("POST", "/sandboxes/other/reset"), another(client))).status == 200


def test_requests_are_answered_while_a_watched_file_is_read(client: Client, gate: Gate, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: default\n")
    reported: list[str] = []
    watch = ScenarioWatch(str(path), client.app.load, reported.extend)
    path.write_text("extends: default\npayments: [{ then: [{ status: Failed }] }]\n")
    gate.hold("simulator.runtime.scenario_watch.load_scenario", library.load_scenario)

    async def polls() -> None:
        await watch.poll()
        await watch.poll()

    client.run(gate.around(polls(), another(client)))
    assert reported[0].endswith("loaded")
    assert client.pay("after").data["status"] == "Failed"


def test_an_id_is_given_once_to_sandboxes_that_are_built_at_the_same_time(client: Client) -> None:
    async def both() -> list[Response]:
        return await asyncio.gather(*(client.asim("POST", "/sandboxes", {"id": "same"}) for _ in range(2)))

    assert sorted(answer.status for answer in client.run(both())) == [201, 409]


def test_a_sandbox_that_is_deleted_while_its_state_is_rebuilt_does_not_return(client: Client, gate: Gate) -> None:
    client.sandbox(INLINE, "other")
    gate.hold("simulator.runtime.live_sandbox.first_state", first_state)
    deletion = lambda: client.asim("DELETE", "/sandboxes/other")  # noqa: E731
    assert client.run(gate.around(client.asim("POST", "/sandboxes/other/reset"), deletion)).status == 404
    assert client.sim("GET", "/sandboxes/other").status == 404


def test_an_error_reaches_the_caller_of_the_work() -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await in_background(divmod, 1, 0)
        assert await in_background(int, "11", base=2) == 3

    asyncio.run(main())


def test_no_more_wait_for_work_than_there_are_places() -> None:
    with ExitStack() as held:
        for _ in range(PLACES):
            held.enter_context(place(10))
        with pytest.raises(Busy, match="retry later"), place(0):
            pass
    with place(0):
        pass


def test_the_large_bodies_of_waiting_requests_are_bounded_but_a_single_body_is_taken() -> None:
    with place(BYTES_MAX + 1), place(SMALL_BYTES), pytest.raises(Busy), place(SMALL_BYTES + 1):
        pass
    with place(BYTES_MAX // 2), place(BYTES_MAX // 2):
        pass


def test_a_sandbox_that_finds_no_place_is_refused_and_a_reset_leaves_everything_as_it_was(client: Client) -> None:
    client.pay("before")
    with ExitStack() as held:
        for _ in range(PLACES):
            held.enter_context(place(10))
        for path, wanted in (("/sandboxes", {"id": "new"}), ("/sandboxes/default/reset", None)):
            refused = client.sim("POST", path, wanted)
            assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (429, "too_busy", "1")
        assert client.call("GET", "/v2/balance").status == 200
    assert [row["refid"] for row in client.sim("GET", "/sandboxes/default/transactions").json["transactions"]] == [
        "before"
    ]
    assert client.sim("POST", "/sandboxes", {"id": "new"}).status == 201


def test_requests_are_answered_while_a_long_body_is_decoded(client: Client, gate: Gate) -> None:
    gate.hold("simulator.control.http.decode_object", body.decode_object)
    replies = {"replies": [{"body": "x" * 50_000}] * 2}
    setting = client.asim("PUT", "/sandboxes/default/inbox/a", replies)
    assert client.run(gate.around(setting, another(client))).status == 200


def test_a_sandbox_that_is_deleted_while_a_long_body_is_decoded_is_not_changed(client: Client, gate: Gate) -> None:
    client.sandbox(INLINE, "other")
    gate.hold("simulator.control.http.decode_object", body.decode_object)
    replies = {"replies": [{"body": "x" * 50_000}] * 2}
    deletion = lambda: client.asim("DELETE", "/sandboxes/other")  # noqa: E731
    assert client.run(gate.around(client.asim("PUT", "/sandboxes/other/inbox/a", replies), deletion)).status == 404


LONG_PROGRAM = {"replies": [{"status": 500}] * 1000}


def test_requests_are_answered_while_a_long_program_of_an_inbox_is_made(client: Client, gate: Gate) -> None:
    gate.hold("simulator.control.inbox_endpoints.build_inbox", build_inbox)
    setting = client.asim("PUT", "/sandboxes/default/inbox/a", LONG_PROGRAM)
    assert client.run(gate.around(setting, another(client))).status == 200


def test_a_sandbox_that_is_deleted_while_a_long_program_is_made_is_not_changed(client: Client, gate: Gate) -> None:
    client.sandbox(INLINE, "other")
    gate.hold("simulator.control.inbox_endpoints.build_inbox", build_inbox)
    deletion = lambda: client.asim("DELETE", "/sandboxes/other")  # noqa: E731
    setting = client.asim("PUT", "/sandboxes/other/inbox/a", LONG_PROGRAM)
    assert client.run(gate.around(setting, deletion)).status == 404


def test_a_process_that_ends_does_not_wait_for_the_work(tmp_path: Path) -> None:
    script = """
import asyncio, threading
from simulator.runtime.background import in_background
never = threading.Event()
async def main():
    try:
        async with asyncio.timeout(0):
            await in_background(never.wait)
    except TimeoutError:
        print("ended", flush=True)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == (b"ended\n", b"")


def test_nothing_is_kept_of_work_that_failed_although_no_collector_runs() -> None:
    read: list[weakref.ref[Gate]] = []

    def fail() -> None:
        data = Gate(pytest.MonkeyPatch())
        read.append(weakref.ref(data))
        raise ValueError

    async def ask() -> None:
        with suppress(ValueError):
            await in_background(fail)
        await in_background(int)  # the thread has left the work before

    gc.disable()
    try:
        asyncio.run(ask())
        assert read[0]() is None
    finally:
        gc.enable()
