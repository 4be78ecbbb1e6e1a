"""The receiver records real deliveries, verifies signatures, and misbehaves on request."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest

from reseller_sim import Message, Receiver, Sandbox, verify_webhook
from tests.support.both_clients import client_of

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
SECRET = "5f" * 32
OTHER = "a0" * 32


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


def pay(sandbox: Sandbox, receiver: Receiver) -> None:
    """Make a payment whose callbacks go to the receiver, and let it end."""
    sandbox.call("POST", f"/v2/callback-url?method=POST&url={quote(receiver.url + '/paid?from=sim', safe='')}")
    sandbox.call("POST", "/v2/topup", PAYMENT)
    sandbox.run_until_idle()


def credit(sandbox: Sandbox, receiver: Receiver) -> str:
    """Have a deposit announced to the receiver; the webhook's secret."""
    made = sandbox.call("PUT", "/v2/balance-webhook", {"url": f"{receiver.url}/events"})
    sandbox.deposit(250)
    sandbox.run_until_idle()
    secret: str = made.json()["webhook_secret"]
    return secret


def send(
    receiver: Receiver, body: bytes = b"", headers: Mapping[str, str] | None = None, method: str = "POST"
) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", urlsplit(receiver.url).port, timeout=10)
    try:
        connection.request(method, "/any?a=1&b=", body, dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_callbacks_are_recorded_as_they_came(own: Sandbox, receiver: Receiver) -> None:
    pay(own, receiver)
    first, second = receiver.wait_for(2)
    assert (first.n, first.method, first.path, first.query) == (1, "POST", "/paid", {"from": "sim"})
    assert (first.headers["content-type"], first.status) == ("application/json", 200)
    assert [first.data["status"], second.data["status"]] == ["Processing", "Succesful"]
    assert second.json()["data"]["refid"] == "order-1"
    assert first.at <= second.at
    assert str(second.signature) == (
        "not verified: it has no header webhook-signature; transaction callbacks are unsigned"
    )
    own.expect_callback("order-1", status="Succesful")


def test_a_program_of_replies_is_followed_and_its_last_one_repeated(own: Sandbox, receiver: Receiver) -> None:
    receiver.reply(500).reply(disconnect=True).reply(204)
    credit(own, receiver)
    assert [one.status for one in receiver.received] == [500, None, 204]
    (delivery,) = own.ask("GET", "/deliveries")["deliveries"]
    assert [(one["ending"], one["status"]) for one in delivery["attempts"]] == [
        ("answered", 500),
        ("connection", None),
        ("answered", 204),
    ]
    pay(own, receiver)
    assert [one.status for one in receiver.received] == [500, None, 204, 204, 204]


def test_a_reply_can_be_repeated(receiver: Receiver) -> None:
    receiver.reply(503, times=2).reply(200, body="welcome")
    assert [send(receiver) for _ in range(4)] == [(503, b""), (503, b""), (200, b"welcome"), (200, b"welcome")]


def test_a_slow_receiver_answers_after_its_delay(receiver: Receiver) -> None:
    receiver.reply(delay_s=0.05).reply(201)
    assert (send(receiver)[0], send(receiver)[0]) == (200, 201)


def test_closing_ends_the_delays(receiver: Receiver) -> None:
    receiver.reply(delay_s=3600)
    outcomes: list[object] = []

    def ask() -> None:
        try:
            outcomes.append(send(receiver))
        except OSError as error:
            outcomes.append(type(error))

    thread = threading.Thread(target=ask)
    thread.start()
    receiver.wait_for(1)
    receiver.close()
    thread.join(10)
    assert len(outcomes) == 1


def test_a_webhook_is_verified_with_its_secret(own: Sandbox, receiver: Receiver) -> None:
    secret = credit(own, receiver)
    (unknown,) = receiver.wait_for(1)
    assert str(unknown.signature) == "not verified: no secret was given; name it with verify(secret)"
    receiver.verify(secret)
    (message,) = receiver.received
    assert message.signature
    assert (str(message.signature), message.json()["type"]) == ("verified", "balance.added")
    assert message.data["amount"] == 250


def test_after_a_rotation_either_secret_verifies(own: Sandbox, receiver: Receiver) -> None:
    receiver.verify(credit(own, receiver))
    receiver.verify(OTHER)
    assert receiver.received[0].signature


def test_an_event_in_an_inbox_is_verified_with_its_secret(server: str) -> None:
    for kind in ("sync", "async"):
        with client_of(kind, server) as client, client.sandbox() as sandbox:
            made = sandbox.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"})
            sandbox.deposit(250)
            sandbox.run_until_idle()
            (message,) = sandbox.inbox("events")
            assert message.verify(made.json()["webhook_secret"])
            assert not message.verify(OTHER)


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        ("webhook-unsigned", "it has no header webhook-signature"),
        ("webhook-wrong-signature", "does not match this id, timestamp, body and secret"),
        ("webhook-old-timestamp", " s old; 300 are allowed"),
        ("webhook-changed-body", "does not match this id, timestamp, body and secret"),
    ],
)
def test_forgeries_are_named(own: Sandbox, receiver: Receiver, probe: str, reason: str) -> None:
    receiver.verify(credit(own, receiver))
    receiver.clear()
    own.ask("POST", "/probes", {"reseller": "RS001", "probes": [probe]})
    (message,) = receiver.wait_for(1)
    assert reason in str(message.signature)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"webhook-id": ""}, "it has no webhook-id"),
        ({"webhook-timestamp": "soon"}, "webhook-timestamp is not Unix seconds: 'soon'"),
        ({"webhook-timestamp": "1795250001"}, "the signature does not match this id, timestamp, body and secret"),
        ({"webhook-signature": "v1,not base64"}, "the signature does not match this id, timestamp, body and secret"),
        ({"webhook-signature": "v2,xG8="}, "the signature does not match this id, timestamp, body and secret"),
    ],
)
def test_a_wrong_signature_is_explained(changes: Mapping[str, str], reason: str) -> None:
    good = {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": "1795250000",
        "Webhook-Signature": "v1,TUFE v1,+VHK7BNABT1xJvZJGYaRmHOqbEUrPOiPfGXHI3/u5Vo=",
    }
    headers = {name.lower(): value for name, value in good.items()} | dict(changes)
    verdict = verify_webhook(SECRET, headers, b'{"event":"balance.added"}', now=1795250010.0)
    assert (verdict.verified, verdict.reason) == (reason == "", reason)


def test_a_timestamp_may_be_five_minutes_off_either_way() -> None:
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": "1795250000",
        "webhook-signature": "v1,+VHK7BNABT1xJvZJGYaRmHOqbEUrPOiPfGXHI3/u5Vo=",
    }
    verdicts = {
        late: verify_webhook(SECRET, headers, b'{"event":"balance.added"}', now=1795250000.0 + late)
        for late in (-301, -300, 300, 301)
    }
    assert {late: verdict.reason for late, verdict in verdicts.items()} == {
        -301: "webhook-timestamp is 301 s ahead; 300 are allowed",
        -300: "",
        300: "",
        301: "webhook-timestamp is 301 s old; 300 are allowed",
    }


def test_a_secret_that_is_not_hexadecimal_is_refused(receiver: Receiver) -> None:
    with pytest.raises(ValueError, match="a webhook secret is hexadecimal"):
        receiver.verify("whsec_abc")


def test_a_missing_message_is_reported_with_the_received_messages(receiver: Receiver) -> None:
    send(receiver, b"hello")
    with pytest.raises(AssertionError, match=r"1 messages came in 0 s, not 2\n  POST /any: hello"):
        receiver.wait_for(2, timeout_s=0)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "PATCH"])
def test_every_method_is_received(receiver: Receiver, method: str) -> None:
    assert send(receiver, b"x", method=method) == (200, b"")
    (message,) = receiver.received
    assert (message.method, message.text, message.query) == (method, "x", {"a": "1", "b": ""})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": "1048577"}, 413),
        ({"Content-Length": "9" * 5000}, 413),
        ({"Content-Length": "-1"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_a_body_without_bounds_is_neither_read_nor_kept(
    receiver: Receiver, headers: Mapping[str, str], status: int
) -> None:
    assert send(receiver, b"", headers)[0] == status
    assert (receiver.received, receiver.left_out) == ([], int(status == 413))


def test_the_oldest_messages_are_discarded(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reseller_sim.receiver.MESSAGES_MAX", 2)
    receiver._messages = deque(maxlen=2)
    for text in (b"1", b"2", b"3"):
        send(receiver, text)
    assert ([one.text for one in receiver.received], receiver.left_out) == (["2", "3"], 1)
    assert [one.n for one in receiver.wait_for(3)] == [2, 3]


def test_clearing_forgets_messages_and_replies(receiver: Receiver) -> None:
    receiver.reply(500)
    send(receiver)
    receiver.clear()
    assert (receiver.received, send(receiver)[0], receiver.received[0].n) == ([], 200, 1)


def test_a_message_of_another_shape_has_no_data() -> None:
    shapes = [b"", b"[]", b'"text"', b'{"data": 1}']
    found = []
    with Receiver() as receiver:
        for body in shapes:
            send(receiver, body)
        found = [dict(one.data) for one in receiver.received]
    assert found == [{}, {}, {}, {}]
    assert isinstance(receiver.received[0], Message), "what came is kept after the end"
