"""The schedule of a scenario: its changes, their report by an advance, and changes that are impossible."""

from collections.abc import Callable
from typing import Any

import pytest

from simulator.runtime.scenario_watch import switch_scenario
from tests.support.client import Client, compiled, running

DEPOSITS = [
    {"at": "10s", "deposit": {"reseller": "RS001", "amount": "500.50", "description": "bank transfer"}},
    {"at": "10s", "deposit": {"reseller": "RS001", "amount": "7", "type": "COMMISSION"}},
]
KEY, NEW_KEY = "test_key_RS001", "rk_added"
NEW_SECRET = "YW5vdGhlci1zZWNyZXQtb2YtMzItYnl0ZXM="  # a test's own
REFUSES = {"name": "refuses", "then": {"refuse": "Insufficient_Balance"}}


def scheduled(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"clock": "manual", "schedule": [{"at": "10m", **item} for item in items]} | more


def told(client: Client, seconds: float = 600) -> list[dict[str, Any]]:
    """Return the events of an advance, without the times."""
    return [{name: value for name, value in one.items() if name != "at"} for one in client.advance(seconds)["fired"]]


def test_an_advance_reports_the_balance_after_each_deposit() -> None:
    with running({"schedule": DEPOSITS}) as client:
        fired = client.advance(10)["fired"]
        assert [one["kind"] for one in fired] == ["deposit", "deposit"]
        assert [one["amount"] for one in fired] == [500.5, 7]
        assert [one["balance"] for one in fired] == [5500.5, 5507.5]
        day = fired[0]["at"][:10]
        listed = client.call("GET", f"/v2/balance-statement?date={day}%20-%202200-01-01").data
        assert [(entry["type"], entry["balance"]) for entry in listed] == [("COMMISSION", 5507.5), ("DEPOSIT", 5500.5)]


def test_a_key_is_revoked_and_accepted_again_in_mid_run() -> None:
    items = [{"api_key": {"reseller": "RS001", "key": KEY, "state": state}} for state in ("revoked", "active")]
    with running(scheduled(items[0], items[1] | {"at": "20m"})) as client:
        assert client.call("GET", "/v2/balance").status == 200
        assert told(client) == [{"kind": "api_key", "reseller": "RS001", "api_key": KEY, "state": "revoked"}]
        refused = client.call("GET", "/v2/balance")
        assert (refused.status, refused.json["error"]) == (401, "invalid_api_key")
        told(client)
        assert client.call("GET", "/v2/balance").status == 200


def test_a_key_is_added_and_its_secret_replaced_in_mid_run() -> None:
    added = {"api_key": {"reseller": "RS001", "key": NEW_KEY, "secret": NEW_SECRET}}
    rotated = {"at": "20m", "api_key": {"reseller": "RS001", "key": KEY, "secret": NEW_SECRET}}
    with running(scheduled(added, rotated)) as client:
        assert client.call("GET", "/v2/balance", key=NEW_KEY, secret=NEW_SECRET).status == 401
        assert told(client) == [{"kind": "api_key", "reseller": "RS001", "api_key": NEW_KEY}]
        assert client.call("GET", "/v2/balance", key=NEW_KEY, secret=NEW_SECRET).status == 200
        assert client.call("GET", "/v2/balance").status == 200
        told(client)
        assert client.call("GET", "/v2/balance").status == 401
        assert client.call("GET", "/v2/balance", secret=NEW_SECRET).status == 200
        assert NEW_SECRET in client.live.core.state.secrets


def test_settings_callback_and_threshold_change_in_mid_run() -> None:
    settings = {
        "reseller": "RS001",
        "require_api_key_for_topup": True,
        "ip_allowlist": ["127.0.0.0/8"],
        "callback": {"url": "inbox:other", "method": "GET"},
        "low_balance_threshold": "4999",
    }
    with running(scheduled({"settings": settings})) as client:
        (row,) = told(client)
        assert row["kind"] == "settings"
        assert row["changed"] == [name for name in settings if name != "reseller"]
        reseller = client.live.core.state.resellers["RS001"]
        assert reseller.settings.require_api_key_for_topup is True
        assert reseller.settings.ip_allowlist == ("127.0.0.0/8",)
        assert client.call("GET", "/v2/callback-url").data["CallbackUrl"] == "inbox:other"
        client.pay()
        client.advance(5)
        assert len(client.inbox("other")) == 2
        sent = client.sim("GET", "/sandboxes/default/notifications").json["notifications"]
        assert [one["kind"] for one in sent] == ["low_balance"]


def test_the_network_of_a_product_changes_in_mid_run() -> None:
    def status(client: Client) -> str:
        found: str = client.call("GET", "/v2/networkstatus?product=ELECTRIC").data["network_status"]
        return found

    with running(scheduled({"network": {"product": "ELECTRIC", "status": "Interruption"}})) as client:
        assert status(client) == "Healthy"
        assert told(client) == [{"kind": "network", "product": "ELECTRIC", "status": "Interruption"}]
        assert status(client) == "Interruption"


def test_rules_are_added_before_all_others_and_removed_by_name_or_id_in_mid_run() -> None:
    fault = {"id": "broken", "when": {"path": "/v2/topup"}, "then": {"status": 500}}
    items: list[dict[str, Any]] = [
        {"rule": {"add": {"payments": REFUSES}}},
        {"at": "20m", "rule": {"add": {"faults": fault}}},
        {"at": "30m", "rule": {"remove": "broken"}},
        {"at": "40m", "rule": {"remove": "refuses"}},
        {"at": "50m", "rule": {"add": {"payments": REFUSES}}},
    ]
    with running(scheduled(*items)) as client:
        outcomes, rows = [client.pay("r0").status], []
        for number in range(1, 6):
            rows += [one for one in told(client) if one["kind"].startswith("rule")]
            outcomes.append(client.pay(f"r{number}").status)
        assert outcomes == [200, 400, 500, 400, 200, 400]
        assert rows == [
            {"kind": "rule_added", "section": "payments", "rule": "refuses"},
            {"kind": "rule_added", "section": "faults", "rule": "broken"},
            {"kind": "rule_removed", "rule": "broken"},
            {"kind": "rule_removed", "rule": "refuses"},
            {"kind": "rule_added", "section": "payments", "rule": "refuses"},
        ]
        listed = client.sim("GET", "/sandboxes/default/rules").json["rules"]
        assert [(one["name"], one["chosen"]) for one in listed if one["name"] == "refuses"] == [("refuses", 1)]


def test_a_webhook_is_created_with_a_secret_disabled_and_pointed_elsewhere_in_mid_run() -> None:
    secret = "ab" * 32
    items: list[dict[str, Any]] = [
        {"webhook": {"reseller": "RS001", "url": "inbox:events", "secret": secret.upper()}},
        {"at": "20m", "webhook": {"reseller": "RS001", "enabled": False}},
        {"at": "30m", "webhook": {"reseller": "RS001", "url": "inbox:elsewhere", "enabled": True}},
    ]
    with running(scheduled(*items)) as client:
        rows, got = [], []
        for _ in items:
            rows += told(client)
            client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"})
            client.advance(0)
            got.append((len(client.inbox("events")), len(client.inbox("elsewhere"))))
        assert got == [(1, 0), (1, 0), (1, 1)]
        webhook = client.live.core.state.resellers["RS001"].webhook
        assert (webhook.secret, webhook.url, webhook.enabled) == (secret, "inbox:elsewhere", True)
        assert secret in client.live.core.state.secrets
        assert [one for one in rows if one["kind"] == "balance_webhook"] == [
            {"kind": "balance_webhook", "reseller": "RS001", "url": "inbox:events"},
            {"kind": "balance_webhook", "reseller": "RS001", "enabled": False},
            {"kind": "balance_webhook", "reseller": "RS001", "url": "inbox:elsewhere", "enabled": True},
        ]


def add_rule(client: Client, name: str) -> None:
    rule = {"section": "payments", "rule": {"name": name, "then": [{"status": "Succesful"}]}}
    assert client.sim("POST", "/sandboxes/default/rules", rule).status == 201


def remove_ordinary(client: Client) -> None:
    listed = client.sim("GET", "/sandboxes/default/rules").json["rules"]
    (ordinary,) = [one["id"] for one in listed if one["name"] == "ordinary"]
    assert client.sim("DELETE", f"/sandboxes/default/rules/{ordinary}").status == 204


def fill_wallet(client: Client) -> None:
    wanted = {"amount": "9" * 15}
    assert client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", wanted).status == 400
    assert client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "9" * 14}).status == 201


def fill_keys(client: Client) -> None:
    assert client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").status == 201


def add_mine(client: Client) -> None:
    add_rule(client, "mine")


def fill_rules(client: Client) -> None:
    add_rule(client, "one")
    add_rule(client, "two")


MINE = {"name": "mine", "then": {"error": "e"}}
SKIPPED: list[tuple[dict[str, Any], Callable[[Client], Any], str]] = [
    ({"rule": {"remove": "ordinary"}}, remove_ordinary, "there is no rule 'ordinary'"),
    ({"rule": {"add": {"bills": MINE}}}, add_mine, "there is a rule 'mine' already"),
    ({"rule": {"add": {"voids": {"then": {"status": "Failed"}}}}}, fill_rules, "limits.rules"),
    ({"webhook": {"reseller": "RS001", "enabled": False}}, lambda _: None, "has no balance webhook"),
    ({"deposit": {"reseller": "RS001", "amount": "9" * 15}}, fill_wallet, "a balance has at most"),
    ({"api_key": {"reseller": "RS001", "key": NEW_KEY, "secret": NEW_SECRET}}, fill_keys, "limits.api_keys"),
]


@pytest.mark.parametrize(("item", "meanwhile", "reason"), SKIPPED, ids=[reason for _, _, reason in SKIPPED])
def test_a_change_that_the_sandbox_refuses_by_then_is_skipped_with_the_reason_and_later_changes_are_made(
    item: dict[str, Any], meanwhile: Callable[[Client], Any], reason: str
) -> None:
    limits = {"api_keys": 5, "rules": 5}
    last = {"network": {"product": "ELECTRIC", "status": "Interruption"}}
    with running(scheduled(item, last, limits=limits)) as client:
        meanwhile(client)
        first, second = told(client)
        assert reason in first["skipped"]
        assert second == {"kind": "network", "product": "ELECTRIC", "status": "Interruption"}
        assert client.live.core.violations() == []


def test_a_time_of_day_is_the_first_one_after_the_start_in_the_services_zone() -> None:
    items = [
        {"at": "12:10", "network": {"product": "ELECTRIC", "status": "Interruption"}},
        {"at": "11:59:30", "network": {"product": "ELECTRIC", "status": "Healthy"}},
        {"at": "12:00", "deposit": {"reseller": "RS001", "amount": "1"}},
    ]
    noon = {"mode": "manual", "start": "2027-01-10T12:00:00+08:00"}
    with running({"clock": noon, "schedule": items}) as client:
        fired = client.advance(86_400)["fired"]
        assert [(one["at"], one["kind"]) for one in fired] == [
            ("2027-01-10T04:10:00.000000Z", "network"),
            ("2027-01-11T03:59:30.000000Z", "network"),
            ("2027-01-11T04:00:00.000000Z", "deposit"),
        ]


def test_a_reload_keeps_what_has_happened_and_follows_the_rest_of_the_new_schedule() -> None:
    def scenario(*items: dict[str, Any]) -> Any:
        return compiled({"extends": "default", **scheduled(*items)})

    revoked = {"api_key": {"reseller": "RS001", "key": KEY, "state": "revoked"}}
    added = {"at": "20m", "rule": {"add": {"payments": REFUSES}}}
    later = {"at": "30m", "rule": {"add": {"faults": {"name": "late", "then": {"status": 418}}}}}
    past = {"at": "1m", "network": {"product": "ELECTRIC", "status": "Interruption"}}
    with running(scheduled(revoked, added)) as client:
        told(client)
        deferred = client.run(switch_scenario(client.live, scenario(revoked, added, later, past)))
        assert deferred == ("schedule: what comes 60 s after the start is past, and does not happen",)
        assert client.call("GET", "/v2/balance").status == 401, "the key stays revoked"
        assert [one["rule"] for one in told(client)] == ["refuses"]
        assert client.run(switch_scenario(client.live, scenario(revoked, added))) == ()
        assert told(client) == []
