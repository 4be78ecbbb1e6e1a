"""Reloading the scenario of a running sandbox: what is replaced, what continues, and what requires a reset."""

from typing import Any

import pytest

from simulator.domain.errors import Conflict
from simulator.scenario.library import scenario_from_object
from tests.support.client import Client, running

FAILS: dict[str, Any] = {"payments": [{"name": "fails", "then": [{"status": "Failed"}]}]}


def load(client: Client, **keys: Any) -> tuple[str, ...]:
    """Load what extends the default scenario as it was, but for these keys."""
    whole = {"scenario": "test", "extends": "default", "clock": {"mode": "manual"}} | keys
    scenario = scenario_from_object({name: value for name, value in whole.items() if value is not None})
    return client.run(client.app.load(scenario))


def reseller(**keys: Any) -> list[dict[str, Any]]:
    return [{"code": "RS001"} | keys]


def test_rules_are_replaced_and_a_payment_under_way_keeps_its_own() -> None:
    with running({}) as client:
        client.pay("before")
        assert load(client, **FAILS) == ()
        assert client.pay("after").data["status"] == "Failed"
        client.advance(5)
        assert client.pay("before").data["status"] == "Succesful"
        assert client.live.core.violations() == []


def test_wallet_and_history_stay() -> None:
    with running({}) as client:
        client.pay()
        load(client, **FAILS)
        assert client.call("GET", "/v2/balance").data["balance"] == 4990.25
        assert client.sim("GET", "/sandboxes/default/transactions").json["transactions"][0]["refid"] == "ref-1"


def test_counts_of_rules_restart() -> None:
    once = {"payments": [{"times": 1, "then": [{"status": "Failed"}]}]}
    with running(once) as client:
        assert [client.pay(f"a{n}").data["status"] for n in (1, 2)] == ["Failed", "Accepted"]
        load(client, **once)
        assert [client.pay(f"b{n}").data["status"] for n in (1, 2)] == ["Failed", "Accepted"]


def test_a_rule_that_was_added_stays_in_front_with_its_count() -> None:
    added = {"name": "added", "times": 2, "then": [{"status": "Processing"}]}
    with running({}) as client:
        client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": added})
        assert client.pay("a").data["status"] == "Processing"
        assert load(client, **FAILS) == ()
        assert [client.pay(refid).data["status"] for refid in ("b", "c")] == ["Processing", "Failed"]


def test_a_rule_that_was_added_gives_way_to_one_of_that_name() -> None:
    added = {"name": "fails", "then": [{"status": "Processing"}]}
    with running({}) as client:
        client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": added})
        [line] = load(client, **FAILS)
        assert line.startswith("rule 'fails'")
        assert client.pay().data["status"] == "Failed"


def test_a_rule_that_was_removed_stays_away_until_the_file_changes_it() -> None:
    other = {"name": "other", "when": {"amount": 30}, "then": [{"status": "Processing"}]}
    fails, unnamed = FAILS["payments"][0], {"when": {"amount": 20}, "then": [{"status": "Failed"}]}
    with running({"payments": [unnamed, fails]}) as client:
        for rule in ("payments-1", "payments-2"):
            assert client.sim("DELETE", f"/sandboxes/default/rules/{rule}").status == 204
        for place in range(2):
            assert load(client, payments=[other, unnamed, fails]) == ()
            assert [client.pay(f"r{place}-{sum_}", amount=sum_).data["status"] for sum_ in (10, 20, 30)] == [
                "Accepted", "Accepted", "Processing",
            ]  # fmt: skip
        assert load(client, payments=[unnamed, fails | {"when": {"amount": 10}}]) == ()
        assert [client.pay(f"s{sum_}", amount=sum_).data["status"] for sum_ in (10, 20)] == ["Failed", "Accepted"]
        client.sim("POST", "/sandboxes/default/reset")
        assert client.pay("after a reset", amount=20).data["status"] == "Failed"


def test_a_rule_that_the_schedule_removed_stays_away_and_one_added_in_its_place_stays() -> None:
    again = {"name": "fails", "then": [{"status": "Processing"}]}
    items = [{"at": "10s", "rule": {"remove": "fails"}}, {"at": "20s", "rule": {"add": {"payments": again}}}]
    with running(FAILS | {"schedule": items}) as client:
        client.advance(10)
        assert load(client, **FAILS, schedule=items) == ()
        assert client.pay("removed").data["status"] == "Accepted"
        client.advance(10)
        assert load(client, **FAILS, schedule=items) == ()
        assert client.pay("added").data["status"] == "Processing"


def test_the_equal_rule_that_was_not_removed_stays() -> None:
    twice = [{"times": 1, "then": [{"status": "Failed"}]}] * 2
    with running({"payments": twice}) as client:
        client.sim("DELETE", "/sandboxes/default/rules/payments-2")
        assert load(client, payments=twice) == ()
        assert [client.pay(f"r{n}").data["status"] for n in (1, 2)] == ["Failed", "Accepted"]


def test_a_reset_and_new_sandboxes_start_with_the_loaded_scenario() -> None:
    with running({}) as client:
        client.sim("GET", "/health")
        load(client, **FAILS)
        made = client.sim("POST", "/sandboxes", {"id": "new", "clock": {"mode": "manual"}})
        assert made.status == 201
        assert client.pay(sandbox="new").data["status"] == "Failed"
        client.sim("POST", "/sandboxes/default/reset")
        assert client.pay().data["status"] == "Failed"


def test_faults_network_codes_and_limits_follow() -> None:
    with running({}) as client:
        load(
            client,
            faults=[{"when": {"path": "/v2/catalog"}, "then": {"status": 504}}],
            network={"WATER": "Interruption"},
            assume={"payment-status-codes": {"Accepted": 7}},
            limits={"requests_per_interval": 3},
        )
        assert client.call("GET", "/v2/catalog").status == 504
        assert client.call("GET", "/v2/networkstatus?product=WATER").data["network_status"] == "Interruption"
        assert client.pay().data["statusCode"] == 7
        assert client.call("GET", "/v2/balance").status == 403
        load(client, limits={"requests_per_interval": None})
        assert client.call("GET", "/v2/balance").status == 200


def test_a_load_replaces_expectations_and_keeps_coverage() -> None:
    called = {"name": "paid", "calls": {"path": "/v2/topup"}, "count": 2}
    with running({"expect": [called]}) as client:
        client.pay(account="0120000001")
        load(client, expect=[called, {"name": "failed", "payments": {"status": "Failed"}}])
        client.pay("second", account="0120000001")
        client.advance()
        report = client.sim("GET", "/sandboxes/default/expectations").json
        assert [(one["name"], one["actual"]) for one in report["expectations"]] == [("paid", 2), ("failed", 2)]
        assert report["ok"]
        magic = client.sim("GET", "/sandboxes/default/coverage").json["magic"]
        assert next(one for one in magic if one["digits"] == "01")["met"] == 2


def test_inboxes_follow_the_file_and_removed_inboxes_answer_200_again() -> None:
    def statuses() -> list[int]:
        client.pay(f"r{len(client.inbox())}")
        client.advance(5)
        return [item["status"] for item in client.inbox()]

    with running({"inboxes": {"callbacks": [{"status": 404}]}}) as client:
        assert statuses() == [404, 404]
        load(client, inboxes={"callbacks": [{"status": 400}, {"status": 403}]})
        assert statuses()[2:] == [400, 403]
        load(client)
        assert statuses()[4:] == [200, 200]


def test_only_the_inboxes_that_the_file_changes_restart() -> None:
    def posted(client: Client, name: str) -> int:
        return client.send("POST", f"/_sim/inbox/default/{name}").status

    names = ("goes-on", "changes", "set", "own", "gone")
    turns = [{"status": 401}, {"status": 402}, {"status": 403}]
    with running({"inboxes": {"goes-on": turns, "changes": turns, "set": turns, "gone": turns}}) as client:
        assert client.sim("PUT", "/sandboxes/default/inbox/set", {"replies": [{"status": 410}]}).status == 200
        assert client.sim("PUT", "/sandboxes/default/inbox/own", {"replies": [{"status": 411}]}).status == 200
        assert [posted(client, name) for name in names] == [401, 401, 410, 411, 401]
        load(client, inboxes={"goes-on": turns, "changes": turns[1:], "set": turns})
        assert [posted(client, name) for name in names] == [402, 402, 410, 411, 200]


def test_a_network_status_that_was_set_stays() -> None:
    with running({}) as client:
        client.sim("PUT", "/sandboxes/default/network/WATER", {"status": "Interruption"})
        load(client)
        assert client.call("GET", "/v2/networkstatus?product=WATER").data["network_status"] == "Interruption"


def test_a_network_status_that_was_set_gives_way_where_the_file_changes_it() -> None:
    def status(client: Client, product: str) -> Any:
        return client.call("GET", f"/v2/networkstatus?product={product}").data["network_status"]

    items = [{"at": "1s", "network": {"product": code, "status": "Interruption"}} for code in ("WATER", "RELOAD")]
    first = {"network": {"WATER": "Healthy", "RELOAD": "Healthy"}, "schedule": items}
    with running(first) as client:
        client.advance(1)
        load(client, **first | {"network": {"WATER": [{"at": "0s", "status": "Healthy"}], "RELOAD": "Interruption"}})
        assert [status(client, product) for product in ("WATER", "RELOAD")] == ["Interruption", "Interruption"]
        load(client, **first)
        assert [status(client, product) for product in ("WATER", "RELOAD")] == ["Interruption", "Healthy"]


def test_a_catalog_that_differs_replaces_the_old_one_and_is_announced() -> None:
    hooks = {"webhooks": {"catalog": {"url": "inbox:catalog"}}}
    with running(hooks) as client:
        before = client.call("GET", "/v2/catalog").json["last_updated"]
        client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"is_active": False})
        load(client, **hooks, **FAILS)
        assert "GAME" not in client.call("GET", "/v2/catalog").json["products"]
        load(client, **hooks, catalog={"products": [{"code": "WATER", "name": "Cold Water"}]})
        after = client.call("GET", "/v2/catalog").json
        assert after["products"]["WATER"]["name"] == "Cold Water"
        assert after["last_updated"] > before
        client.advance(0)
        events = [(item["json"]["type"], item["json"]["data"]) for item in client.inbox("catalog")]
        of_tree = [("group.updated", "leisure"), ("category.updated", "games")]
        assert [(type_, data.get("code") or data["id"]) for type_, data in events] == [
            *of_tree,
            ("product.updated", "GAME"),
            *of_tree,
            ("product.updated", "WATER"),
            ("product.updated", "GAME"),
        ]


def test_payments_of_a_removed_product_continue() -> None:
    with running({}) as client:
        client.pay()
        client.pay("bill", "50", "ELECTRIC", account="210012345678")
        client.advance(5)
        client.pay("later")
        load(client, extends=None)
        client.advance()
        assert client.pay("later").data["status"] == "Succesful"
        assert client.pay("new").data["remarks"] == "Invalid_Product"
        for target in (
            "/v2/transactions?limit=9&date=2026-11-21",
            "/v2/balance-statement?date=2026-11-21",
            "/v2/catalog",
        ):
            assert client.call("GET", target).status == 200
        body = {"refid": "bill", "refund_type": 1}
        assert client.call("POST", "/v2/transactions/void", body).status in (200, 400)
        assert client.sim("GET", "/sandboxes/default/transactions?refid=later").status == 200
        assert client.live.core.violations() == []


def test_a_changed_overlay_is_published_for_its_reseller() -> None:
    hooks = {"webhooks": {"catalog": {"url": "inbox:catalog"}}}
    with running(hooks) as client:
        load(client, **hooks, resellers=reseller(catalog={"GAME": {"is_active": False}}))
        load(client, **hooks, resellers=reseller(catalog={"GAME": {"is_active": False}}))
        client.advance(0)
        *of_tree, event = client.inbox("catalog")
        assert [one["json"]["type"] for one in of_tree] == ["group.updated", "category.updated"]
        assert (event["json"]["data"]["code"], event["json"]["data"]["is_active"]) == ("GAME", False)


def test_a_load_of_the_same_catalog_changes_nothing() -> None:
    own = {"catalog": {"products": [{"code": "WATER", "name": "Cold Water"}]}}
    with running(own) as client:
        client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"is_active": False})
        before = client.call("GET", "/v2/catalog").json
        load(client, **own, **FAILS)
        assert client.call("GET", "/v2/catalog").json == before


def scheduled(at: str, amount: str) -> dict[str, Any]:
    return {"at": at, "deposit": {"reseller": "RS001", "amount": amount}}


def test_a_load_replaces_future_entries_of_the_schedule() -> None:
    with running({"schedule": [scheduled("1m", "1.00"), scheduled("1h", "10.00")]}) as client:
        client.advance(120)
        [line] = load(client, schedule=[scheduled("1m", "1.00"), scheduled("90s", "2.00"), scheduled("2h", "100.00")])
        assert line.startswith("schedule: what comes 90 s after the start is past")
        client.advance()
        assert client.call("GET", "/v2/balance").data["balance"] == 5101.00


def test_a_load_keeps_entries_that_are_due_now() -> None:
    with running({"schedule": [scheduled("0s", "1.00")]}) as client:
        assert load(client, schedule=[scheduled("0s", "1.00"), scheduled("5s", "2.00")]) == ()
        client.advance()
        assert client.call("GET", "/v2/balance").data["balance"] == 5003.00


def test_new_resellers_keys_and_users_are_added_and_others_follow_the_file() -> None:
    secret = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDk="
    with running({}) as client:
        deferred = load(
            client,
            resellers=[
                {
                    "code": "RS001",
                    "email": "new@example.com",
                    "api_keys": [
                        {"key": "second", "secret": secret},
                        {"key": "test_key_RS001_revoked", "state": "active"},
                    ],
                    "users": [{"username": "new", "password": "p"}, {"username": "test_user_RS001", "password": "q"}],
                    "callback": {"url": "inbox:elsewhere"},
                    "balance_webhook": {"url": "inbox:webhooks"},
                    "low_balance_threshold": "4999.00",
                    "settings": {"require_api_key_for_topup": True},
                    "catalog": {"GAME": {"is_active": False}},
                },
                {"code": "RS002", "balance": "7.00", "api_keys": [{"key": "other", "secret": secret}]},
            ],
        )
        assert deferred == ()
        assert client.call("GET", "/v2/balance", key="second", secret=secret).data["balance"] == 5000
        assert client.call("GET", "/v2/balance", key="other", secret=secret).data["balance"] == 7
        revoked = client.app.scenario.resellers[0].keys[1]
        assert client.call("GET", "/v2/balance", key=revoked.key, secret=revoked.secret).status == 200
        assert "GAME" not in client.call("GET", "/v2/catalog").json["products"]
        client.pay()
        client.advance(5)
        assert len(client.inbox("elsewhere")) == 2
        [alert] = client.sim("GET", "/sandboxes/default/notifications").json["notifications"]
        assert alert["to"] == ["new@example.com"]
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1.00"})
        client.advance(0)
        assert len(client.inbox("webhooks")) == 1
        settings = client.live.core.state.resellers["RS001"]
        assert settings.settings.require_api_key_for_topup
        assert not settings.closed_to_tokens.is_on(client.live.clock.now())  # SPEC 5.3: five minutes
        assert {"new", "test_user_RS001"} <= client.live.core.state.users.keys()
        assert client.live.core.state.users["test_user_RS001"][1].password == "q"


def test_a_clients_setting_is_kept_while_the_file_is_unchanged_there() -> None:
    with running({}) as client:
        client.call("POST", "/v2/callback-url?url=http://127.0.0.1:9/hook&method=GET")
        load(client, **FAILS)
        assert client.call("GET", "/v2/callback-url").data["CallbackUrl"] == "http://127.0.0.1:9/hook"


def test_a_balance_webhook_is_moved_and_taken_away() -> None:
    def deposit_reaches(name: str) -> int:
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1.00"})
        client.advance(0)
        return len(client.inbox(name))

    with running({"resellers": reseller(balance_webhook={"url": "inbox:first"})}) as client:
        load(client, resellers=reseller(balance_webhook={"url": "inbox:second"}))
        assert deposit_reaches("second") == 1
        load(client)
        assert deposit_reaches("second") == 1
        assert client.inbox("first") == []


WAIT: list[tuple[dict[str, Any], str]] = [
    ({"seed": 99}, "seed: "),
    ({"clock": "x60"}, "clock: "),
    ({"limits": {"journal": 5}}, "limits.journal: "),
    ({"resellers": reseller(balance="1.00")}, "resellers: RS001 keeps its wallet"),
    ({"extends": None}, "resellers: RS001 stays until"),
]


@pytest.mark.parametrize(("keys", "line"), WAIT, ids=lambda value: str(value)[:40])
def test_deferred_parts_are_reported(keys: dict[str, Any], line: str) -> None:
    with running({}) as client:
        deferred = load(client, **keys)
        assert any(one.startswith(line) for one in deferred), deferred
        assert client.live.core.violations() == []


def test_keys_and_users_that_the_file_no_longer_names_stay_and_are_reported() -> None:
    extra = reseller(
        api_keys=[{"key": "second", "secret": "bm90LWEtc2VjcmV0"}], users=[{"username": "u", "password": "p"}]
    )
    with running({"resellers": extra}) as client:
        deferred = load(client)
        assert [line.split(";")[0] for line in deferred] == [
            "resellers: RS001 keeps the API key 'second'",
            "resellers: RS001 keeps the user 'u' until the sandbox is reset",
        ]
        assert "second" in client.live.core.state.keys


TAKEN: list[dict[str, Any]] = [
    {"api_keys": [{"key": "theirs", "secret": "bm90LWEtc2VjcmV0"}]},
    {"users": [{"username": "theirs", "password": "p"}]},
]


@pytest.mark.parametrize("credentials", TAKEN, ids=["key", "user"])
def test_credentials_of_another_reseller_are_refused_before_anything_changes(credentials: dict[str, Any]) -> None:
    with running({}) as client:
        client.sim("POST", "/sandboxes/default/resellers", {"code": "RS009", **credentials})
        before = client.live.scenario
        with pytest.raises(Conflict):
            load(client, resellers=[{"code": "RS002", **credentials}], **FAILS)
        assert client.live.scenario is client.live.core.state.scenario is before
        assert client.pay().data["status"] == "Accepted"


@pytest.mark.parametrize(
    ("limits", "code"), [({"resellers": 2}, "too_many_resellers"), ({"api_keys": 5}, "too_many_api_keys")]
)
def test_files_that_name_ever_more_resellers_are_refused_above_the_limit(limits: dict[str, int], code: str) -> None:
    with running({}) as client:
        for name in "BC":
            wanted = [{"code": name, "api_keys": [{"key": name, "state": "no_secret"}]}]
            if name == "B":
                load(client, limits=limits, resellers=wanted)
                continue
            with pytest.raises(Conflict) as refused:
                load(client, limits=limits, resellers=wanted, **FAILS)
            assert refused.value.code == code
        assert list(client.live.core.state.resellers) == ["RS001", "B"]
        assert client.pay().data["status"] == "Accepted"
