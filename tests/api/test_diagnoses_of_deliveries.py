"""Refusals of the balance webhook and its delivery log are explained: in `X-Sim-Diagnosis`, in the journal."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Response, running
from tests.support.diagnoses import diagnosis
from tests.support.webhooks import DELIVERIES, WEBHOOK, answering, deposit, failed_job, listed, put, replay

OTHER = {
    "code": "RS002",
    "balance": "10.00",
    "api_keys": [{"key": "other", "secret": "b3RoZXItc2VjcmV0LW9ubHktZm9yLXRlc3Rpbmc="}],
}


@pytest.fixture
def client() -> Iterator[Client]:
    with running({"resellers": [OTHER]}) as client:
        yield client


def bulk(client: Client, *jobs: str) -> Response:
    return client.call("POST", DELIVERIES + "/replay-bulk", {"job_ids": list(jobs)})


@pytest.mark.parametrize(("method", "path"), [("PATCH", "/enabled"), ("POST", "/rotate-secret")])
def test_without_a_webhook_the_reseller_is_named(client: Client, method: str, path: str) -> None:
    body: Any = {"enabled": True} if method == "PATCH" else b""
    answer = client.call(method, WEBHOOK + path, body)
    assert (answer.status, diagnosis(client, answer)) == (404, "RS001 has no balance webhook; create it with PUT")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://user:word@127.0.0.1/", "the address must not carry a user name or password"),
        ("http://127.0.0.1:70000/", "the port must be between 1 and 65535"),
        ("http://169.254.169.254/", "169.254.169.254 is a link-local address, where clouds serve their metadata"),
    ],
)
def test_an_address_that_cannot_be_called_is_explained_in_a_sentence(client: Client, url: str, said: str) -> None:
    for answer in (put(client, url), client.call("POST", f"/v2/callback-url?url={url}&method=POST")):
        assert (answer.status, answer.json["errors"], diagnosis(client, answer)) == (400, {"url": [said]}, said)


def test_an_unknown_delivery_is_named(client: Client) -> None:
    put(client)
    job = failed_job(client)
    event = listed(client)[0]["eventId"]
    unknown = [
        ("nothing", "no delivery nothing"),
        (event, f"{event} is the id of an event; its latest delivery is {job}"),
    ]
    for text, said in unknown:
        for answer in (client.call("GET", f"{DELIVERIES}/{text}"), replay(client, text)):
            assert (answer.status, diagnosis(client, answer)) == (404, said)
        assert diagnosis(client, bulk(client, text)) == said
    foreign = client.call("GET", f"{DELIVERIES}/{job}", key="other", secret=OTHER["api_keys"][0]["secret"])  # type: ignore[index]
    said = f"delivery {job} does not belong to reseller RS002"
    assert (foreign.status, diagnosis(client, foreign)) == (404, said)


def test_the_latest_delivery_of_an_event_may_be_a_replay(client: Client) -> None:
    put(client)
    job = failed_job(client)
    event = listed(client)[0]["eventId"]
    new = replay(client, job).json["jobId"]
    assert diagnosis(client, replay(client, event)) == f"{event} is the id of an event; its latest delivery is {new}"


def test_a_replay_over_the_limit_names_the_limit(client: Client) -> None:
    put(client)
    job = failed_job(client)
    for _ in range(3):
        assert diagnosis(client, replay(client, job)) == ""
    said = "this event has already been replayed 3 times"
    answer = replay(client, job)
    assert (answer.status, diagnosis(client, answer)) == (429, said)
    assert diagnosis(client, bulk(client, job)) == said


def test_other_refused_replays_are_explained_in_a_sentence(client: Client) -> None:
    put(client)
    job = failed_job(client)
    answering(client, 200)
    deposit(client)
    client.advance()
    good = listed(client)[0]["id"]
    assert diagnosis(client, replay(client, good)) == "only failed deliveries can be replayed; this delivery succeeded"
    client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
    assert diagnosis(client, replay(client, job)) == "the balance webhook is disabled; enable it first"
    client.call("DELETE", WEBHOOK)
    assert diagnosis(client, replay(client, job)) == "there is no balance webhook to deliver to; create it with PUT"


def test_the_first_of_many_refused_items_are_explained(client: Client) -> None:
    put(client)
    said = diagnosis(client, bulk(client, *(f"x{n}" for n in range(9))))
    assert (
        said == "no delivery x0; no delivery x1; no delivery x2; no delivery x3; no delivery x4; and 4 more that failed"
    )


def test_a_period_that_ends_before_it_begins_is_noted(client: Client) -> None:
    said = "from is later than to, so no delivery matches"
    answer = client.call("GET", f"{DELIVERIES}?from=2026-11-22&to=2026-11-21")
    assert (answer.status, diagnosis(client, answer)) == (200, said)
    assert diagnosis(client, client.call("GET", f"{DELIVERIES}?from=2026-11-21&to=2026-11-21")) == ""


def test_a_delivery_of_a_catalog_event_belongs_to_no_reseller() -> None:
    with running({"webhooks": {"catalog": {"url": "inbox:catalog"}}}) as client:
        client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"name": "Gems"})
        client.advance()
        (job,) = [one["id"] for one in client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"]]
        answer = client.call("GET", f"{DELIVERIES}/{job}")
        assert (answer.status, diagnosis(client, answer)) == (404, f"delivery {job} does not belong to reseller RS001")
