"""A test that freezes or moves its clock does not change the bounds of waits, nor what the receiver takes."""

import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from freezegun import freeze_time

from reseller_sim import Receiver, Sandbox, Simulator
from reseller_sim.exchange import real_monotonic, real_time

FREEZERS: dict[str, Callable[[str], Any]] = {
    "freezegun": freeze_time,
    "time-machine": lambda at: time_machine.travel(at, tick=False),
}
AT = "2031-01-15 10:00:00+00:00"
DEADLINE_S = 30


@pytest.fixture(params=FREEZERS)
def freeze(request: pytest.FixtureRequest) -> Any:
    return FREEZERS[request.param]


def outcome_of(call: Callable[[], object]) -> object:
    """Return the result or the error of a call; a call that does not end is abandoned."""
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(call())
        except Exception as error:
            outcomes.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(DEADLINE_S)
    assert outcomes, "it does not end"
    return outcomes[0]


def test_the_real_clocks_run_on(freeze: Any) -> None:
    before = real_monotonic(), real_time()
    with freeze(AT):
        assert 0 <= real_monotonic() - before[0] < DEADLINE_S
        assert 0 <= real_time() - before[1] < DEADLINE_S


def test_a_wait_for_a_callback_ends(own: Sandbox, freeze: Any) -> None:
    with freeze(AT):
        error = outcome_of(lambda: own.wait_for_callback("order-1", timeout_s=0.05))
    assert isinstance(error, AssertionError)
    assert "no payment has the refid 'order-1'" in str(error)


def test_a_wait_for_messages_ends(freeze: Any) -> None:
    with Receiver() as receiver, freeze(AT):
        error = outcome_of(lambda: receiver.wait_for(1, timeout_s=0.05))
    assert "0 messages came" in str(error)


def test_an_answer_that_never_comes_ends(freeze: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, freeze(AT):
        simulator = Simulator(f"http://127.0.0.1:{listening.getsockname()[1]}")
        error = outcome_of(lambda: simulator.control.ask("GET", "/health", timeout_s=0.05))
    assert "timed out" in str(error)


def test_a_leap_of_the_clock_drops_no_message() -> None:
    with Receiver() as receiver, freeze_time(AT) as frozen:
        with socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port or 0), DEADLINE_S) as connection:
            connection.sendall(b"POST /paid HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
            frozen.move_to("2031-01-16 10:00:00")
            connection.sendall(b"}")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        (message,) = receiver.received
        assert message.at.year < 2031


def test_a_request_is_signed_at_the_time_of_the_test(simulator: Simulator, freeze: Any) -> None:
    scenario = {"extends": "default", "clock": {"signature": "sandbox"}}
    with simulator.sandbox(scenario, start=datetime(2031, 1, 15, 10, tzinfo=UTC)) as sandbox, freeze(AT):
        assert int(sandbox.auth.headers("GET", "/v2/balance")["X-Timestamp"]) == int(time())
        assert sandbox.call("GET", "/v2/balance").status == 200
