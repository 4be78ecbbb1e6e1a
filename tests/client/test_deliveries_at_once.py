"""Deliveries that are due together come on connections of their own: a receiver may answer none before it has all."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Barrier
from urllib.parse import quote

import pytest

from reseller_sim import Simulator
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import DEADLINE_S

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
TOGETHER = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "1s", "status": "Succesful"}]
ONE = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]


@contextmanager
def answering_both() -> Iterator[tuple[str, list[str]]]:
    """A receiver that answers when two requests wait for it; its URL, and the paths that it has answered."""
    both, answered = Barrier(2), list[str]()

    class Receiver(QuietHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            both.wait(DEADLINE_S)
            answered.append(self.path)
            self.respond(200)

    with local_server(Receiver) as url:
        yield url, answered


@pytest.mark.parametrize(
    ("steps", "callbacks"), [(TOGETHER, {"concurrent": True}), (ONE, {"concurrent": True, "duplicate": 1})]
)
def test_concurrent_callbacks_are_sent_at_once(
    simulator: Simulator, steps: list[dict[str, str]], callbacks: dict[str, object]
) -> None:
    rule = {"then": steps, "callbacks": callbacks}
    with (
        answering_both() as (url, answered),
        simulator.sandbox({"extends": "default", "limits": {"callback_timeout": "60s"}, "payments": [rule]}) as sandbox,
    ):
        sandbox.call("POST", f"/v2/callback-url?method=POST&url={quote(url + '/callback', safe='')}")
        sandbox.call("POST", "/v2/topup", PAYMENT)
        sandbox.advance("1s")
        assert answered == ["/callback", "/callback"]


def test_copies_of_a_webhook_are_sent_at_once(simulator: Simulator) -> None:
    scenario = {"extends": "default", "webhooks": {"timeout": "60s", "duplicate": 1}}
    with answering_both() as (url, answered), simulator.sandbox(scenario) as sandbox:
        sandbox.call("PUT", "/v2/balance-webhook", {"url": f"{url}/event"})
        sandbox.deposit("5.00")
        sandbox.advance()
        assert answered == ["/event", "/event"]
