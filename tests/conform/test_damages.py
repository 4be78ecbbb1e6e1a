"""`conform` finds what a service does wrong, and says in which check."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from simulator.conform.service import Answer, Request
from simulator.conform.session import Credentials, Session
from tests.support import damages
from tests.support.client import Client, running
from tests.support.conforming import BILL, DATA, RELOAD, InProcess, SandboxClock, Sender, conformed
from tests.support.damages import DAMAGES, PAYING


@pytest.fixture
def client() -> Iterator[Client]:
    """A service with a little history, of several seconds."""
    with running({}) as made:
        for number, amount in enumerate(("5", "10", "20")):
            made.pay(f"before-{number}", amount)
            made.advance(10)
            made.pass_time(10)
        yield made


def test_there_are_enough_damages() -> None:
    assert len(DAMAGES) >= 40


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damage_is_found_by_the_check_that_is_meant_for_it(
    what: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = DAMAGES[what]
    monkeypatch.setattr(damages, "RESIGNED", [_as_new_payment(client)])
    orders = (RELOAD, DATA, BILL) if row in PAYING or row.check == "subproducts-codes" else ()
    (result,) = conformed(client, *orders, only={row.check}, damage=row.damage).results
    assert result.outcome == "departs", result
    assert result.departures[0].field


@pytest.mark.parametrize("check", sorted({row.check for row in DAMAGES.values()}))
def test_the_same_check_passes_without_a_damage(check: str, client: Client) -> None:
    (result,) = conformed(client, RELOAD, DATA, BILL, only={check}).results
    assert result.outcome == "passed", result


def _as_new_payment(client: Client) -> object:
    """Sends a payment under a refid that was never used, and shows the client its own."""
    signer = Session(InProcess(client), Credentials(client.key, client.secret), SandboxClock(client), 1e6, 10_000)

    def resend(send: Sender, request: Request) -> Answer:
        body = json.loads(request.body)
        answer = signer.call("POST", request.target, body | {"refid": f"other-{signer.sent}"})
        value = json.loads(answer.body)
        value["data"]["refid"] = body["refid"]
        return replace(answer, request=request, body=json.dumps(value).encode())

    return resend
