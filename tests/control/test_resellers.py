"""`GET /_sim/sandboxes/{id}/resellers`: how resellers are configured."""

from typing import Any

import pytest

from tests.support.client import Client, running

RESELLERS = "/sandboxes/default/resellers"
CATALOG = {
    "webhooks": {"catalog": {"url": "inbox:catalog", "secret": "5a" * 32}, "retry_limit": 2, "retry_after": ["7s"]}
}


def first(client: Client) -> Any:
    return client.sim("GET", RESELLERS).json["resellers"][0]


def test_a_reseller_is_shown_as_its_scenario_says() -> None:
    with running() as client:
        found = first(client)
        start = client.live.scenario.resellers[0]
        assert (found["code"], found["balance"], found["email"]) == (start.code, 5000, start.email)
        assert found["callback"] == {
            "url": "inbox:callbacks",
            "method": "POST",
            "updated": None,
            "retries": 3,
            "retry_after": [60],
            "timeout": 30,
        }
        assert found["webhooks"] == []
        assert found["settings"] == {"require_api_key_for_topup": False, "in_effect": False, "ip_allowlist": []}
        assert [(key["key"], key["state"]) for key in found["api_keys"]] == [
            (key.key, key.state.value) for key in start.keys
        ]
        assert found["users"] == [user.username for user in start.users]
        assert client.sim("GET", RESELLERS).json["catalog_webhook"] is None


def test_changes_at_run_time_are_shown() -> None:
    with running() as client:
        code = first(client)["code"]
        client.call("POST", "/v2/callback-url?url=http://127.0.0.1:9000/hook&method=GET")
        client.call("POST", "/v2/low-balance-threshold?amount=50")
        client.sim("PATCH", f"{RESELLERS}/{code}/settings", {"require_api_key_for_topup": True})
        client.advance(1)
        key = client.sim("POST", f"{RESELLERS}/{code}/api-keys", {}).json["api_key"]
        client.sim("DELETE", f"{RESELLERS}/{code}/api-keys/{key}")
        found = first(client)
        assert (found["callback"]["url"], found["callback"]["method"]) == ("http://127.0.0.1:9000/hook", "GET")
        assert found["low_balance_threshold"] == 50
        assert (found["settings"]["require_api_key_for_topup"], found["settings"]["in_effect"]) == (True, False)
        made = found["api_keys"][-1]
        assert (made["key"], made["state"]) == (key, "revoked")
        assert found["api_keys"][0]["created"] < made["created"]
        client.advance(600)
        assert first(client)["settings"]["in_effect"]


def test_webhooks_are_shown_with_the_end_of_their_secret_and_their_retries() -> None:
    with running(CATALOG) as client:
        secret = client.call("PUT", "/v2/balance-webhook", {"url": "inbox:events"}).json["webhook_secret"]
        answer = client.sim("GET", RESELLERS)
        assert secret.encode() not in answer.body
        webhook = answer.json["resellers"][0]["webhooks"][0]
        assert (webhook["url"], webhook["kind"], webhook["events"]) == ("inbox:events", "balance", ["balance.added"])
        assert (webhook["enabled"], webhook["secret_last_four"]) == (True, secret[-4:])
        catalog = answer.json["catalog_webhook"]
        assert (catalog["kind"], catalog["secret_last_four"]) == ("catalog", "5a5a")
        assert (webhook["retries"], webhook["retry_after"]) == (2, [7])
        client.call("DELETE", "/v2/balance-webhook")
        assert first(client)["webhooks"] == []


def test_no_secret_of_a_reseller_is_shown() -> None:
    with running() as client:
        body = client.sim("GET", RESELLERS).body
        for start in client.live.scenario.resellers:
            assert not any(key.secret.encode() in body for key in start.keys if key.secret)
            assert not any(f'"{user.password}"'.encode() in body for user in start.users)


def test_resellers_are_listed_by_pages_and_a_wrong_query_is_refused() -> None:
    with running() as client:
        for number in range(4):
            assert client.sim("POST", RESELLERS, {"code": f"R{number}"}).status == 201
        page = client.sim("GET", f"{RESELLERS}?limit=3").json
        rest = client.sim("GET", f"{RESELLERS}?limit=3&cursor={page['cursor']}").json
        codes = [one["code"] for one in page["resellers"] + rest["resellers"]]
        assert codes[1:] == ["R0", "R1", "R2", "R3"]
        assert (page["has_more"], rest["has_more"]) == (True, False)
        wrong = client.sim("GET", f"{RESELLERS}?reseller=R1")
        assert (wrong.status, wrong.json["path"]) == (400, "reseller")
        assert client.sim("GET", "/sandboxes/none/resellers").status == 404


@pytest.mark.parametrize("member", ["callback", "balance_webhook"])
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/_sim/sandboxes/default/reset", "http://sim/%5fSIM/", "http://169.254.169.254/"]
)
def test_a_new_reseller_with_an_address_that_is_never_called_is_refused(member: str, url: str) -> None:
    with running() as client:
        answer = client.sim("POST", RESELLERS, {"code": "RS009", member: {"url": url}})
        assert (answer.status, answer.json["path"]) == (400, f"{member}.url")
        assert "control API" in answer.json["message"] or "metadata" in answer.json["message"]
        assert len(client.sim("GET", RESELLERS).json["resellers"]) == 1
