"""Resellers: how one is added, credited, and given keys and settings."""

from base64 import b64encode
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import AddApiKey, AddReseller, ChangeSettings, Credit, RevokeApiKey, SetCallback
from simulator.domain.errors import Conflict, Unacceptable, Unknown
from simulator.domain.model.domain_events import DomainEvent, LedgerPosting
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.scenario import KeyStart, Limits, ResellerStart
from simulator.domain.model.wallet import EntryType
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import START, sandbox, seconds

SECRET = b64encode(b"a secret").decode()


def start(code: str = "NEW", **more: Any) -> ResellerStart:
    return ResellerStart(code, f"{code}@example.com", **more)


def taken() -> Sandbox:
    return sandbox(resellers=(start("R1", keys=(KeyStart("k", SECRET),), users=(User("u", "p"),)),))


@pytest.mark.parametrize(
    ("new", "code", "path"),
    [
        (start("R1"), "reseller_exists", "code"),
        (start(keys=(KeyStart("k", SECRET),)), "api_key_exists", "api_keys"),
        (start(users=(User("u", "other"),)), "username_exists", "users"),
    ],
)
def test_a_code_key_or_username_in_use_is_a_conflict(new: ResellerStart, code: str, path: str) -> None:
    box = taken()
    with pytest.raises(Conflict) as refusal:
        box.apply(AddReseller(new), START)
    assert (refusal.value.code, refusal.value.path) == (code, path)
    assert (list(box.state.resellers), list(box.state.keys), list(box.state.users)) == (["R1"], ["k"], ["u"])


@pytest.mark.parametrize(
    ("limits", "new", "message"),
    [
        (Limits(resellers=1), start(), "2 resellers; limits.resellers of its scenario is 1"),
        (Limits(api_keys=1), start(), "2 api keys; limits.api_keys of its scenario is 1"),
        (
            Limits(api_keys=2),
            start(keys=(KeyStart("l", SECRET), KeyStart("m", SECRET))),
            "3 api keys; limits.api_keys of its scenario is 2",
        ),
    ],
)
def test_a_sandbox_has_at_most_as_many_as_the_scenario_allows(limits: Limits, new: ResellerStart, message: str) -> None:
    resellers = (start("R1", keys=(KeyStart("k", SECRET),)),)
    with pytest.raises(Conflict, match=message):
        sandbox(resellers=resellers, limits=limits).apply(AddReseller(new), START)
    room = Limits(resellers=2, api_keys=3)
    assert sandbox(resellers=resellers, limits=room).apply(AddReseller(new), START).code == "NEW"


def test_a_new_reseller_has_what_it_starts_with_and_no_further_key() -> None:
    box = sandbox()
    new = start(
        balance=Decimal(7),
        keys=(KeyStart("l", SECRET, KeyState.REVOKED),),
        users=(User("u", "p"),),
        require_api_key_for_topup=True,
    )
    reseller = box.apply(AddReseller(new), seconds(5))
    (key,) = reseller.keys
    assert (key.key, key.secret_bytes, key.state, key.created) == ("l", b"a secret", KeyState.REVOKED, seconds(5))
    assert (reseller.wallet.balance, reseller.created, reseller.email) == (7, seconds(5), "NEW@example.com")
    assert reseller.closed_to_tokens.is_on(seconds(5)), "from the start, without a delay"
    assert box.state.users["u"] == (reseller, User("u", "p"))
    assert {SECRET, "p"} <= set(box.state.secrets)


def test_each_drawn_key_is_unique_and_the_limit_counts_them() -> None:
    box = sandbox(limits=Limits(api_keys=2))
    keys = [box.apply(AddApiKey("R1"), START).key for _ in range(2)]
    assert len(set(keys)) == 2
    assert all(key.startswith("rk_") and len(key) == 27 for key in keys)
    with pytest.raises(Conflict, match="3 api keys"):
        box.apply(AddApiKey("R1"), START)


def test_only_the_named_key_is_revoked() -> None:
    box = sandbox()
    first, second = (box.apply(AddApiKey("R1"), START) for _ in range(2))
    box.apply(RevokeApiKey("R1", second.key), START)
    assert (first.state, second.state) == (KeyState.ACTIVE, KeyState.REVOKED)
    for reseller, key in (("R1", "x"), ("R2", first.key)):
        with pytest.raises(Unknown, match=f"has no API key '{key}'"):
            box.apply(RevokeApiKey(reseller, key), START)


def test_a_new_reseller_without_keys_gets_one_whose_secret_has_32_bytes() -> None:
    box = sandbox()
    reseller = box.apply(AddReseller(start()), START)
    (key,) = reseller.keys
    assert (box.state.keys[key.key], len(key.secret_bytes)) == ((reseller, key), 32)


@pytest.mark.parametrize("amount", ["0.01", "1E+2", "998999999999999"])
def test_a_credit_adds_to_the_balance_in_whole_cents(amount: str) -> None:
    box, told = sandbox(), list[DomainEvent]()
    box.watch(told.append)
    entry = box.apply(Credit("R1", Decimal(amount), "bank"), seconds(1))
    assert (entry.amount, entry.balance, entry.type) == (Decimal(amount), 1000 + Decimal(amount), EntryType.DEPOSIT)
    assert entry.amount.as_tuple().exponent == -2
    assert told == [LedgerPosting("R1", entry)]


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        ("0", "must be positive"),
        ("-0.01", "must be positive"),
        ("0.001", "at most two decimals"),
        ("NaN", "must be positive"),
        ("1E400", "at most two decimals"),
        ("999999999999999", "a balance has at most 15 digits"),
        ("999999999999000", "a balance has at most 15 digits"),
    ],
)
def test_a_credit_that_a_balance_cannot_take_is_refused(amount: str, message: str) -> None:
    box = sandbox()
    with pytest.raises(Unacceptable, match=message) as refusal:
        box.apply(Credit("R1", Decimal(amount)), START)
    assert refusal.value.path == "amount"
    assert box.state.resellers["R1"].wallet.balance == 1000


def test_a_callback_url_has_the_time_of_its_change() -> None:
    config = sandbox().apply(SetCallback("R1", "https://x.example", "GET"), seconds(3))
    assert (config.url, config.method, config.updated) == ("https://x.example", "GET", seconds(3))


def test_the_topup_restriction_acts_five_minutes_after_each_change() -> None:
    box = sandbox()
    reseller = box.state.resellers["R1"]
    box.apply(ChangeSettings("R1", {"require_api_key_for_topup": True}), START)
    box.apply(ChangeSettings("R1", {"require_api_key_for_topup": True}), seconds(100))
    box.apply(ChangeSettings("R1", {"ip_allowlist": ("10.0.0.1",)}), seconds(200))
    assert [reseller.closed_to_tokens.is_on(seconds(at)) for at in (299, 300)] == [False, True]
    box.apply(ChangeSettings("R1", {"require_api_key_for_topup": False}), seconds(400))
    assert [reseller.closed_to_tokens.is_on(seconds(at)) for at in (699, 700)] == [True, False]
    assert reseller.settings.ip_allowlist == ("10.0.0.1",)


def test_settings_of_an_unknown_reseller_are_refused() -> None:
    with pytest.raises(Unknown, match="no reseller 'NOBODY'"):
        sandbox().apply(ChangeSettings("NOBODY", {}), START)
