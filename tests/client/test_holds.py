"""Both clients wait until something is held, and release it; a client that leaves frees its place."""

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sim import Sandbox, Simulator

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
HELD = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "hold": "topup"}}


def test_an_answer_is_held_until_the_test_releases_it(client: Any, simulator: Simulator) -> None:
    with client.sandbox() as sandbox, ThreadPoolExecutor() as threads:
        sandbox.fault(HELD)
        with sandbox.hold("topup") as held:
            assert held.waiting == []
            answer = threads.submit(simulator.open(sandbox.id).call, "POST", "/v2/topup", PAYMENT)
            (found,) = held.wait(1)
            assert (found["name"], found["refid"], sandbox.transaction("order-1")["status"]) == (
                "topup",
                "order-1",
                "Accepted",
            )
            assert not answer.done()
            assert held.release(1) == 1
            assert answer.result().status == 200
            assert held.release() == 0


def test_the_end_of_with_releases_what_is_left(own: Sandbox) -> None:
    own.fault(HELD)
    with ThreadPoolExecutor() as threads:
        with own.hold("topup") as held:
            answer = threads.submit(own.call, "POST", "/v2/topup", PAYMENT)
            held.wait(1)
        assert answer.result().status == 200


def test_a_test_that_waits_in_vain_is_told_how_many_were_held(own: Sandbox) -> None:
    with pytest.raises(AssertionError, match=r"^0 of 2 were held in 'topup' within 0\.01 s$"):
        own.hold("topup").wait(2, timeout_s=0.01)


@pytest.mark.parametrize("leaves_when_held", [True, False])
def test_a_client_that_leaves_frees_its_place(own: Sandbox, leaves_when_held: bool) -> None:
    own.fault({"when": {"path": "/v2/balance"}, "then": {"delay": "50ms", "hold": "balance"}})
    held, parts = own.hold("balance"), urlsplit(own.url)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        headers = {"Host": parts.netloc, **own.auth.headers("GET", "/v2/balance", b"")}
        lines = [f"GET {parts.path}/v2/balance HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        if leaves_when_held:
            held.wait(1)
    answered = own.ask("GET", "/requests?wait_for=1&timeout=30")
    assert [row["path"] for row in answered["requests"]] == ["/v2/balance"]
    assert held.waiting == []
