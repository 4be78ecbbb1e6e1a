"""The origin of the messages of an inbox: callback, webhook or neither, its payment, and whether it is genuine."""

import json
from datetime import timedelta
from typing import Any

import pytest

from simulator.control import message_origin
from simulator.domain.model.webhooks import Signature
from simulator.wire.webhook_signature import signed
from tests.support.client import Client, running

WEBHOOK = "/v2/balance-webhook"
INBOX = "/_sim/inbox/default/events"
PLAIN = {"webhooks": {"signature": {"header": "X-Signature", "prefix": "sha256="}}}


def with_webhook(client: Client) -> str:
    """Has events sent to an inbox. Answers their secret."""
    secret: str = client.call("PUT", WEBHOOK, {"url": "inbox:events"}).json["webhook_secret"]
    return secret


def deposit(client: Client, code: str = "RS001") -> Any:
    """The message of a deposit."""
    made = client.sim("POST", f"/sandboxes/default/resellers/{code}/deposits", {"amount": "5.00"})
    assert made.status == 201
    client.advance()
    return client.inbox("events")[-1]


def sent_again(client: Client, message: Any, body: bytes | None = None, **headers: str | None) -> Any:
    """Send the message from outside, with some changes; None leaves a header out."""
    named = dict(message["headers"]) | {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {name: value for name, value in named.items() if value is not None}
    assert client.send("POST", INBOX, "", message["body"].encode() if body is None else body, kept).status == 200
    return client.inbox("events")[-1]


def judged(message: Any) -> tuple[str, bool | None, str]:
    return message["kind"], message["verified"]["ok"], message["verified"]["reason"]


# Webhooks


@pytest.mark.parametrize("scenario", [{}, PLAIN])
def test_a_webhook_of_the_sandbox_is_verified_and_has_its_delivery(scenario: Any) -> None:
    with running(scenario) as client:
        with_webhook(client)
        message = deposit(client)
        assert judged(message) == ("webhook", True, "signed with the secret of RS001")
        assert (message["refid"], message["trxid"]) == (None, None)
        found = client.sim("GET", f"/sandboxes/default/deliveries/{message['delivery']}").json
        assert found["event_id"] == message["json"]["id"]


def test_an_event_of_the_catalog_is_verified_with_the_secret_of_its_own_webhook() -> None:
    with running({"webhooks": {"catalog": {"url": "inbox:events", "secret": "5a" * 32}}}) as client:
        client.sim("PATCH", "/sandboxes/default/catalog/products/RELOAD", {"note": "new"})
        client.advance()
        message = client.inbox("events")[0]
        assert judged(message) == ("webhook", True, "signed with the secret of the catalog's webhook")
        assert message["delivery"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"webhook_signature": None}, "webhook-signature is missing"),
        ({"webhook_id": None, "webhook_timestamp": ""}, "webhook-id, webhook-timestamp are missing"),
        (
            {"webhook_id": None, "webhook_timestamp": None, "webhook_signature": None},
            "webhook-id, webhook-timestamp, webhook-signature are missing: it is not signed",
        ),
        ({"webhook_timestamp": "now"}, "webhook-timestamp is not a Unix time in seconds"),
        ({"webhook_timestamp": "9" * 40}, "webhook-timestamp is not a Unix time in seconds"),
        ({"webhook_signature": "v2,abc"}, "webhook-signature has no signature that begins with v1,"),
        ({"webhook_signature": "v1,é"}, "fits no secret of this sandbox"),
        ({"webhook_id": "evt_other"}, "fits no secret of this sandbox"),
        ({"body": b"{}"}, "another secret signed, or the body was changed"),
    ],
)
def test_a_changed_webhook_is_not_verified(changed: dict[str, Any], why: str) -> None:
    with running() as client:
        with_webhook(client)
        kind, ok, reason = judged(sent_again(client, deposit(client), **changed))
        assert (kind, ok) == ("webhook", False)
        assert why in reason


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"x_signature": None}, "x-signature is missing: it is not signed"),
        ({"x_signature": "00"}, "x-signature must be sha256=, then hexadecimal digits"),
        ({"x_signature": "sha256=00"}, "fits no secret of this sandbox"),
        ({"body": b"{}"}, "fits no secret of this sandbox"),
    ],
)
def test_a_plain_signature_is_judged_too(changed: dict[str, Any], why: str) -> None:
    with running(PLAIN) as client:
        with_webhook(client)
        kind, ok, reason = judged(sent_again(client, deposit(client), **changed))
        assert (kind, ok) == ("webhook", False)
        assert why in reason


@pytest.mark.parametrize(("late", "ok"), [(0, True), (300, True), (301, False)])
def test_a_webhook_is_judged_by_the_wall_time_at_which_it_came(late: int, ok: bool) -> None:
    with running() as client:
        with_webhook(client)
        message = deposit(client)
        client.pass_time(late)
        again = sent_again(client, message)
        assert again["verified"]["ok"] is ok
        assert ("301 s old" in again["verified"]["reason"]) is not ok
        client.pass_time(3600)
        assert client.inbox("events")[-1]["verified"]["ok"] is ok


def test_a_secret_that_is_replaced_later_was_right_and_one_that_was_replaced_before_is_not() -> None:
    with running() as client:
        with_webhook(client)
        message = deposit(client)
        assert client.call("POST", f"{WEBHOOK}/rotate-secret").status == 200
        assert judged(client.inbox("events")[0]) == ("webhook", True, "signed with the secret that was valid then")
        again = sent_again(client, message)
        assert judged(again) == ("webhook", False, "signed with a secret that had been replaced by then")
        assert judged(deposit(client))[1:] == (True, "signed with the secret of RS001")


def test_the_secret_of_a_removed_webhook_was_right_at_its_time() -> None:
    with running() as client:
        with_webhook(client)
        message = deposit(client)
        assert client.call("DELETE", WEBHOOK).status == 204
        assert client.inbox("events")[0]["verified"]["ok"]
        assert not sent_again(client, message)["verified"]["ok"]


def test_a_webhook_signed_with_the_secret_of_another_reseller_is_not_verified() -> None:
    two = {"resellers": [{"code": "RS001"}, {"code": "RS002", "balance_webhook": {"url": "inbox:other"}}]}
    with running(two) as client:
        live = client.live
        live.core.state.resellers["RS001"].webhook.secret = "aa" * 32
        secret = live.core.state.resellers["RS002"].webhook.secret
        event = {"type": "balance.added", "id": "evt_1", "data": {"resellerCode": "RS001"}}
        body = json.dumps(event).encode()
        headers = dict(signed(Signature(), secret, "evt_1", client.wall(), body))
        client.send("POST", INBOX, "", body, headers)
        message = client.inbox("events")[0]
        assert judged(message) == ("webhook", False, "signed with the secret of RS002, but about RS001")
        assert message["delivery"] is None


@pytest.mark.parametrize(
    ("probe", "ok", "why"),
    [
        ("webhook-unsigned", False, "it is not signed"),
        ("webhook-wrong-signature", False, "fits no secret of this sandbox"),
        ("webhook-old-timestamp", False, "webhook-timestamp is 3600 s old"),
        ("webhook-changed-body", False, "the body was changed"),
        ("webhook-repeated-event", True, "signed with the secret of RS001"),
    ],
)
def test_every_probe_of_webhooks_is_seen_through(probe: str, ok: bool, why: str) -> None:
    with running() as client:
        with_webhook(client)
        assert client.sim("POST", "/sandboxes/default/probes", {"probes": [probe]}).status == 200
        kind, found, reason = judged(client.inbox("events")[-1])
        assert (kind, found) == ("webhook", ok)
        assert why in reason


def test_a_long_message_is_hashed_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def counted(*given: Any) -> bool:
        tried.append(len(given[3]))
        return False

    with running() as client:
        with_webhook(client)
        for _ in range(20):
            client.call("POST", f"{WEBHOOK}/rotate-secret")
        message = deposit(client)
        sent_again(client, message, b"x" * 1024 * 1024)
        monkeypatch.setattr(message_origin, "is_signed_with", counted)
        client.inbox("events")
        assert 0 < sum(size for size in tried if size == 1024 * 1024) <= message_origin.TRIED_BYTES_MAX


# Callbacks, and what is neither


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_callback_is_attributed_to_its_payment(method: str) -> None:
    with running() as client:
        assert client.call("POST", f"/v2/callback-url?url=inbox:callbacks&method={method}").status == 200
        client.pay("order-1")
        client.advance()
        message = client.inbox()[-1]
        kind, ok, reason = judged(message)
        assert (kind, ok) == ("callback", None)
        assert "its refid, product, account and amount match a payment of this sandbox" in reason
        payment = client.sim("GET", "/sandboxes/default/transactions?refid=order-1").json["transactions"][0]
        assert (message["refid"], message["trxid"], message["delivery"]) == ("order-1", payment["trxid"], None)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"refid": "order-2"}, "this sandbox has no payment of its refid"),
        ({"amount": 101}, "its product, account or amount differs from the payment"),
        ({"amount": {}}, "its product, account or amount differs from the payment"),
        ({"amount": "sNaN"}, "its product, account or amount differs from the payment"),
        ({"product": "WATER", "account": None}, "its product, account or amount differs from the payment"),
    ],
)
def test_a_forged_callback_is_distinguished_by_its_payment(changed: dict[str, Any], why: str) -> None:
    with running() as client:
        client.pay("order-1")
        client.advance()
        data = client.inbox()[-1]["json"]["data"] | changed
        client.send("POST", INBOX, "", json.dumps({"data": data}).encode())
        kind, ok, reason = judged(client.inbox("events")[-1])
        assert (kind, ok) == ("callback", None)
        assert why in reason


def test_a_refid_that_two_resellers_have_belongs_to_no_single_payment() -> None:
    keys = [{"key": "one", "secret": "b25l" * 8}, {"key": "two", "secret": "dHdv" * 8}]
    resellers = [{"code": f"R{n}", "balance": 100, "api_keys": [key]} for n, key in enumerate(keys)]
    with running({"resellers": resellers}) as client:
        for key in keys:
            assert client.pay("order-1", key=key["key"], secret=key["secret"]).status == 200
        sent = client.live.core.state.resellers["R0"].refids["order-1"]
        data = {"refid": "order-1", "statusCode": 20, "product": sent.product, "account": sent.account, "amount": 10}
        client.send("POST", INBOX, "", json.dumps({"data": data}).encode())
        message = client.inbox("events")[0]
        assert (message["refid"], message["trxid"]) == ("order-1", None)


@pytest.mark.parametrize(
    "body",
    [b"", b"text", b"[]", b"1", b'{"data": 1}', b'{"type": 1, "data": {}}', b'{"data": {"refid": 1, "statusCode": 1}}'],
)
def test_other_messages_are_not_judged(body: bytes) -> None:
    with running() as client:
        client.send("POST", INBOX, "a=1&refid=x", body)
        message = client.inbox("events")[0]
        assert judged(message) == ("other", None, "this is neither a callback nor a webhook of the service")
        assert (message["refid"], message["trxid"], message["delivery"]) == (None, None, None)


@pytest.mark.parametrize("message", ["", "[]", "{", "1" * 100_000, "[" * 5000])
def test_a_callback_whose_message_makes_no_sense_is_compared_with_nothing(message: str) -> None:
    with running() as client:
        client.pay("order-1")
        client.send("GET", INBOX, f"refid=order-1&status=20&price=1&message={message}")
        kind, ok, reason = judged(client.inbox("events")[0])
        assert (kind, ok) == ("callback", None)
        assert "its product, account or amount differs from the payment" in reason


# The list


def test_inboxes_are_listed_with_what_is_left_of_their_programs() -> None:
    with running() as client:
        assert client.sim("GET", "/sandboxes/default/inbox").json == {"inboxes": [], "cursor": None, "has_more": False}
        replies = [{"status": 500, "delay": 0}, {"status": 503, "body": "x" * 1000}, {"disconnect": True}]
        client.sim("PUT", "/sandboxes/default/inbox/events", {"replies": replies})
        client.send("POST", "/_sim/inbox/default/another", "", b"x")
        client.send("POST", INBOX, "", b"x")
        another, events = client.sim("GET", "/sandboxes/default/inbox").json["inboxes"]
        assert (another["name"], another["count"], another["replies"]["replies"]) == ("another", 1, [])
        assert (events["name"], events["count"], events["left_out"]) == ("events", 1, 0)
        assert events["url"].endswith(INBOX)
        assert events["latest"] == client.inbox("events")[0]["at"]
        left = events["replies"]
        assert [one["status"] for one in left["replies"]] == [503, 0]
        assert (left["count"], left["repeat"], left["replies"][1]["disconnect"]) == (2, False, True)
        assert len(left["replies"][0]["body"]) < 600


def test_the_last_reply_always_remains_and_repeating_replies_begin_with_the_next() -> None:
    with running() as client:
        for name, more in (("once", {}), ("again", {"repeat": True})):
            program = {"replies": [{"status": 500}, {"status": 200}, {"status": 201}], **more}
            client.sim("PUT", f"/sandboxes/default/inbox/{name}", program)
            for _ in range(4):
                client.send("POST", f"/_sim/inbox/default/{name}")
        again, once = client.sim("GET", "/sandboxes/default/inbox").json["inboxes"]
        assert [one["status"] for one in again["replies"]["replies"]] == [200, 201, 500]
        assert [one["status"] for one in once["replies"]["replies"]] == [201]


def test_replies_by_time_are_shown_with_their_windows() -> None:
    timed = [
        {"status": 500, "time": {"from": "23:00", "to": "01:30"}, "weekday": ["Sun", "Mon"]},
        {"status": 429, "since": "1m", "until": "1h"},
    ]
    with running() as client:
        assert client.sim("PUT", "/sandboxes/default/inbox/events", {"during": timed}).status == 200
        during = client.sim("GET", "/sandboxes/default/inbox").json["inboxes"][0]["replies"]["during"]
        assert (during[0]["time"], during[0]["weekday"]) == ({"from": "23:00:00", "to": "01:30:00"}, ["Mon", "Sun"])
        assert (during[1]["since"], during[1]["until"]) == (60, timedelta(hours=1).total_seconds())
        assert [one["status"] for one in during] == [500, 429]


def test_inboxes_are_listed_by_pages_and_a_wrong_query_is_refused() -> None:
    with running() as client:
        for number in range(5):
            client.send("POST", f"/_sim/inbox/default/n{number}")
        first = client.sim("GET", "/sandboxes/default/inbox?limit=3").json
        rest = client.sim("GET", f"/sandboxes/default/inbox?limit=3&cursor={first['cursor']}").json
        assert [one["name"] for one in first["inboxes"] + rest["inboxes"]] == ["n0", "n1", "n2", "n3", "n4"]
        assert (first["has_more"], rest["has_more"]) == (True, False)
        wrong = client.sim("GET", "/sandboxes/default/inbox?limt=3")
        assert (wrong.status, wrong.json["path"]) == (400, "limt")
        assert client.sim("GET", "/sandboxes/none/inbox").status == 404
