"""Probes: how careful and careless receivers answer forged deliveries."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from simulator.runtime.clock import wall_clock
from simulator.runtime.probes import PROBES
from tests.support.client import Client, running
from tests.support.receivers import (
    Answer,
    Got,
    Receiver,
    refused_url,
)
from tests.support.webhooks import put, secret_of

NAMES = [probe.name for probe in PROBES]
FORGED = [
    "callback-unknown-refid",
    "callback-wrong-amount",
    "webhook-unsigned",
    "webhook-wrong-signature",
    "webhook-old-timestamp",
    "webhook-changed-body",
]
FAST = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]


class Careful:
    """A receiver as the service asks for: it knows its payments and verifies events."""

    def __init__(self) -> None:
        self.secret = b""
        self.amounts = {"ref-1": 10}
        self.statuses: dict[str, str] = {}
        self.events: set[str] = set()

    def __call__(self, got: Got) -> Answer:
        return self._callback(got) if b"refid" in got.body or "refid" in got.query else self._event(got)

    def _callback(self, got: Got) -> Answer:
        data = got.data if got.body else json.loads(got.query["message"])
        if self.amounts.get(data["refid"]) != data["amount"]:
            return 422
        self.statuses.setdefault(data["refid"], data["status"])
        return 204

    def _event(self, got: Got) -> Answer:
        try:
            self.events.add(Webhook(self.secret).verify(got.body, got.headers)["id"])
        except WebhookVerificationError:
            return 401
        return 200


@contextmanager
def receiving(
    judge: Callable[[Got], Answer], method: str = "POST", **scenario: Any
) -> Iterator[tuple[Client, Receiver, str]]:
    """One receiver of everything, one payment that it knows."""
    whole = {"payments": [{"when": {}, "then": FAST}]} | scenario
    with running(whole, wall=wall_clock) as client:
        receiver = client.run(Receiver(judge=judge).start())
        try:
            client.call("POST", f"/v2/callback-url?url={receiver.url}&method={method}")
            secret = secret_of(client, receiver.url)
            client.pay("ref-1", "10")
            client.advance(1)
            yield client, receiver, secret
        finally:
            client.run(receiver.stop())


def probe(client: Client, **body: Any) -> Any:
    answer = client.sim("POST", "/sandboxes/default/probes", body)
    assert answer.status == 200, answer.body
    return answer.json


def verdicts(report: Any) -> dict[str, str]:
    return {one["probe"]: one["verdict"] for one in report["probes"]}


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_careful_receiver_passes_every_probe(method: str) -> None:
    careful = Careful()
    with receiving(careful, method) as (client, _, secret):
        careful.secret = bytes.fromhex(secret)
        report = probe(client)
        assert verdicts(report) == dict.fromkeys(NAMES, "ok")
        assert (report["reseller"], report["findings"]) == ("RS001", 0)
        assert careful.statuses == {"ref-1": "Succesful"}
        assert len(careful.events) == 1


def test_a_receiver_that_accepts_everything_is_reported() -> None:
    with receiving(lambda got: 200) as (client, receiver, _):
        report = probe(client)
        assert [name for name, verdict in verdicts(report).items() if verdict == "finding"] == FORGED
        assert report["findings"] == len(FORGED)
        first = report["probes"][0]
        assert first["about"]
        assert first["requests"] == [
            {
                "url": receiver.url,
                "method": "POST",
                "should_accept": False,
                "verdict": "finding",
                "ending": "answered",
                "status": 200,
                "error": "",
                "body": "ok",
            }
        ]


def test_a_receiver_that_refuses_repeated_callbacks_is_reported() -> None:
    with receiving(lambda got: 409) as (client, _, _):
        found = verdicts(probe(client))
        repeated = {"callback-duplicate", "callback-out-of-order", "webhook-repeated-event"}
        assert {name for name, verdict in found.items() if verdict == "finding"} == repeated


@pytest.mark.parametrize("answer", [500, 302, b"garbage\r\n\r\n"])
def test_an_unclear_answer_to_a_forged_callback_is_inconclusive(answer: Answer) -> None:
    with receiving(lambda got: answer) as (client, _, _):
        found = verdicts(probe(client))
        assert {found[name] for name in FORGED} == {"inconclusive"}


def test_each_probe_sends_the_request_that_it_describes() -> None:
    with receiving(lambda got: 200) as (client, receiver, secret):
        receiver.got.clear()
        probe(client, probes=NAMES[:4])
        genuine = client.pay("ref-1", "10").data
        unknown, amount, first, again, stale = (got.data for got in receiver.got)
        assert unknown == genuine | {"refid": unknown["refid"]}
        assert unknown["refid"].startswith("forged-")
        assert amount == genuine | {"amount": 101}
        assert first == again == genuine
        assert (stale["status"], stale["statusCode"], stale["refid"]) == ("Processing", 2, "ref-1")
        receiver.got.clear()
        probe(client, probes=["webhook-repeated-event"])
        bodies = [got.body for got in receiver.got]
        assert bodies[0] == bodies[1]
        for got in receiver.got:
            Webhook(bytes.fromhex(secret)).verify(got.body, got.headers)


def test_probes_leave_no_trace_in_the_sandbox() -> None:
    with receiving(lambda got: 500) as (client, _, _):
        paths = ("/transactions", "/callbacks", "/deliveries", "/clock", "/invariants", "")
        before = [client.sim("GET", "/sandboxes/default" + path).body for path in paths]
        statement = client.call("GET", "/v2/balance").body
        probe(client)
        assert [client.sim("GET", "/sandboxes/default" + path).body for path in paths] == before
        assert client.call("GET", "/v2/balance").body == statement


def test_probes_without_anything_to_build_on_are_skipped() -> None:
    with running({"resellers": [{"code": "RS002"}]}) as client:
        report = probe(client, reseller="RS002")
        assert set(verdicts(report).values()) == {"skipped"}
        assert all(one["reason"] and one["requests"] == [] for one in report["probes"])
        report = probe(client)
        assert "make one" in report["probes"][0]["reason"]


def test_a_plain_hmac_has_no_timestamp_to_be_old() -> None:
    with running({"webhooks": {"signature": {"header": "X-Signature"}}}) as client:
        put(client)
        found = verdicts(probe(client, probes=["webhook-old-timestamp", "webhook-changed-body"]))
        assert found == {"webhook-old-timestamp": "skipped", "webhook-changed-body": "finding"}


def test_a_receiver_that_is_not_there_or_silent_is_inconclusive() -> None:
    with receiving(lambda got: None, limits={"callback_timeout_manual": "50ms"}) as (client, _, _):
        report = probe(client, probes=["webhook-wrong-signature", "webhook-repeated-event"], timeout=0.05)
        assert set(verdicts(report).values()) == {"inconclusive"}
        assert report["probes"][0]["requests"][0]["ending"] == "timeout"
        with refused_url() as refused:
            put(client, refused)
            report = probe(client, probes=["webhook-repeated-event"])
        assert verdicts(report) == {"webhook-repeated-event": "inconclusive"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"reseller": "RS009"}, 404),
        ({"probes": ["callback"]}, 400),
        ({"probes": []}, 400),
        ({"probes": "all"}, 400),
        ({"timeout": 0}, 400),
        ({"timeout": 61}, 400),
        ({"url": "http://127.0.0.1/"}, 400),
    ],
)
def test_a_request_that_cannot_be_is_refused(body: Any, status: int) -> None:
    with running() as client:
        assert client.sim("POST", "/sandboxes/default/probes", body).status == status


def test_a_sandbox_without_resellers_cannot_be_probed() -> None:
    with running({"extends": None, "resellers": []}) as client:
        assert client.sim("POST", "/sandboxes/default/probes").status == 400


def test_the_contract_names_every_probe() -> None:
    from simulator.contract.schemas import schema

    assert schema("probes-request")["properties"]["probes"]["items"]["enum"] == NAMES
