"""A scenario after its build: every key arrives in the domain's values."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from simulator.domain.commands import (
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Credit,
    PutApiKey,
    PutWebhook,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetThreshold,
)
from simulator.domain.model.callbacks import CallbackConfig, RetryPolicy
from simulator.domain.model.catalog import Adjustment, Discount, Money, Overlay, Source, TreeKind
from simulator.domain.model.draw import Spread
from simulator.domain.model.fault_kinds import (
    AnswerDamage,
    Denial,
    DrippingAnswer,
    ExtraHeaders,
    FaultThen,
    ScriptedAnswer,
)
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.scenario import (
    ClockStart,
    KeyStart,
    Limits,
    Scenario,
)
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.transactions import Distortion, PaymentThen, Reason, Refusal, Status
from simulator.domain.model.wallet import EntryType
from simulator.domain.model.webhooks import Signature, WebhookPolicy, WebhookStart
from simulator.scenario.build import build_reseller, build_rule
from simulator.scenario.library import load_scenario
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.sections.limits import ANY_TIME
from tests.support.readings import built

EVERYTHING = Path(__file__).parent / "everything.yaml"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load_scenario(EVERYTHING)


def test_title_seed_and_clock(scenario: Scenario) -> None:
    assert (scenario.name, scenario.description, scenario.seed) == ("everything", "every key of the language", 42)
    start = datetime(2027, 1, 10, 15, 59, tzinfo=UTC)
    assert scenario.clock == ClockStart("xN", 60.0, start, timedelta(minutes=-5), "sandbox")


CLOCKS = [
    ("real", ("real", 1.0)),
    ("manual", ("manual", 1.0)),
    ("x60", ("xN", 60.0)),
    ("x0.5", ("xN", 0.5)),
    ("{mode: x2}", ("xN", 2.0)),
    ("{mode: xN, rate: 2.5}", ("xN", 2.5)),
    ("{mode: manual}", ("manual", 1.0)),
    ("{}", ("real", 1.0)),
]


@pytest.mark.parametrize(("text", "expected"), CLOCKS)
def test_a_clock_is_written_as_a_word_or_as_an_object(text: str, expected: tuple[str, float]) -> None:
    clock = built(f"clock: {text}\n").clock
    assert (clock.mode, clock.rate) == expected


def test_a_reseller_is_built_with_all_its_keys(scenario: Scenario) -> None:
    [reseller] = scenario.resellers
    assert (reseller.code, reseller.email, reseller.balance) == ("RS001", "owner@example.com", Decimal("1000.00"))
    assert reseller.low_balance_threshold == Decimal("50.00")
    assert reseller.keys == (KeyStart("key-1", "bm90LWEtc2VjcmV0", KeyState.REVOKED),)
    assert reseller.users == (User("user-1", "password-1"),)
    assert reseller.callback == CallbackConfig("https://receiver.example.com/callbacks", "GET")
    assert reseller.webhook == WebhookStart("https://receiver.example.com/events", "0123456789abcdef" * 4, False)
    assert reseller.require_api_key_for_topup
    assert reseller.ip_allowlist == ("10.0.0.0/8", "::1")
    assert reseller.overlay == {
        "COINS": Overlay(False, Adjustment("percentage", Decimal("1.03"))),
        "BILL": Overlay(None, Adjustment("fixed", Decimal("0.20"), "MYR")),
    }


def test_a_product_is_built_with_all_its_keys(scenario: Scenario) -> None:
    coins = scenario.catalog.products["COINS"]
    assert (coins.name, coins.note, coins.processing_time) == ("Coins", "For players", "pin")
    assert (coins.is_active, coins.voidable, coins.is_hidden, coins.currency) == (True, True, True, "USD")
    assert (coins.denomination, coins.denomination_currency) == ("100,500", "Coins")
    assert coins.denomination_unit_price == Decimal("0.045")
    assert (coins.min_amount, coins.max_amount) == (Money(Decimal(100), "Coins"), Money(Decimal(500), "USD"))
    assert coins.discount == Discount("percentage", Decimal("0.975"), "two and a half")
    assert coins.price_adjustment == Adjustment("fixed", Decimal(1), "USD")
    assert coins.fulfillment.account == Source("player", "id")
    assert coins.fulfillment.amount == Source("pack", "denomination", True)
    assert coins.fulfillment.extras == {"subproduct_code": Source("pack", "code", True)}
    assert coins.fulfilled.valid_for == timedelta(days=30)
    assert set(coins.fulfilled.texts) == {"sn", "pin", "note", "voucherlink"}
    assert coins.fulfilled.texts["voucherlink"]({"trxid": "7"}) == "https://v.example.com/7"
    bill = scenario.catalog.products["BILL"]
    assert bill.max_amount == Money(Decimal(500), "MYR")
    assert (bill.fulfillment.account, bill.fulfillment.extras) == (Source("number"), {"copy": Source("number")})
    assert (bill.note, bill.image_url, bill.is_active, bill.voidable, bill.price_adjustment) == (
        None,
        "",
        True,
        False,
        None,
    )


def test_the_fields_of_a_product(scenario: Scenario) -> None:
    player, pack, _, tip = scenario.catalog.products["COINS"].fields
    assert (player.id, player.role, player.type, player.input_mode) == ("player", "account", "text", "email")
    assert (player.label, player.placeholder, player.required, player.order) == (
        "Player",
        "player@example.com",
        False,
        9,
    )
    assert (player.pattern, player.message) == ("^[a-z]+$", "small letters")
    assert player.accepts is not None
    assert (player.accepts("abc"), player.accepts("ABC")) == (True, False)
    assert pack.data_source is not None
    assert (pack.data_source.type, pack.data_source.depends_on) == ("dynamic", ("player",))
    assert pack.data_source.params == {
        "product_code": {"static": "COINS"},
        "field_id": {"static": "pack"},
        "player": {"from_field": "player"},
        "lang": {"static": "en"},
    }
    assert (tip.currency, tip.minimum, tip.maximum, tip.input_mode) == ("USD", Decimal(1), Decimal(10), "decimal")


def test_the_options_of_a_field(scenario: Scenario) -> None:
    short, full, drawn = scenario.catalog.products["COINS"].options["pack"]
    assert (short.code, short.label, short.denomination, short.is_active) == (
        "COINS-100",
        "100 USD",
        Decimal(100),
        True,
    )
    assert (full.code, full.label, full.denomination, full.is_active) == (
        "PACK-500",
        "Five hundred",
        Decimal(500),
        False,
    )
    assert (full.description, full.validity, full.features) == ("The large one", "30 days", ("bonus",))
    assert full.rrp == Money(Decimal("25.00"), "MYR")
    assert (full.share, full.account_number, full.account_digits, drawn.account_digits) == (Decimal("0.5"), "77", 0, 9)
    assert (full.min_amount, full.max_amount) == (Money(Decimal(1)), Money(Decimal(500)))
    assert (full.needs_ref2, full.suggested_category, full.additional_description) == (True, "Games", ("a line",))


def test_the_options_that_are_written_for_an_account_number(scenario: Scenario) -> None:
    coins = scenario.catalog.products["COINS"]
    assert coins.fields_by_account == {"pack"}
    assert {key: [option.code for option in found] for key, found in coins.options_for.items()} == {
        ("pack", "alice"): ["DRAWN", "FOR-ALICE"]
    }


def test_options_that_are_generated(scenario: Scenario) -> None:
    shops = scenario.catalog.products["COINS"].options["shop"]
    assert [(shop.code, shop.label, shop.needs_ref2, shop.suggested_category) for shop in shops] == [
        ("500", "Shop 500", False, "Food"),
        ("501", "Shop 501", True, "Books"),
        ("502", "Shop 502", False, "Food"),
    ]
    assert {(shop.min_amount, shop.max_amount) for shop in shops} == {(Money(Decimal(2)), Money(Decimal(20)))}


def test_omitted_parts_of_a_product_follow_from_its_form() -> None:
    reload, electric = (load_scenario("default").catalog.products[code] for code in ("RELOAD", "ELECTRIC"))
    assert reload.fulfillment.account == Source("phone")
    assert reload.fulfillment.amount == Source("amount", "denomination")
    assert electric.fulfillment.amount == Source("amount")
    assert [field.order for field in reload.fields] == [1, 2]
    assert reload.discount == Discount("percentage", Decimal("0.975"), "2.5%")
    assert electric.discount == Discount("fixed", Decimal("-0.30"), "30 sen")


def test_groups_keep_their_order(scenario: Scenario) -> None:
    [group] = scenario.catalog.groups
    assert (group.id, group.name, group.icon_url) == ("group-1", "Group", "https://images.example.com/group.png")
    [category] = group.categories
    assert (category.id, category.name, category.product_codes) == ("category-1", "Category", ("COINS", "BILL"))


def test_a_payment_rule_is_built_with_all_its_keys(scenario: Scenario) -> None:
    first, second, third, fourth, fifth, sixth = scenario.payments
    assert (first.id, first.name, second.id, second.name) == ("rule-1", "first", "payments-2", "")
    assert (first.nth, first.every, first.times, first.chance) == (1, 2, 3, Decimal("0.5"))
    assert (second.nth, second.every, second.times, second.chance) == (2, 3, 4, Decimal(1))
    late = Spread(timedelta(seconds=5), timedelta(seconds=15))
    assert first.then.callbacks == Distortion(True, 2, late, True, hold="h", concurrent=True)
    answer, later, asked = first.then.steps
    assert (answer.status, answer.after, answer.requery, answer.code) == (Status.PROCESSING, None, None, 7)
    assert answer.expiry == date(2027, 12, 31)
    assert answer.texts is not None
    texts = {name: text({}) for name, text in answer.texts.items()}
    assert texts == {"remarks": "r", "sn": "s", "pin": "1234", "note": "n", "voucherlink": "v"}
    assert (later.status, later.after, later.texts) == (Status.SUCCESSFUL, timedelta(seconds=3), None)
    assert (asked.status, asked.requery) == (Status.FAILED, 2)
    assert second.when({}) is True
    assert first.when({}) is False
    assert (third.fallback, second.fallback) == (True, False)
    assert third.then == PaymentThen((), refusal=Refusal(Reason.ACCOUNT, 99, "closed"))
    assert fourth.then.steps[1].at == time(12, 10)
    minute = timedelta(minutes=1)
    alone = Distortion(False, 1, late, again_after=minute, hold="h", concurrent=True)
    assert fourth.then.callbacks == Distortion(drop=True, by_status={Status.SUCCESSFUL: alone})
    assert fifth.then.callbacks == Distortion(again_after=timedelta(minutes=1))
    assert [end for end, _ in sixth.variants] == [70, 90, 91, 92]
    assert {(variant.id, variant.label) for _, variant in sixth.variants} == {("payments-6", "payments-6")}
    named, refused, *_ = (variant.then for _, variant in sixth.variants)
    assert named.steps == scenario.timelines["hung until noon"]
    assert refused == PaymentThen((), refusal=Refusal(Reason.ACCOUNT))


def test_a_fault_is_built_with_all_its_keys(scenario: Scenario) -> None:
    first, second, third, fourth, fifth = scenario.faults
    assert fifth.then == FaultThen((AnswerDamage.MALFORMED, DrippingAnswer(20.0)))
    assert (first.id, first.name, second.id) == ("fault-1", "a fault", "faults-2")
    assert first.then == FaultThen(
        (
            ScriptedAnswer(503, {"error": [1, Decimal("2.50"), None, True]}),
            ExtraHeaders(((b"Retry-After", b"5"),)),
            AnswerDamage.CUT,
        ),
        delay=Spread(timedelta(milliseconds=200), timedelta(seconds=2)),
        after_commit=True,
        hold="h",
    )
    assert first.when_of_head is not None
    assert fourth.when_of_head is not None, "one of its variants waits for the execution"
    assert [variant.then.after_commit for _, variant in fourth.variants] == [False, True]
    assert second.then == FaultThen(denial=Denial.NONCE_SERVICE_DOWN)
    virtual = (timedelta(seconds=5), timedelta(seconds=5))
    assert third.then == FaultThen(denial=Denial.INTERNAL_ERROR, delay=virtual, is_delay_virtual=True)
    assert (first.nth, first.every, first.times, first.chance) == (1, 1, 1, Decimal("0.1"))


DAMAGES = [
    ("{disconnect: true}", FaultThen((AnswerDamage.NO_ANSWER,))),
    ("{disconnect: head}", FaultThen((AnswerDamage.NO_ANSWER,))),
    ("{disconnect: body}", FaultThen((AnswerDamage.CUT,))),
    ("{delay: 5s}", FaultThen(delay=(timedelta(seconds=5), timedelta(seconds=5)))),
    ("{status: 504, body: text}", FaultThen((ScriptedAnswer(504, "text", "text/plain; charset=utf-8"),))),
]


@pytest.mark.parametrize(("text", "expected"), DAMAGES)
def test_every_kind_of_fault_is_built(text: str, expected: FaultThen) -> None:
    [rule] = built(f"faults: [{{then: {text}}}]\n").faults
    assert rule.then == expected


@pytest.mark.parametrize("fact", ["product", "account", "amount", "refid"])
def test_a_fault_that_looks_into_the_body_waits_for_it(fact: str) -> None:
    for when, expected in (
        (f"{{{fact}: {{prefix: '1'}}, method: POST}}", True),
        ("{method: POST, path: /v2/topup, nth: 1}", False),
    ):
        [rule] = built(f"faults: [{{when: {when}, then: {{status: 500}}}}]\n").faults
        assert (rule.when_of_head is not None) is expected


def test_schedule_limits_and_assumptions(scenario: Scenario) -> None:
    second = timedelta(seconds=1)
    assert [(one.at, *one.commands) for one in scenario.schedule] == [
        (10 * second, Credit("RS001", Decimal("500.00"), "bank transfer", EntryType.COMMISSION)),
        (
            20 * second,
            ChangeProduct(
                "BILL",
                {"is_active": None, "price_adjustment": Adjustment("fixed", Decimal(1), "MYR")},
                {},
                "RS001",
            ),
        ),
        (
            30 * second,
            ChangeProduct(
                "COINS",
                {"name": "Other Coins", "note": None, "discount": Discount("fixed", Decimal("-0.10"), "ten sen")},
                {"PACK-500": True},
            ),
        ),
        (
            40 * second,
            ChangeTree(TreeKind.CATEGORY, "category-1", {"name": "Other", "product_codes": ("BILL",)}),
        ),
        (
            50 * second,
            ChangeTree(
                TreeKind.GROUP,
                "group-1",
                {"name": "Other", "icon_url": "https://images.example.com/other.png"},
            ),
        ),
        (55 * second, PutApiKey("RS001", "rk_added", "bm90LWEtc2VjcmV0LWF0LWFsbA==", KeyState.ACTIVE)),
        (
            time(12, 10),
            ChangeSettings("RS001", {"require_api_key_for_topup": False, "ip_allowlist": ("127.0.0.1",)}),
            SetCallback("RS001", "inbox:other", "GET"),
            SetThreshold("RS001", Decimal("10.00")),
        ),
        (60 * second, SetNetwork("BILL", NetworkStatus.HEALTHY)),
        (70 * second, AddRule("payments", {"name": "added", "then": [{"status": "Failed"}]})),
        (80 * second, RemoveRule("added")),
        (90 * second, AddRule("voids", {"then": {"status": "Success"}})),
        (90 * second, AddRule("disputes", {"then": {"status": "Success"}})),
        (90 * second, AddRule("bills", {"then": {"error": "invalid_account"}})),
        (90 * second, AddRule("faults", {"then": {"status": 500}})),
        (time(12, 10, 30), PutWebhook("RS001", "inbox:events", "0" * 64, enabled=False)),
    ]
    assert scenario.limits == Limits(
        requests_per_interval=12,
        rate_limit_interval=13 * second,
        rate_limit_block=14 * second,
        timestamp_tolerance=60 * second,
        nonce_window=120 * second,
        token_lifetime=180 * second,
        refresh_token_lifetime=240 * second,
        integration_timeout=6 * second,
        settings_delay=5 * second,
        nonces=3,
        callback_timeout=4 * second,
        callback_timeout_manual=5 * second,
        callback_retry=RetryPolicy(6, 7 * second),
        callbacks=8,
        callbacks_bytes=8193,
        deliveries=12,
        deliveries_bytes=8192,
        notifications=7,
        journal=9,
        journal_bytes=2048,
        tape=10,
        tape_bytes=2049,
        inbox=11,
        inbox_bytes=4096,
        inboxes=13,
        inboxes_bytes=16384,
        rules=900,
        resellers=901,
        api_keys=902,
    )
    assert scenario.webhooks == WebhookPolicy(
        retry_limit=2,
        retry_after=(1 * second, 2 * second),
        signature=Signature("X-Signature", "sha256=", "text"),
        timeout=3 * second,
        catalog=WebhookStart("inbox:catalog", "0123456789abcdef" * 4, True),
        hold="h",
        duplicate=1,
    )
    assert scenario.environment == "production"
    assert scenario.assume["payment-status-codes"] == {
        "accepted": 101,
        "processing": 102,
        "successful": 103,
        "failed": 104,
        "refunded": 105,
        "Insufficient_Balance": 106,
        "Invalid_Product": 107,
        "Invalid_Account": 108,
        "Invalid_Extras": 109,
        "Invalid_Request": 110,
        "Refid_Conflict": 111,
        "Invalid_Denomination": 112,
    }
    assert scenario.assume["nonce-scope"] == "reseller"
    assert scenario.assume["source-address"] == "192.0.2.1"


def test_an_empty_scenario_is_all_defaults() -> None:
    assert built("").limits == Limits()
    assert built("").clock == ClockStart()
    assert built("limits: {timestamp_tolerance: null}\n").limits.timestamp_tolerance == ANY_TIME
    assert built("limits: {requests_per_interval: null}\n").limits.requests_per_interval is None


def test_a_scenario_cannot_be_changed(scenario: Scenario) -> None:
    for mapping in (scenario.catalog.products, scenario.assume, scenario.resellers[0].overlay):
        with pytest.raises(TypeError):
            mapping["x"] = None  # type: ignore[index]  # the very point


def test_a_rule_for_a_running_sandbox_is_checked_alike() -> None:
    data = {"name": "later", "when": {"account": {"suffix": "48"}}, "times": 2, "then": [{"status": "Failed"}]}
    rule = build_rule("payments", data, "added-1")
    assert (rule.id, rule.name, rule.times) == ("added-1", "later", 2)
    assert rule.when({"account": "48"}) is True
    assert build_rule("faults", {"id": "mine", "then": {"status": 500}}, "added-2").id == "mine"


BAD_RULES: list[tuple[str, object, list[str]]] = [
    ("payments", {}, ["missing_key"]),
    ("payments", [], ["type"]),
    ("payments", {"then": [{"status": "Fail"}], "tmes": 1}, ["tmes unknown_key", "then[0].status unknown_value"]),
    ("payments", {"then": [{"status": "Failed", "sn": "{x}"}]}, ["then[0].sn bad_template"]),
    (
        "payments",
        {"when": {"account": {"pattern": "("}}, "then": [{"status": "Failed"}]},
        ["when.account.pattern bad_pattern"],
    ),
    (
        "payments",
        {"then": [{"status": "Accepted"}, {"status": "Failed", "after": "-1s"}]},
        ["then[1].after bad_duration"],
    ),
    ("voids", {"then": {}}, ["then missing_key"]),
    ("voids", {"then": {"status": "Succesful"}}, ["then.status unknown_value"]),
    ("voids", {"then": {"status": "Failed", "refund_after": "1s"}}, ["then.refund_after misplaced"]),
    (
        "voids",
        {"then": {"status": "Success", "refund_after": "1s", "refused_after": "1s"}},
        ["then.refused_after misplaced"],
    ),
    ("voids", {"then": {"status": "Success", "message": "{x}"}}, ["then.message bad_template"]),
    ("voids", {"when": {"path": "/v2/x"}, "then": {"status": "Success"}}, ["when.path unknown_key"]),
    ("disputes", {"then": {"status": "Success", "refund_after": "1s"}}, ["then.refund_after unknown_key"]),
    ("disputes", {"when": {"amount": "ten"}, "then": {"status": "Success"}}, ["when.amount bad_amount"]),
    ("bills", {"then": {}}, ["then missing_key"]),
    ("bills", {"then": {"bill": {}, "error": "unavailable"}}, ["then.error misplaced"]),
    ("bills", {"then": {"bill": {}, "error_message": "x"}}, ["then.error_message misplaced"]),
    ("bills", {"then": {"bill": {"outstanding": 1}}}, ["then.bill.outstanding unknown_key"]),
    ("bills", {"then": {"bill": {"Outstanding": "1.234"}}}, ["then.bill.Outstanding bad_amount"]),
    ("bills", {"then": {"bill": {"Outstanding": -1}}}, ["then.bill.Outstanding out_of_range"]),
    ("bills", {"when": {"refid": "x"}, "then": {"bill": {}}}, ["when.refid unknown_key"]),
    ("faults", {"then": {"status": "500"}}, ["then.status type"]),
    ("faults", {"then": {"body": {}}}, ["then.body misplaced"]),
]


@pytest.mark.parametrize(("section", "data", "expected"), BAD_RULES)
def test_a_bad_rule_is_refused_with_paths(section: str, data: dict[str, object], expected: list[str]) -> None:
    with pytest.raises(ScenarioError) as raised:
        build_rule(section, data, "added-1")
    assert sorted(f"{p.path} {p.code}".strip() for p in raised.value.problems) == sorted(expected)


def test_a_rule_can_be_checked_against_the_products_of_a_sandbox() -> None:
    data = {"when": {"product": "RELOD", "reseller": "RS001"}, "then": [{"status": "Failed"}]}
    with pytest.raises(ScenarioError, match=r"did you mean 'RELOAD'\?"):
        build_rule("payments", data, "added-1", products=["RELOAD"], resellers=["RS001"])


def test_a_reseller_for_a_running_sandbox() -> None:
    start = build_reseller({"code": "RS002", "balance": "10.00", "catalog": {"ANY": {"is_active": False}}})
    assert (start.code, start.balance, start.keys, start.email) == ("RS002", Decimal("10.00"), (), "owner@example.com")
    assert build_reseller({"code": "A", "balance_webhook": {"url": "inbox:a"}}).webhook == WebhookStart("inbox:a")
    twice = [{"key": "k", "state": "no_secret"}] * 2
    bads: list[object] = [
        {},
        {"code": "a b"},
        {"code": "A", "balance": -1},
        {"code": "A", "api_keys": twice},
        {"code": 1},
        [],
    ]
    for bad in bads:
        with pytest.raises(ScenarioError):
            build_reseller(bad)  # type: ignore[arg-type]  # anything that JSON can hold
