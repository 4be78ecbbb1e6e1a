"""A client whose reseller has a balance webhook, with the common steps of its tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.client import Client, Response, running
from tests.support.receivers import Answer, Receiver

WEBHOOK = "/v2/balance-webhook"
DELIVERIES = WEBHOOK + "/deliveries"


def put(client: Client, url: str = "inbox:webhooks") -> Response:
    return client.call("PUT", WEBHOOK, {"url": url})


def secret_of(client: Client, url: str = "inbox:webhooks") -> str:
    """Configure a new webhook; its secret."""
    made = put(client, url)
    assert made.status == 200, made.body
    secret: str = made.json["webhook_secret"]
    return secret


def deposit(client: Client, amount: Any = "10.00", reseller: str = "RS001", **more: Any) -> Any:
    answer = client.sim("POST", f"/sandboxes/default/resellers/{reseller}/deposits", {"amount": amount} | more)
    assert answer.status == 201, answer.body
    return answer.json


def listed(client: Client, query: str = "") -> list[Any]:
    answer = client.call("GET", DELIVERIES + query)
    assert answer.status == 200, answer.body
    rows: list[Any] = answer.json["deliveries"]
    return rows


def answering(client: Client, *statuses: int, inbox: str = "webhooks") -> None:
    """Let the inbox answer with these, the last one for ever."""
    replies = {"replies": [{"status": status} for status in statuses]}
    assert client.sim("PUT", f"/sandboxes/default/inbox/{inbox}", replies).status == 200


def failed_job(client: Client) -> str:
    """Return a delivery that has used up its retries. The inbox keeps answering 500."""
    answering(client, 500)
    deposit(client)
    client.advance()
    job: str = listed(client)[0]["id"]
    return job


def replay(client: Client, job: str) -> Response:
    return client.call("POST", f"{DELIVERIES}/{job}/replay")


@contextmanager
def hooked(*answers: Answer, **scenario: Any) -> Iterator[tuple[Client, Receiver, str]]:
    """An application, a real receiver that its webhook points at, and the secret."""
    with running(scenario) as client:
        receiver = client.run(Receiver(list(answers) or [200]).start())
        try:
            yield client, receiver, secret_of(client, receiver.url)
        finally:
            client.run(receiver.stop())
