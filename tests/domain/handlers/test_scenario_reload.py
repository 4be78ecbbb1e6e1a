"""A running sandbox takes another scenario: new decisions follow it, and history stays."""

from base64 import b64encode
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from simulator.domain.commands import (
    AddReseller,
    AddRule,
    ChangeProduct,
    CountRequest,
    Credit,
    LoadScenario,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetWebhook,
    SpendNonce,
)
from simulator.domain.errors import Conflict
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Catalog, Overlay
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import ClockStart, KeyStart, Limits, ResellerStart, Scenario
from simulator.domain.model.schedule import NetworkStatus, ScheduledChange
from simulator.domain.model.transactions import Status
from simulator.domain.model.webhooks import WebhookPolicy, WebhookStart
from simulator.domain.sandbox import Sandbox
from tests.support.fixed_compiler import FixedCompiler
from tests.support.worlds import (
    ACCEPTED,
    CATALOG,
    START,
    after,
    fire_due,
    fixed_product,
    order,
    pay,
    rule,
    scenario,
    seconds,
)

SECRET, OTHER_SECRET = (
    b64encode(text).decode() for text in (b"one secret of 32 bytes, in Base64", b"and another of 32 bytes")
)
HEALTHY, DOWN = NetworkStatus.HEALTHY, NetworkStatus.INTERRUPTION


def start(code: str = "R1", **more: Any) -> ResellerStart:
    made: dict[str, Any] = {"balance": Decimal(1000), "callback": CallbackConfig("https://receiver.example/cb", "POST")}
    return ResellerStart(code, f"{code}@example.com", **(made | more))


def running(old: Scenario, new: Scenario) -> Sandbox:
    return Sandbox(old, old.seed, START, compiler=FixedCompiler(old, new))


def load(box: Sandbox, name: str = "new", at: float = 10) -> tuple[str, ...]:
    deferred: tuple[str, ...] = box.apply(LoadScenario(name, {}), seconds(at))
    return deferred


def changed_copy(made: Scenario, **more: Any) -> Scenario:
    """A copy of a scenario with other properties."""
    fields = {field: getattr(made, field) for field in made.__dataclass_fields__}
    return Scenario(**(fields | more))


def changed(old: dict[str, Any], new: dict[str, Any]) -> Sandbox:
    return running(scenario(**old), named(**new))


def named(*rules: Rule[Any], name: str = "new", **more: Any) -> Scenario:
    return changed_copy(scenario(*rules, **more), name=name)


def test_a_scenario_without_differences_defers_nothing_and_changes_nothing() -> None:
    box = changed({}, {})
    pay(box)
    before = box.state.catalog, box.state.catalog_updated, box.state.resellers["R1"].wallet.balance
    assert load(box) == ()
    assert (box.state.catalog, box.state.catalog_updated, box.state.resellers["R1"].wallet.balance) == before
    assert box.state.scenario.name == "new"


def test_new_payments_follow_the_new_rules_and_old_payments_the_old_rules() -> None:
    box = running(
        scenario(rule(ACCEPTED, after(5, Status.SUCCESSFUL), name="old")),
        named(rule(after(0, Status.FAILED), name="new", id_="r2")),
    )
    pay(box)
    load(box)
    assert pay(box, order("ref-2"), at=10).result.status is Status.FAILED
    assert pay(box, at=10).result.status is Status.ACCEPTED
    fire_due(box, seconds(10))
    assert pay(box, at=10).result.status is Status.SUCCESSFUL


@pytest.mark.parametrize(
    ("old", "new", "deferred"),
    [
        ({}, {"seed": 8}, ["seed: a running sandbox keeps its own, 7"]),
        ({}, {"clock": ClockStart("manual")}, ["clock: a running clock is changed by PUT clock of the control API"]),
        ({}, {"clock": ClockStart(skew=timedelta(1), signature="sandbox")}, []),
        ({}, {"limits": Limits(journal=1)}, ["limits.journal: the memory of a running sandbox keeps its size"]),
        ({}, {"limits": Limits(nonces=1, rules=5)}, []),
        ({}, {"resellers": (start(),)}, ["resellers: R2 stays until the sandbox is reset"]),
        (
            {},
            {"resellers": (start(), start("R2", balance=Decimal(5)))},
            ["resellers: R2 keeps its wallet; a deposit of the control API adds to it"],
        ),
        (
            {"resellers": (start(keys=(KeyStart("k", SECRET),), users=(User("u", "p"),)),)},
            {"resellers": (start(keys=(KeyStart("l", SECRET),), users=(User("v", "p"),)),)},
            [
                "resellers: R1 keeps the API key 'k'; give it the state revoked to refuse it",
                "resellers: R1 keeps the user 'u' until the sandbox is reset",
            ],
        ),
    ],
)
def test_changes_that_are_impossible_at_run_time_are_reported(old: Any, new: Any, deferred: list[str]) -> None:
    assert list(load(changed(old, new))) == deferred


def test_the_limits_of_nonces_and_requests_are_updated() -> None:
    box = changed({"limits": Limits(requests_per_interval=1)}, {"limits": Limits(requests_per_interval=2)})
    assert [box.apply(CountRequest("10.0.0.1"), START) for _ in range(2)] == [False, True]
    load(box)
    assert [box.apply(CountRequest("10.0.0.1"), seconds(10)) for _ in range(3)] == [False, False, True]


def test_equal_request_limits_keep_their_counts() -> None:
    box = changed({"limits": Limits(requests_per_interval=1)}, {"limits": Limits(requests_per_interval=1)})
    assert not box.apply(CountRequest("10.0.0.1"), START)
    load(box)
    assert box.apply(CountRequest("10.0.0.1"), seconds(10))


def test_a_limit_may_be_lifted() -> None:
    box = changed({"limits": Limits(requests_per_interval=1)}, {"limits": Limits(requests_per_interval=None)})
    load(box)
    assert not any(box.apply(CountRequest("10.0.0.1"), seconds(10)) for _ in range(5))


@pytest.mark.parametrize(("window_s", "at", "taken"), [(10, 10, True), (11, 10, False)])
def test_the_window_of_nonces_is_updated(window_s: int, at: int, taken: bool) -> None:
    box = changed({}, {"limits": Limits(nonce_window=timedelta(seconds=window_s))})
    box.apply(SpendNonce("R1", "key", b"n" * 16, 100, 100.0), START)
    load(box)
    assert box.apply(SpendNonce("R1", "key", b"n" * 16, 101, 101.0), seconds(at)) is taken


def test_the_scope_of_nonces_and_the_status_codes_are_updated() -> None:
    assume = {"nonce-scope": "reseller", "payment-status-codes": {Status.ACCEPTED: 99}}
    box = changed({}, {"assume": assume})
    load(box)
    assert pay(box, at=10).result.kind.code == 99
    spent = [box.apply(SpendNonce("R1", key, b"n" * 16, 100, 100.0), seconds(10)) for key in ("k1", "k2")]
    assert spent == [True, False]


def test_a_network_status_that_was_set_stays_where_the_timeline_does_not_change() -> None:
    old = {"network": {"BILL": ((timedelta(0), DOWN),), "CARD": ((timedelta(0), DOWN),)}}
    new = {"network": {"BILL": ((timedelta(0), DOWN),), "CARD": ((timedelta(5), DOWN),)}}
    box = changed(old, new)
    for product in ("BILL", "CARD"):
        box.apply(SetNetwork(product, HEALTHY), START)
    load(box)
    status = [box.state.network.status(product, START + timedelta(days=9)) for product in ("BILL", "CARD")]
    assert status == [HEALTHY, DOWN]


def test_a_catalog_is_replaced_only_when_its_file_changed() -> None:
    box = changed({}, {"catalog": Catalog(products={**CATALOG.products})})
    box.apply(ChangeProduct("BILL", {"name": "At run time"}), START)
    load(box)
    assert box.state.catalog.products["BILL"].name == "At run time"
    box = changed({}, {"catalog": Catalog(products={"CARD": fixed_product()})})
    load(box)
    assert list(box.state.catalog.products) == ["CARD"]
    assert box.state.catalog_updated == seconds(10)


def test_a_schedule_continues_with_what_is_still_to_come() -> None:
    deposits = {at: ScheduledChange(timedelta(seconds=at), (Credit("R1", Decimal(at)),)) for at in (5, 10, 20, 30)}
    box = changed(
        {"schedule": (deposits[5], deposits[20])},
        {"schedule": tuple(deposits.values())},
    )
    fire_due(box, seconds(5))
    assert load(box) == ("schedule: what comes 10 s after the start is past, and does not happen",)
    fire_due(box, seconds(60))
    assert [entry.amount for entry in box.state.resellers["R1"].wallet.entries] == [5, 20, 30]


def test_an_overdue_change_of_both_scenarios_happens_and_one_of_the_old_alone_does_not() -> None:
    first, second = (ScheduledChange(timedelta(seconds=5), (Credit("R1", Decimal(amount)),)) for amount in (1, 2))
    box = changed({"schedule": (first, second)}, {"schedule": (first,)})
    assert load(box) == ()
    fire_due(box, seconds(10))
    assert [entry.amount for entry in box.state.resellers["R1"].wallet.entries] == [1]


def test_the_target_of_catalog_events_changes_with_its_file() -> None:
    one, other = (WebhookStart(f"https://{name}.example") for name in ("one", "other"))
    box = changed({"webhooks": WebhookPolicy(catalog=one)}, {"webhooks": WebhookPolicy(catalog=other)})
    load(box)
    assert box.state.catalog_webhook.url == "https://other.example"
    box = changed({"webhooks": WebhookPolicy(catalog=one)}, {"webhooks": WebhookPolicy(catalog=one, retry_limit=1)})
    before = box.state.catalog_webhook
    load(box)
    assert box.state.catalog_webhook is before


@pytest.mark.parametrize(
    ("new", "code"),
    [
        ({"resellers": (start("R9", keys=(KeyStart("k", SECRET),)),)}, "api_key_exists"),
        ({"resellers": (start("R9", users=(User("u", "p"),)),)}, "username_exists"),
        ({"resellers": (start("R9"),), "limits": Limits(resellers=1)}, "too_many_resellers"),
        ({"resellers": (start(keys=(KeyStart("l", SECRET),)),), "limits": Limits(api_keys=1)}, "too_many_api_keys"),
    ],
)
def test_a_refused_scenario_changes_nothing(new: Any, code: str) -> None:
    old = scenario(resellers=(start(keys=(KeyStart("k", SECRET),), users=(User("u", "p"),)),))
    box = running(old, named(rule(ACCEPTED, name="new"), **new))
    with pytest.raises(Conflict) as refusal:
        load(box)
    assert refusal.value.code == code
    assert box.state.scenario is old
    assert list(box.state.resellers) == ["R1"]
    assert not box.state.has_rule("new")


def test_as_many_resellers_and_keys_as_are_allowed_are_accepted() -> None:
    box = running(
        scenario(resellers=(start(keys=(KeyStart("k", SECRET),)),)),
        named(resellers=(start("R2", keys=(KeyStart("l", SECRET),)),), limits=Limits(resellers=2, api_keys=2)),
    )
    assert load(box) == ("resellers: R1 stays until the sandbox is reset",)
    assert list(box.state.resellers) == ["R1", "R2"]


# How the properties of a reseller change


def reloaded(old: ResellerStart, new: ResellerStart, *before: Any) -> Sandbox:
    box = running(scenario(resellers=(old,)), named(resellers=(new,)))
    for command in before:
        box.apply(command, START)
    assert load(box) == ()
    return box


def test_keys_and_users_are_added_and_those_that_the_file_changes_are_set() -> None:
    kept, was = KeyStart("kept", SECRET), KeyStart("k", SECRET)
    box = reloaded(
        start(keys=(kept, was), users=(User("u", "old"),)),
        start(
            keys=(kept, KeyStart("k", OTHER_SECRET, KeyState.REVOKED), KeyStart("l", SECRET)),
            users=(User("u", "new"), User("v", "p")),
        ),
    )
    reseller = box.state.resellers["R1"]
    assert [(key.key, key.secret, key.state) for key in reseller.keys] == [
        ("kept", SECRET, KeyState.ACTIVE),
        ("k", OTHER_SECRET, KeyState.REVOKED),
        ("l", SECRET, KeyState.ACTIVE),
    ]
    assert reseller.keys[1].secret_bytes == b"and another of 32 bytes"
    assert reseller.users == (User("u", "new"), User("v", "p"))
    assert {name: user.password for name, (_, user) in box.state.users.items()} == {"u": "new", "v": "p"}
    assert "old" in box.state.secrets.former


def test_a_key_that_was_revoked_at_run_time_stays_revoked() -> None:
    key = KeyStart("k", SECRET)
    box = running(scenario(resellers=(start(keys=(key,)),)), named(resellers=(start(keys=(key,)),)))
    box.state.keys["k"][1].state = KeyState.REVOKED
    load(box)
    assert box.state.keys["k"][1].state is KeyState.REVOKED


CALLBACK = CallbackConfig("https://file.example", "GET")


@pytest.mark.parametrize(
    ("new", "url"), [({}, "https://run.example"), ({"callback": CALLBACK}, "https://file.example")]
)
def test_a_callback_url_set_at_run_time_stays_unless_the_file_changes_it(new: Any, url: str) -> None:
    box = reloaded(start(), start(**new), SetCallback("R1", "https://run.example", "POST"))
    assert box.state.resellers["R1"].callback.url == url
    assert box.state.resellers["R1"].callback.updated == (seconds(10) if new else START)


@pytest.mark.parametrize(("old", "new", "expected"), [(None, 50, 50), (50, None, 0), (50, 60, 60)])
def test_the_threshold_follows_the_file(old: int | None, new: int | None, expected: int) -> None:
    starts = [start(low_balance_threshold=None if one is None else Decimal(one)) for one in (old, new)]
    assert reloaded(*starts).state.resellers["R1"].wallet.threshold == expected


def test_settings_and_email_follow_the_file_with_the_delay_of_a_change() -> None:
    new = replace(start(require_api_key_for_topup=True, ip_allowlist=("10.0.0.1",)), email="new@example.com")
    reseller = reloaded(start(), new).state.resellers["R1"]
    assert reseller.email == "new@example.com"
    assert (reseller.settings.require_api_key_for_topup, reseller.settings.ip_allowlist) == (True, ("10.0.0.1",))
    assert [reseller.closed_to_tokens.is_on(seconds(at)) for at in (309, 310)] == [False, True]


def test_an_overlay_follows_the_file_and_moves_the_time_of_this_view_alone() -> None:
    overlay = {"CARD": Overlay(is_active=False)}
    box = reloaded(start(), start(overlay=overlay))
    reseller = box.state.resellers["R1"]
    card = reseller.sees(box.state.catalog, "CARD")
    assert card is not None
    assert not card.is_active
    assert (box.state.catalog_updated, reseller.overlay_updated) == (START, seconds(10))


HOOK, OTHER_HOOK = WebhookStart("https://one.example", "ab" * 32), WebhookStart("https://two.example", "cd" * 32)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, HOOK, ("https://one.example", "ab" * 32, True)),
        (HOOK, OTHER_HOOK, ("https://two.example", "cd" * 32, True)),
        (HOOK, WebhookStart("https://two.example", enabled=False), ("https://two.example", "ab" * 32, False)),
        (HOOK, None, ("", "ab" * 32, False)),
    ],
)
def test_a_webhook_follows_the_file_and_keeps_a_secret_that_the_file_does_not_name(
    old: WebhookStart | None, new: WebhookStart | None, expected: tuple[str, str, bool]
) -> None:
    webhook = reloaded(start(webhook=old), start(webhook=new)).state.resellers["R1"].webhook
    assert (webhook.url, webhook.secret, webhook.enabled) == expected
    assert webhook.updated == (seconds(10) if new else START)


@pytest.mark.parametrize(("secret", "former"), [("cd" * 32, ["ab" * 32]), ("", [])])
def test_a_replaced_webhook_secret_is_a_former_one_and_a_kept_one_is_not(secret: str, former: list[str]) -> None:
    box = reloaded(start(webhook=HOOK), start(webhook=WebhookStart("https://two.example", secret)))
    assert list(box.state.secrets.former) == former


def test_a_webhook_that_was_created_at_run_time_stays() -> None:
    box = reloaded(start(), start(), SetWebhook("R1", "https://run.example"))
    assert box.state.resellers["R1"].webhook.url == "https://run.example"


def test_a_reseller_that_was_added_at_run_time_takes_what_the_file_says() -> None:
    box = running(scenario(), named(resellers=(start(), start("R2"), start("NEW", low_balance_threshold=Decimal(9)))))
    box.apply(AddReseller(ResellerStart("NEW", "was@example.com")), START)
    box.apply(Credit("NEW", Decimal(5)), START)
    assert load(box) == ()
    reseller = box.state.resellers["NEW"]
    assert (reseller.email, reseller.wallet.balance, reseller.wallet.threshold) == (
        "NEW@example.com",
        Decimal(5),
        Decimal(9),
    )


def test_a_reseller_of_the_new_scenario_is_created() -> None:
    box = running(scenario(), named(resellers=(start(), start("R2"), start("NEW"))))
    assert load(box) == ()
    assert box.state.resellers["NEW"].wallet.balance == 1000


# How the rules change


def written(*rules: Rule[Any], name: str = "test") -> Scenario:
    """A scenario whose document has the given rules by id, name and number of steps."""
    made = named(*rules, name=name)
    lines = [{"id": one.id, "name": one.name, "steps": len(one.then.steps)} for one in rules]
    return changed_copy(made, written=lambda: {"payments": lines})


def rules_of(box: Sandbox) -> list[str]:
    return [one.label for one, _ in box.state.payments.counted_rules()]


def lines(*labels: str, steps: int = 1) -> Iterable[Rule[Any]]:
    return [rule(*[ACCEPTED] * steps, id_=f"id-{label}", name=label) for label in labels]


def test_rules_added_at_run_time_stay_in_front_in_their_order_with_their_counts() -> None:
    box = running(written(*lines("a")), written(*lines("b"), name="new"))
    for name in ("first", "second"):
        box.apply(AddRule("payments", {"name": name}), START)
    box.state.payments.counts["added-1"].chosen = 3
    assert load(box) == ()
    assert rules_of(box) == ["second", "first", "b"]
    assert box.state.times_chosen("first") == 3


def test_an_added_rule_gives_way_to_one_of_the_file_with_its_name() -> None:
    box = running(written(*lines("a")), written(*lines("same"), name="new"))
    box.apply(AddRule("payments", {"name": "same"}), START)
    box.state.payments.counts["added-1"].chosen = 2
    assert load(box) == ("rule 'same': the rule of the file replaces the rule that was added at run time",)
    assert rules_of(box) == ["same"]
    assert not box.state.added
    assert box.state.times_chosen("same") == 2


def test_counts_of_the_files_rules_begin_again_and_the_coverage_keeps_the_sum() -> None:
    box = running(written(*lines("a")), written(*lines("a"), name="new"))
    pay(box)
    load(box)
    (count,) = (count for _, count in box.state.payments.counted_rules())
    assert (count.chosen, box.state.times_chosen("a")) == (0, 1)


def test_a_removed_rule_stays_removed_while_the_file_has_it_unchanged() -> None:
    box = running(written(*lines("a", "b")), written(*lines("b", "a"), name="new"))
    box.apply(RemoveRule("id-a"), START)
    assert load(box) == ()
    assert rules_of(box) == ["b"]


def test_a_removed_rule_is_back_when_the_file_changes_it() -> None:
    box = running(written(*lines("a", "b")), written(*lines("a", steps=2), *lines("b"), name="new"))
    box.apply(RemoveRule("id-a"), START)
    assert load(box) == ()
    assert rules_of(box) == ["a", "b"]


def test_as_many_equal_rules_stay_removed_as_were_removed() -> None:
    twins = [rule(ACCEPTED, id_=f"id-{number}", name="") for number in range(3)]

    def unnamed(name: str) -> Scenario:
        made = named(*twins, name=name)
        return changed_copy(made, written=lambda: {"payments": [{"then": "x"}] * 3})

    box = running(unnamed("test"), unnamed("new"))
    box.apply(RemoveRule("id-1"), START)
    assert load(box) == ()
    assert len(rules_of(box)) == 2
