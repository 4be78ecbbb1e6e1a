"""Every command can be written down, read back and applied with the same result."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain import commands as c
from simulator.domain.model.cases import CaseKind
from simulator.domain.model.catalog import Adjustment, Discount, Overlay, TreeKind
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.scenario import KeyStart, ResellerStart
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.wallet import EntryType
from simulator.domain.model.webhooks import WebhookStart
from simulator.domain.sandbox import Sandbox
from simulator.scenario.build import COMPILER
from simulator.scenario.library import load_scenario, scenario_from_object
from tests.support.anatomy import anatomy
from tests.support.command_lines import read, write

pytestmark = pytest.mark.slow

START = datetime(2026, 11, 1, 4, 0, tzinfo=UTC)
PAYMENT = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
BAD_DAY = scenario_from_object({"scenario": "other", "extends": "bad-day", "limits": {"nonces": 7}})


SCENARIO = load_scenario("default")
SHARED = (SCENARIO, SCENARIO.catalog, BAD_DAY, BAD_DAY.catalog, COMPILER)
"""Most of a state, and the same objects in every sandbox."""

LATEST = START + timedelta(days=30)
REFUSED = AttemptResult(AttemptEnd.ANSWERED, 500)


def late(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def paid(refid: str = "r1", **more: Any) -> c.CreatePayment:
    return c.CreatePayment(**({"reseller": "RS001"} | PAYMENT | {"refid": refid} | more))


def replay_of_failed(box: Sandbox) -> c.ReplayDelivery:
    """Fail every attempt of the only webhook delivery, and replay it."""
    now = late(2)
    while (due := box.state.agenda.next_due) is not None:
        now = max(now, due)
        for one in box.apply(c.PassTime(), now):
            box.apply(c.EndAttempt(one.send.job.id, one.send.attempt.number, REFUSED), now)
    [job] = box.state.deliveries
    return c.ReplayDelivery("RS001", job.id)


def sent_callback(box: Sandbox) -> c.SendCallback:
    """Advance the only payment, and send its callback again."""
    box.apply(c.PassTime(), late(3))
    [trxid] = box.state.transactions
    return c.SendCallback(trxid)


def new_reseller() -> ResellerStart:
    return ResellerStart(
        code="RS002",
        email="two@example.com",
        balance=Decimal("10.50"),
        keys=(KeyStart("rk_two", "c2VjcmV0"),),
        users=(User("two", "password"),),
        webhook=WebhookStart("inbox:two"),
        ip_allowlist=("10.0.0.0/8",),
        overlay={"RELOAD": Overlay(False, Adjustment("fixed", Decimal("0.50"), "MYR"))},
        low_balance_threshold=Decimal(5),
    )


EACH_KEY = c.AddRule("voids", {"times": 1, "per": "key", "then": {"status": "Failed"}})
EACH_ADDRESS = c.AddRule("bills", {"times": 1, "per": "address", "then": {"error": "unavailable"}})

# The commands before, and the command that is written down and read back.
CASES: list[tuple[list[c.Command], Callable[[Sandbox], c.Command]]] = [
    ([], lambda box: paid()),
    ([], lambda box: paid(amount=10)),
    ([], lambda box: paid(amount=Decimal("10.00"), remarks="näh", rule="magic-01", sender="::1", key="rk")),
    ([], lambda box: paid(product="ELECTRIC", account="210012345648", amount="12.34", extras={"a": [1, {"b": None}]})),
    ([paid()], lambda box: paid()),
    ([], lambda box: c.SetCallback("RS001", "http://127.0.0.1:9/x?y=1", "GET")),
    ([], lambda box: c.Credit("RS001", Decimal("1.10"), "gift", EntryType.COMMISSION)),
    ([], lambda box: c.SetThreshold("RS001", Decimal("9.99"))),
    ([], lambda box: c.AddReseller(new_reseller())),
    ([], lambda box: c.AddApiKey("RS001")),
    ([], lambda box: c.RevokeApiKey("RS001", box.state.resellers["RS001"].keys[0].key)),
    ([], lambda box: c.ChangeSettings("RS001", {"require_api_key_for_topup": True, "ip_allowlist": ("10.0.0.1",)})),
    ([], lambda box: c.PutApiKey("RS001", "rk_new", "bmV3LXNlY3JldA==", KeyState.REVOKED)),
    ([], lambda box: c.SetWebhook("RS001", "inbox:webhooks")),
    ([], lambda box: c.PutWebhook("RS001", "inbox:webhooks", "ab" * 32, enabled=False)),
    ([c.SetWebhook("RS001", "inbox:webhooks")], lambda box: c.EnableWebhook("RS001", enabled=False)),
    ([c.SetWebhook("RS001", "inbox:webhooks")], lambda box: c.RotateWebhookSecret("RS001")),
    ([c.SetWebhook("RS001", "inbox:webhooks")], lambda box: c.RemoveWebhook("RS001")),
    ([], lambda box: c.ReplayDelivery(None, "no-such-job")),
    ([c.SetWebhook("RS001", "http://127.0.0.1:9/"), c.Credit("RS001", Decimal(5))], lambda box: replay_of_failed(box)),
    ([paid()], lambda box: sent_callback(box)),
    ([paid()], lambda box: c.OpenCase(CaseKind.VOID, "RS001", refid="r1", user_email=("a@b.c",), refund_type=1)),
    ([], lambda box: c.LookUpBill("RS001", "ELECTRIC", "210012345648", amount="5")),
    ([paid(), EACH_KEY], lambda box: c.OpenCase(CaseKind.VOID, "RS001", "r1", sender="::1", key="rk")),
    ([EACH_ADDRESS], lambda box: c.LookUpBill("RS001", "ELECTRIC", "210012345648", sender="::1", key="rk")),
    ([], lambda box: c.SetNetwork("RELOAD", NetworkStatus.INTERRUPTION)),
    ([], lambda box: c.ChangeProduct("RELOAD", {"is_active": False, "note": None, "name": "New"})),
    (
        [],
        lambda box: c.ChangeProduct(
            "RELOAD",
            {
                "price_adjustment": Adjustment("percentage", Decimal("1.03")),
                "discount": Discount("fixed", Decimal("-0.30"), "30 sen"),
            },
        ),
    ),
    ([], lambda box: c.ChangeProduct("RELOAD", {"is_active": False}, {}, "RS001")),
    ([], lambda box: c.ChangeTree(TreeKind.GROUP, box.state.catalog.groups[0].id, {"name": "Other"})),
    (
        [],
        lambda box: c.ChangeTree(
            TreeKind.CATEGORY, box.state.catalog.groups[0].categories[0].id, {"product_codes": ("DATA", "RELOAD")}
        ),
    ),
    ([], lambda box: c.AddRule("payments", {"name": "x", "then": [{"status": "Failed", "statusCode": 48}]})),
    (
        [],
        lambda box: c.AddRule(
            "faults", {"when": {"account": {"min": 1}}, "chance": Decimal("0.5"), "then": {"status": 500}}
        ),
    ),
    ([c.AddRule("bills", {"then": {"error": "invalid account number"}})], lambda box: c.RemoveRule("added-1")),
    ([paid()], lambda box: c.LoadScenario(BAD_DAY.name, BAD_DAY.document)),
    ([], lambda box: c.CountRequest("203.0.113.9")),
    ([], lambda box: c.SpendNonce("RS001", "key", b"nonce-0123456789", 1_800_000_000, 1_800_000_000.25)),
    ([c.SpendNonce("RS001", "key", b"nonce", 1, 1.5)], lambda box: c.ReturnNonce("RS001", "key", b"nonce")),
    ([c.AddRule("faults", {"then": {"status": 500}})], lambda box: c.CountFault(("added-1",), "added-1")),
    (
        [c.AddRule("faults", {"then": {"status": 500}})],
        lambda box: c.CountFault((), "added-1", is_selected=True, values=(("added-1", "RS001 r1"),)),
    ),
    ([paid()], lambda box: c.PassTime()),
    ([paid()], lambda box: c.PassTime(1)),
    ([paid()], lambda box: c.RecordTime()),
    (
        [c.SetWebhook("RS001", "http://127.0.0.1:9/"), c.Credit("RS001", Decimal(5)), c.PassTime()],
        lambda box: c.EndAttempt(
            next(iter(box.state.in_flight)), 1, AttemptResult(AttemptEnd.ANSWERED, 500, "böse", "", (("a", "b"),))
        ),
    ),
]


def applied(before: list[c.Command], make: Callable[[Sandbox], c.Command], *, read_back: bool) -> tuple[Any, Any]:
    """Return the answer to a command and the state after it, after a while, and after all due items."""
    box = _prepared(before)
    command = make(box)
    answer = box.apply(read(write(command)) if read_back else command, late(60))
    box.apply(c.PassTime(), LATEST)
    return anatomy(answer, known=SHARED), anatomy(box.state, known=SHARED)


def test_no_command_changes_the_values_that_sandboxes_share() -> None:
    """So that the others need not look into it."""
    cached = ("categories",)  # built on request
    before = anatomy(SHARED[:-1], cached)  # the compiler remembers what it compiled
    for commands, make in CASES:
        applied(commands, make, read_back=True)
    assert anatomy(SHARED[:-1], cached) == before


@pytest.mark.parametrize(("before", "make"), CASES)
def test_a_command_that_was_read_back_does_the_same(
    before: list[c.Command], make: Callable[[Sandbox], c.Command]
) -> None:
    assert applied(before, make, read_back=True) == applied(before, make, read_back=False)


OLDER: list[tuple[bytes, c.Command]] = [
    (
        b'{"command":"CreatePayment","reseller":"R","refid":"r","product":"P","account":"1","amount":"10"}',
        c.CreatePayment("R", "r", "P", "1", "10"),
    ),
    (b'{"command":"OpenCase","kind":"void","reseller":"R","refid":"r"}', c.OpenCase(CaseKind.VOID, "R", "r")),
    (b'{"command":"LookUpBill","reseller":"R","product":"P","account":"1"}', c.LookUpBill("R", "P", "1")),
]


@pytest.mark.parametrize(("line", "expected"), OLDER)
def test_a_command_of_an_older_tape_has_neither_key_nor_address(line: bytes, expected: Any) -> None:
    found: Any = read(line)
    assert found == expected
    assert (found.sender, found.key) == ("", "")


def test_each_kind_of_command_is_tried_and_changes_or_answers_something() -> None:
    kinds = set()
    for before, make in CASES:
        answer, state = applied(before, make, read_back=False)
        without = _prepared(before)
        kinds.add(type(make(without)))
        without.apply(c.PassTime(), LATEST)
        assert answer or state != anatomy(without.state, known=SHARED), make(_prepared(before))
    assert kinds == set(c.Command.__subclasses__())


def _prepared(before: list[c.Command]) -> Sandbox:
    box = Sandbox(SCENARIO, 7, START, "", COMPILER)
    for number, one in enumerate(before):
        box.apply(one, late(number))
    return box


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(codec="utf-8"), max_size=20)


@given(
    st.builds(
        c.CreatePayment,
        reseller=texts(),
        refid=texts(),
        product=texts(),
        account=texts(),
        amount=st.one_of(texts(), st.integers(-(10**20), 10**20), st.decimals(allow_nan=False, allow_infinity=False)),
        extras=st.dictionaries(texts(), st.one_of(texts(), st.booleans(), st.none(), st.integers()), max_size=3),
    )
)
def test_any_input_of_a_client_survives_a_round_trip(command: c.CreatePayment) -> None:
    again = read(write(command))
    assert again == command
    assert isinstance(again, c.CreatePayment)
    assert str(again.amount) == str(command.amount) or again.amount == command.amount


@pytest.mark.parametrize("line", [b"", b"{}", b'{"command": "Nonsense"}', b'{"command": "Credit"}', b"[1]", b"\xff"])
def test_bytes_that_are_not_a_command_are_refused(line: bytes) -> None:
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        read(line)
