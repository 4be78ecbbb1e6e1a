"""`/v2/balance-webhook`: create, update, enable, rotate, remove (SPEC 3.3, 4.19)."""

from typing import Any

import pytest

from tests.support.client import HOST, running
from tests.support.webhooks import (
    WEBHOOK,
    answering,
    deposit,
    listed,
    put,
    secret_of,
)

NOTHING = {"webhook_url": "", "enabled": False, "secret_last_four": "", "created_at": None, "updated_at": None}


def test_without_a_webhook_everything_is_empty() -> None:
    with running() as client:
        assert client.call("GET", WEBHOOK).json == NOTHING


def test_creation_enables_and_shows_the_secret_once() -> None:
    with running() as client:
        made = put(client, "https://receiver.example.com/events").json
        assert made.keys() == {"webhook_url", "webhook_secret"}
        assert client.call("GET", WEBHOOK).json == {
            "webhook_url": "https://receiver.example.com/events",
            "enabled": True,
            "secret_last_four": made["webhook_secret"][-4:],
            "created_at": "2026-11-21T04:00:00.000Z",
            "updated_at": "2026-11-21T04:00:00.000Z",
        }


def test_an_update_keeps_secret_and_state_and_shows_no_secret() -> None:
    with running() as client:
        secret = secret_of(client)
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        client.advance(60)
        assert put(client, "http://127.0.0.1:9/other").json == {"webhook_url": "http://127.0.0.1:9/other"}
        now = client.call("GET", WEBHOOK).json
        assert (now["enabled"], now["secret_last_four"]) == (False, secret[-4:])
        assert (now["created_at"][11:19], now["updated_at"][11:19]) == ("04:00:00", "04:01:00")


def test_enabled_goes_off_and_on() -> None:
    with running() as client:
        put(client)
        for wanted in (False, False, True):
            assert client.call("PATCH", WEBHOOK + "/enabled", {"enabled": wanted}).json == {"enabled": wanted}
            assert client.call("GET", WEBHOOK).json["enabled"] is wanted


def test_a_request_that_changes_nothing_keeps_the_time_of_the_last_update() -> None:
    with running() as client:
        put(client)

        def updated() -> str:
            client.advance(60)
            text: str = client.call("GET", WEBHOOK).json["updated_at"][14:19]
            return text

        assert updated() == "00:00"
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": True})
        put(client)
        assert updated() == "00:00"
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        assert updated() == "02:00"
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        assert updated() == "02:00"
        put(client, "inbox:elsewhere")
        assert updated() == "04:00"
        client.call("POST", WEBHOOK + "/rotate-secret")
        assert updated() == "05:00"


def test_rotation_gives_a_new_secret_and_keeps_the_rest() -> None:
    with running() as client:
        before = secret_of(client)
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        rotated = client.call("POST", WEBHOOK + "/rotate-secret").json
        assert rotated["webhook_url"] == "inbox:webhooks"
        assert rotated["webhook_secret"] != before
        now = client.call("GET", WEBHOOK).json
        assert (now["enabled"], now["secret_last_four"]) == (False, rotated["webhook_secret"][-4:])


def test_delete_answers_204_whether_there_was_one_or_not() -> None:
    with running() as client:
        put(client)
        for _ in range(2):
            gone = client.call("DELETE", WEBHOOK)
            assert (gone.status, gone.body) == (204, b"")
            assert "content-length" not in gone.headers
            assert client.call("GET", WEBHOOK).json == NOTHING


def test_a_webhook_that_is_made_again_has_another_secret() -> None:
    with running() as client:
        first = secret_of(client)
        client.call("DELETE", WEBHOOK)
        assert secret_of(client) != first


@pytest.mark.parametrize(
    ("method", "path", "body"), [("PATCH", "/enabled", {"enabled": True}), ("POST", "/rotate-secret", None)]
)
def test_without_a_webhook_the_others_answer_404(method: str, path: str, body: Any) -> None:
    with running() as client:
        refused = client.call(method, WEBHOOK + path, body)
        assert (refused.status, refused.json["errors"]) == (404, {})


def url_of(length: int) -> str:
    start = "https://receiver.example.com/"
    return start + "x" * (length - len(start))


GOOD = ["http://127.0.0.1:9000/hook", "HTTPS://Receiver.example/", "inbox:webhooks", url_of(500), "http://[::1]:1/"]
BAD: list[Any] = [
    "", "/hook", "receiver.example.com", "ftp://receiver.example.com/", "http://", "http://a b/", "inbox:", "inbox:a b",
    "http://user:pass@receiver.example.com/", "http://169.254.169.254/latest", "http://2852039166/", "http://a:0/",
    "http://[::ffff:169.254.169.254]/", "javascript:alert(1)", "http://x\u0000/", url_of(501), None, 5, [], {},
]  # fmt: skip


@pytest.mark.parametrize("url", GOOD)
def test_addresses_that_can_be_called(url: str) -> None:
    with running() as client:
        assert put(client, url).json["webhook_url"] == url


def test_invalid_webhook_addresses_change_no_setting() -> None:
    with running() as client:
        for url in BAD:
            refused = put(client, url)
            assert refused.status == 400, url
            assert refused.json["errors"].keys() == {"url"}, url
        assert client.call("GET", WEBHOOK).json == NOTHING


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://receiver.example.com/", 200),
        ("HTTPS://receiver.example.com/", 200),
        ("inbox:webhooks", 200),
        (f"http://{HOST}/_sim/inbox/default/webhooks", 200),
        (f"http://{HOST}/elsewhere", 400),
        ("http://127.0.0.1:9000/_sim/inbox/default/webhooks", 400),
        ("http://receiver.example.com/", 400),
    ],
)
def test_production_wants_https_but_for_the_inbox(url: str, status: int) -> None:
    with running({"environment": "production"}) as client:
        assert put(client, url).status == status


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PUT", "", b"{", "body"),
        ("PUT", "", b"[]", "body"),
        ("PUT", "", {}, "url"),
        ("PATCH", "/enabled", {}, "enabled"),
        ("PATCH", "/enabled", {"enabled": "true"}, "enabled"),
        ("PATCH", "/enabled", {"enabled": None}, "enabled"),
        ("PATCH", "/enabled", b"", "body"),
    ],
)
def test_a_malformed_body_is_reported_by_field(method: str, path: str, body: Any, field: str) -> None:
    with running() as client:
        put(client)
        before = client.call("GET", WEBHOOK).json
        refused = client.call(method, WEBHOOK + path, body)
        assert (refused.status, list(refused.json["errors"])) == (400, [field])
        assert client.call("GET", WEBHOOK).json == before


def test_secrets_come_from_the_seed() -> None:
    def secrets(seed: int) -> list[str]:
        with running({"seed": seed}) as client:
            return [secret_of(client), client.call("POST", WEBHOOK + "/rotate-secret").json["webhook_secret"]]

    assert secrets(1) == secrets(1)
    assert len({*secrets(1), *secrets(2)}) == 4


def test_the_journal_shows_no_secret() -> None:
    with running() as client:
        secrets = [secret_of(client), client.call("POST", WEBHOOK + "/rotate-secret").json["webhook_secret"]]
        rows = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        whole = b"".join(client.sim("GET", f"/sandboxes/default/requests/{row['n']}").body for row in rows)
        assert not [secret for secret in secrets if secret.encode() in whole]
        assert whole.count(b"*" * 60 + secrets[0][-4:].encode()) == 1


@pytest.mark.parametrize("then", [{"disconnect": "body"}, {"after_commit": True, "status": 500}])
def test_a_damaged_answer_leaves_no_secret_in_the_journal_either(then: dict[str, Any]) -> None:
    with running({"faults": [{"when": {"method": "PUT"}, "then": then}]}) as client:
        put(client)
        secret = client.live.core.state.resellers["RS001"].webhook.secret
        assert len(secret) == 64
        (row,) = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert secret.encode() not in client.sim("GET", f"/sandboxes/default/requests/{row['n']}").body


def test_a_webhook_of_the_scenario_exists_from_the_start() -> None:
    secret = "0123456789abcdef" * 4
    resellers = [{"code": "RS001", "balance_webhook": {"url": "inbox:webhooks", "secret": secret}}]
    with running({"resellers": resellers}) as client:
        now = client.call("GET", WEBHOOK).json
        assert (now["webhook_url"], now["enabled"], now["secret_last_four"]) == ("inbox:webhooks", True, "cdef")
        deposit(client)
        client.advance()
        assert len(client.inbox("webhooks")) == 1


def test_one_that_begins_disabled_waits() -> None:
    resellers = [{"code": "RS001", "balance_webhook": {"url": "inbox:webhooks", "enabled": False}}]
    with running({"resellers": resellers}) as client:
        deposit(client)
        client.advance()
        assert client.inbox("webhooks") == []


def test_a_reseller_that_is_added_in_production_wants_https_too() -> None:
    with running({"environment": "production"}) as client:
        wanted = {"code": "RS002", "balance_webhook": {"url": "http://receiver.example.com/"}}
        refused = client.sim("POST", "/sandboxes/default/resellers", wanted)
        assert (refused.status, refused.json["path"]) == (400, "balance_webhook.url")
        wanted["balance_webhook"] = {"url": "https://receiver.example.com/"}
        assert client.sim("POST", "/sandboxes/default/resellers", wanted).status == 201


def test_reset_goes_back_to_the_scenarios_webhook() -> None:
    with running() as client:
        first = secret_of(client)
        answering(client, 200)
        deposit(client)
        client.advance()
        client.sim("POST", "/sandboxes/default/reset")
        assert client.call("GET", WEBHOOK).json == NOTHING
        assert listed(client) == []
        assert secret_of(client) == first
