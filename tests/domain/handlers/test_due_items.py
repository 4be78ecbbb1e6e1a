"""The schedule of a scenario: each kind of change happens at its time, or is skipped with a reason."""

from base64 import b64encode
from datetime import time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import (
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Command,
    Credit,
    PutApiKey,
    PutWebhook,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetThreshold,
)
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Catalog, Category, Group, TreeKind
from simulator.domain.model.resellers import KeyState
from simulator.domain.model.scenario import Limits
from simulator.domain.model.schedule import NetworkStatus, ScheduledChange, due_at, written
from simulator.domain.model.wallet import EntryType
from simulator.domain.sandbox import Sandbox
from tests.support.fixed_compiler import FixedCompiler
from tests.support.worlds import ACCEPTED, CATALOG, START, fire_due, pay, rule, scenario, seconds

IN_10 = timedelta(seconds=10)
SECRET = b64encode(b"32 bytes that only a test can see").decode()
TREE = (Group("g", "Group", "https://img.example/g.png", (Category("c", "Category", ("BILL", "CARD")),)),)


def planned(*changes: Command | ScheduledChange, **more: Any) -> Sandbox:
    """Return a sandbox with these changes in its schedule; commands alone are due after ten seconds."""
    schedule = tuple(one if isinstance(one, ScheduledChange) else ScheduledChange(IN_10, (one,)) for one in changes)
    made: dict[str, Any] = {"catalog": Catalog(TREE, CATALOG.products)}
    return Sandbox(scenario(schedule=schedule, **(made | more)), 7, START, compiler=FixedCompiler())


def happened(*changes: Command | ScheduledChange, **more: Any) -> Sandbox:
    """A sandbox after these changes, due after ten seconds, have happened."""
    box = planned(*changes, **more)
    assert fire_due(box, seconds(9.999)) == []
    fired = fire_due(box, seconds(10))
    assert [(one.at, one.item, one.skipped) for one in fired] == [
        (seconds(10), one, "") for one in box.state.scenario.schedule
    ]
    return box


def test_a_deposit_posts_an_entry_of_its_type() -> None:
    box = planned(Credit("R1", Decimal("5.50"), "bonus", EntryType.COMMISSION))
    (fired,) = fire_due(box, seconds(10))
    assert fired.entry is not None
    assert (fired.entry.type, fired.entry.amount, fired.entry.balance, fired.entry.remarks) == (
        EntryType.COMMISSION,
        Decimal("5.50"),
        Decimal("1005.50"),
        "bonus",
    )


def test_a_product_changes_for_all_or_for_a_single_reseller() -> None:
    box = happened(
        ChangeProduct("CARD", {"name": "New"}, {"CARD-5": False}),
        ChangeProduct("PIN", {"is_active": False}, {}, "R2"),
    )
    card = box.state.catalog.products["CARD"]
    assert (card.name, [option.is_active for option in card.options["amount"]]) == ("New", [False, True])
    sold = [box.state.resellers[code].sees(box.state.catalog, "PIN").is_active for code in ("R1", "R2")]  # type: ignore[union-attr]
    assert sold == [True, False]


def test_a_category_changes() -> None:
    box = happened(ChangeTree(TreeKind.CATEGORY, "c", {"name": "Renamed"}))
    assert box.state.catalog.part(TreeKind.CATEGORY, "c").name == "Renamed"


def test_a_key_is_added_and_later_changed() -> None:
    box = happened(PutApiKey("R1", "key-1", SECRET), PutApiKey("R1", "key-2", SECRET, KeyState.REVOKED))
    owner, key = box.state.keys["key-1"]
    assert (owner.code, key.secret, key.state, key.created) == ("R1", SECRET, KeyState.ACTIVE, seconds(10))
    assert box.state.keys["key-2"][1].state is KeyState.REVOKED


def test_settings_callback_and_threshold_change() -> None:
    changes: dict[str, bool | tuple[str, ...]] = {"require_api_key_for_topup": True, "ip_allowlist": ("10.0.0.1",)}
    box = happened(
        ScheduledChange(
            IN_10,
            (
                ChangeSettings("R1", changes),
                SetCallback("R1", "https://new.example", "GET"),
                SetThreshold("R1", Decimal(50)),
            ),
        ),
        ChangeSettings("R2", {}),
    )
    one, other = box.state.resellers["R1"], box.state.resellers["R2"]
    assert (one.settings.require_api_key_for_topup, one.settings.ip_allowlist) == (True, ("10.0.0.1",))
    assert [one.closed_to_tokens.is_on(seconds(at)) for at in (309, 310)] == [False, True], "five minutes later"
    assert one.callback == CallbackConfig("https://new.example", "GET", seconds(10))
    assert one.wallet.threshold == 50
    assert other.callback == CallbackConfig("https://receiver.example/cb", "POST")
    assert other.wallet.threshold == 0


def test_a_network_status_changes() -> None:
    box = happened(SetNetwork("BILL", NetworkStatus.INTERRUPTION))
    assert box.state.network.status("BILL", seconds(10)) is NetworkStatus.INTERRUPTION


@pytest.mark.parametrize("label", ["added-1", "new"])
def test_a_rule_is_added_and_removed_by_its_name_or_id(label: str) -> None:
    later = timedelta(seconds=20)
    box = planned(
        AddRule("payments", {"name": "new", "then": "t"}),
        ScheduledChange(later, (RemoveRule(label),)),
        timelines={"t": (ACCEPTED,)},
        payments=(rule(ACCEPTED, name="old"),),
    )
    fire_due(box, seconds(10))
    assert pay(box, at=10).rule == "new"
    fire_due(box, seconds(20))
    assert list(box.state.rule_names()) == ["old"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (PutWebhook("R1", "https://hook.example"), ("https://hook.example", True, None)),
        (PutWebhook("R1", "https://hook.example", "ab" * 32), ("https://hook.example", True, "ab" * 32)),
        (PutWebhook("R1", "https://hook.example", enabled=False), ("https://hook.example", False, None)),
    ],
)
def test_a_webhook_is_created_with_what_the_scenario_says(change: Any, expected: tuple[str, bool, str | None]) -> None:
    webhook = happened(change).state.resellers["R1"].webhook
    url, enabled, secret = expected
    assert (webhook.url, webhook.enabled, webhook.created) == (url, enabled, seconds(10))
    assert webhook.secret == secret if secret else len(bytes.fromhex(webhook.secret)) == 32


def test_a_webhook_keeps_what_a_change_leaves_out() -> None:
    later = timedelta(seconds=20)
    box = planned(PutWebhook("R1", "https://hook.example"), ScheduledChange(later, (PutWebhook("R1", enabled=False),)))
    fire_due(box, seconds(10))
    secret = box.state.resellers["R1"].webhook.secret
    fire_due(box, seconds(20))
    webhook = box.state.resellers["R1"].webhook
    assert (webhook.url, webhook.secret, webhook.enabled) == ("https://hook.example", secret, False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (Credit("NOBODY", Decimal(5), ""), "this sandbox has no reseller 'NOBODY'"),
        (Credit("R1", Decimal(-5), ""), "amount must be positive, with at most two decimals"),
        (ChangeProduct("CARDS", {}, {}), "this sandbox has no product 'CARDS'; did you mean 'CARD'?"),
        (ChangeTree(TreeKind.GROUP, "x", {}), "this sandbox has no group 'x'"),
        (PutApiKey("R1", "key-1"), "reseller 'R1' has no API key 'key-1'"),
        (RemoveRule("gone"), "there is no rule 'gone'"),
        (PutWebhook("R1", enabled=True), "reseller 'R1' has no balance webhook"),
        (PutWebhook("NOBODY", "https://x"), "this sandbox has no reseller 'NOBODY'"),
    ],
)
def test_a_change_that_the_sandbox_refuses_is_skipped_with_the_reason(change: Any, reason: str) -> None:
    box = planned(change, Credit("R1", Decimal(1), "next"))
    first, second = fire_due(box, seconds(10))
    assert (first.skipped, first.entry) == (reason, None)
    assert second.entry is not None, "the next one happens all the same"


def test_a_key_beyond_the_limit_and_one_of_another_reseller_are_skipped() -> None:
    changes = [PutApiKey(code, key, SECRET) for code, key in (("R1", "a"), ("R2", "a"), ("R2", "b"))]
    skipped = [one.skipped for one in fire_due(planned(*changes, limits=Limits(api_keys=1)), seconds(10))]
    assert skipped == [
        "",
        "the API key 'a' belongs to another reseller",
        "the sandbox would have 2 api keys; limits.api_keys of its scenario is 1",
    ]


def test_a_key_that_exists_keeps_what_a_change_leaves_out() -> None:
    other = b64encode(b"another secret of thirty-two byte").decode()
    box = planned(PutApiKey("R1", "a", SECRET), PutApiKey("R1", "a", "", KeyState.REVOKED))
    fire_due(box, seconds(10))
    key = box.state.keys["a"][1]
    assert (key.secret, key.state) == (SECRET, KeyState.REVOKED)
    box = planned(PutApiKey("R1", "a", SECRET, KeyState.REVOKED), PutApiKey("R1", "a", other))
    fire_due(box, seconds(10))
    key = box.state.keys["a"][1]
    assert (key.secret, key.secret_bytes, key.state) == (other, b"another secret of thirty-two byte", KeyState.REVOKED)
    assert len(box.state.keys) == 1
    assert list(box.state.secrets.former) == [SECRET]


@pytest.mark.parametrize(
    ("at", "due", "text"),
    [
        (timedelta(minutes=1), START + timedelta(minutes=1), "60 s after the start"),
        (timedelta(milliseconds=1500), START + timedelta(milliseconds=1500), "1.5 s after the start"),
        (time(12, 0, 1), START + timedelta(seconds=1), "at 12:00:01"),  # the sandbox starts at noon, GMT+8
        (time(12, 0), START + timedelta(days=1), "at 12:00:00"),
    ],
)
def test_a_change_is_due_after_a_span_or_at_a_time_of_day(at: Any, due: Any, text: str) -> None:
    assert (due_at(at, START), written(at)) == (due, text)
