"""The small parts of the domain: agenda, draw, limits, money, pricing, wallet, accounts."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.agenda import Agenda
from simulator.domain.commands import AddApiKey, AddReseller, ChangeSettings, Credit, RevokeApiKey, SetWebhook
from simulator.domain.errors import Conflict, DomainError, Unacceptable, Unknown
from simulator.domain.model import draw, pricing
from simulator.domain.model.catalog import Adjustment, Discount, Product
from simulator.domain.model.domain_events import EmailNotification, NotificationKind, NotificationLog
from simulator.domain.model.history import Total
from simulator.domain.model.money import cents, decimal_text, is_bounded, is_whole_cents, parse_amount, parse_number
from simulator.domain.model.resellers import KeyState
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.wallet import EntryType, Wallet
from tests.support.worlds import (
    START,
    fire_due,
    fixed_product,
    money_product,
    sandbox,
    seconds,
)

NO_ENTRIES = {type_: Total() for type_ in EntryType}


def test_the_agenda_is_ordered_by_time_then_by_insertion() -> None:
    agenda: Agenda[str] = Agenda()
    for at, item in ((5, "c"), (1, "a"), (5, "d"), (1, "b")):
        agenda.add(seconds(at), item)
    assert [due.item for _ in range(4) if (due := agenda.pop_due(seconds(5)))] == ["a", "b", "c", "d"]


def test_the_agenda_yields_no_early_and_no_cancelled_items() -> None:
    agenda: Agenda[str] = Agenda()
    ticket = agenda.add(seconds(1), "a")
    agenda.add(seconds(2), "b")
    agenda.cancel(ticket)
    agenda.cancel(ticket)
    assert (len(agenda), agenda.next_due) == (1, seconds(2))
    assert agenda.pop_due(seconds(1.9)) is None
    assert (due := agenda.pop_due(seconds(2))) is not None
    assert due.item == "b"
    assert agenda.next_due is None


@given(st.integers(), st.text(), st.integers(1, 64))
def test_draws_depend_only_on_seed_and_identity(seed: int, identity: str, count: int) -> None:
    assert draw.digits(seed, count, identity) == draw.digits(seed, count, identity)
    assert len(draw.digits(seed, count, identity)) == count
    assert draw.digits(seed, count, identity).isdecimal()
    assert len(draw.alphanumeric(seed, count, identity)) == count
    assert 0 <= draw.fraction(seed, identity) < 1


def test_identities_do_not_run_into_each_other() -> None:
    assert draw.digits(1, 20, "a", "bc") != draw.digits(1, 20, "ab", "c")
    assert draw.digits(1, 20, "x") != draw.digits(2, 20, "x")
    assert draw.uuid(1, "x")[14] == "4"


def test_a_seed_draws_equal_values_in_every_version() -> None:
    """Scenarios, recorded runs and expectations of users rely on it."""
    assert draw.digits(7, 16, "a", "b") == "5385993489810884"
    assert draw.digits(7, 17, "a", "b") == "82570266848884352"
    assert draw.alphanumeric(7, 8, "a", "b") == "36KB9WFE"
    assert draw.fraction(7, "a", "b") == 0.43122076799159004
    assert draw.secret(7, "a").hex()[:16] == "a78218673cca4e3d"
    assert draw.uuid(7, "a") == "01637aad-2ad8-4097-8828-e63f1bce372f"
    assert draw.hexadecimal(7, 8, "a") == "60f0f4b8"
    assert draw.trxid(7, START, "R1", "ref-1") == "2611011375670247785367"
    box = sandbox()
    assert box.apply(AddApiKey("R1"), START).key == "rk_qsqrk2rjgdt463swucledjll"
    box.apply(SetWebhook("R1", "https://hook.example"), START)
    assert box.state.resellers["R1"].webhook.secret[:16] == "d5fb3a04e704d3d5"


AMOUNTS = [
    ("10", "10"), ("10.50", "10.50"), ("-1", "-1"), (7, "7"), (Decimal("1E1"), "10"), ("0", "0"), ("007", "7"),
    (" 1", "1"), ("1 ", "1"), ("  10.5  ", "10.5"), ("+1", "1"), ("1e2", "100"), ("1E+1", "10"), ("1.05e1", "10.5"),
    ("100e-1", "10.0"), (".5", "0.5"), ("-.5", "-0.5"), ("5.", "5"), ("10.000000000", "10"), ("0e999", "0"),
    (Decimal("10.000000000"), "10"), (Decimal("1E+14"), "100000000000000"), (10**14, "100000000000000"),
    ("0" * 90 + "7", "7"), ("7." + "0" * 90, "7"), ("", None), (" ", None), ("1 0", None), ("1\t0", None),
    ("\t1", "1"), ("1\r\n", "1"), ("\t10\n", "10"), ("\n", None), ("\u00a01", None), ("1\v", None),
    ("0x1", None), ("1_0", None), ("1,5", None), ("1,000", None), ("NaN", None), ("Infinity", None), ("-inf", None),
    ("٣", None), ("１", None), ("1" * 16, None), ("9" * 60, None), ("1e15", None), ("1e400", None), ("1e-9", None),
    ("0.123456789", None), ("e1", None), ("1e", None), (".", None), ("+", None), ("--1", None), ("1e1e1", None),
    (f"1e{9**40}", None), ("1" * 100_000, None), (True, None), (None, None), ([], None), (10**15, None),
    (10**4000, None), (Decimal("1E+400"), None), (Decimal("1E-9"), None), (Decimal("NaN"), None),
    (Decimal("Infinity"), None), (Decimal("1E-999999999"), None),
    ("10." + "0" * 97, "10"), ("10." + "0" * 98, None),
    (Decimal("10." + "0" * 97), "10"), (Decimal("10." + "0" * 98), None), (Decimal("10." + "0" * 200), None),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), AMOUNTS, ids=lambda one: repr(one)[:30])
def test_amounts_are_parsed_in_every_notation_and_within_bounds(raw: object, expected: str | None) -> None:
    assert str(parse_amount(raw)) == str(expected)


NUMBERS = [
    (Decimal("10.000000001"), "10.000000001"), ("1000000000000000", "1000000000000000"), ("1e20", "1" + "0" * 20),
    (10**27, "1" + "0" * 27), (10**28, None), ("1e28", None), ("1.0000000000000000000000000001", None),
    ("1.000000000000000000000000001", "1.000000000000000000000000001"), ("1e-400", None), ("NaN", None),
    ("1e-27", "1E-27"), ("1e-28", None),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), NUMBERS, ids=lambda one: repr(one)[:30])
def test_numbers_that_are_not_amounts_are_parsed_for_the_echo(raw: object, expected: str | None) -> None:
    assert parse_amount(raw) is None
    assert str(parse_number(raw)) == str(expected)


@pytest.mark.parametrize(
    ("value", "rounded"), [("0.005", "0.01"), ("0.0049", "0.00"), ("2.675", "2.68"), ("-0.005", "-0.01")]
)
def test_cents_round_halves_away_from_zero(value: str, rounded: str) -> None:
    assert cents(Decimal(value)) == Decimal(rounded)


def product(discount: tuple[str, str], unit: str = "1", adjustment: tuple[str, str] | None = None) -> Product:
    return money_product(
        discount=Discount(discount[0], Decimal(discount[1]), ""),
        denomination_unit_price=Decimal(unit),
        price_adjustment=Adjustment(adjustment[0], Decimal(adjustment[1])) if adjustment else None,
    )


PRICES = [
    # discount, unit price, adjustment, amount, cost, price
    (("percentage", "0.97"), "1", None, "10", "9.70", "10.00"),
    (("percentage", "0.955"), "1", None, "33.33", "31.83", "33.33"),
    (("percentage", "0.9"), "0.0125", None, "500", "5.63", "6.25"),
    (("fixed", "-0.50"), "1", None, "10", "9.50", "10.00"),
    (("fixed", "-0.50"), "4.25", None, "10", "42.00", "42.50"),
    (("fixed", "0.50"), "1", None, "10", "9.50", "10.00"),
    (("fixed", "-12"), "1", None, "10", "0", "10.00"),
    (("percentage", "0.97"), "1", ("fixed", "0.30"), "10", "9.70", "10.30"),
    (("percentage", "0.97"), "1", ("percentage", "1.03"), "10", "9.70", "10.30"),
    (("percentage", "0.97"), "1", ("percentage", "1.03"), "3.33", "3.23", "3.43"),
    (("percentage", "0.97"), "1", ("fixed", "-20"), "10", "9.70", "0"),
]


@pytest.mark.parametrize(("discount", "unit", "adjustment", "amount", "cost", "price"), PRICES)
def test_prices_computed_by_hand(
    discount: tuple[str, str], unit: str, adjustment: tuple[str, str] | None, amount: str, cost: str, price: str
) -> None:
    made = product(discount, unit, adjustment)
    assert pricing.cost(made, Decimal(amount)) == Decimal(cost)
    assert pricing.price(made, Decimal(amount)) == Decimal(price)


def test_a_loss_at_some_denomination_is_a_loss_risk() -> None:
    assert not pricing.has_loss_risk(product(("percentage", "0.97")))
    assert pricing.has_loss_risk(product(("percentage", "0.97"), adjustment=("percentage", "0.95")))
    assert not pricing.has_loss_risk(product(("percentage", "0.97"), adjustment=("percentage", "0.98")))
    assert pricing.has_loss_risk(product(("percentage", "0.97"), adjustment=("fixed", "-0.10")))
    dear = fixed_product(denominations=(5, 100), price_adjustment=Adjustment("fixed", Decimal("-1")))
    assert pricing.has_loss_risk(dear), "RM5 minus 1 is below 4.85"


def test_a_ledger_adds_up() -> None:
    box = sandbox()
    box.apply(Credit("R1", Decimal("0.01"), "a"), START)
    entry = box.apply(Credit("R1", Decimal("5"), "b", EntryType.COMMISSION), START)
    assert (entry.id, entry.balance, entry.type) == (2, Decimal("1005.01"), EntryType.COMMISSION)


@pytest.mark.parametrize("amount", ["0", "-1", "0.001", "NaN", "1E400", "999999999999999"])
def test_a_credit_that_is_not_positive_cents_is_refused(amount: str) -> None:
    box = sandbox()
    with pytest.raises(Unacceptable):
        box.apply(Credit("R1", Decimal(amount)), START)
    assert not box.state.resellers["R1"].wallet.entries


def test_keys_come_and_go() -> None:
    box = sandbox()
    key = box.apply(AddApiKey("R1"), START)
    assert box.state.keys[key.key] == (box.state.resellers["R1"], key)
    assert len(key.secret_bytes) == 32
    box.apply(RevokeApiKey("R1", key.key), START)
    assert key.state is KeyState.REVOKED
    with pytest.raises(Unknown):
        box.apply(RevokeApiKey("R2", key.key), START)


def test_a_second_reseller_of_a_code_is_a_conflict() -> None:
    box = sandbox()
    made = box.apply(AddReseller(ResellerStart("NEW", "new@example.com")), START)
    assert len(made.keys) == 1
    with pytest.raises(Conflict):
        box.apply(AddReseller(ResellerStart("NEW", "new@example.com")), START)


def test_settings_change_singly() -> None:
    box = sandbox()
    box.apply(ChangeSettings("R1", {"ip_allowlist": ("10.0.0.1",)}), START)
    settings = box.apply(ChangeSettings("R1", {"require_api_key_for_topup": True}), START)
    assert (settings.ip_allowlist, settings.require_api_key_for_topup) == (("10.0.0.1",), True)
    with pytest.raises(DomainError):
        box.apply(ChangeSettings("NOBODY", {}), START)


def test_scheduled_deposits_come_when_they_are_due() -> None:
    scheduled = ScheduledChange(timedelta(seconds=10), (Credit("R1", Decimal("500"), "bank"),))
    box = sandbox(schedule=(scheduled,))
    assert box.state.agenda.next_due == seconds(10)
    fire_due(box, seconds(10))
    (entry,) = box.state.resellers["R1"].wallet.entries
    assert (entry.at, entry.amount, entry.remarks) == (seconds(10), Decimal("500"), "bank")


def test_the_agenda_lists_what_is_to_come_in_order_and_looks_at_so_many_places() -> None:
    agenda: Agenda[str] = Agenda()
    tickets = {item: agenda.add(seconds(at), item) for at, item in ((5, "c"), (1, "a"), (3, "b"), (9, "d"), (7, "e"))}
    agenda.cancel(tickets["b"])
    assert list(agenda.in_order(9)) == [(seconds(at), item) for at, item in ((1, "a"), (5, "c"), (7, "e"), (9, "d"))]
    assert [item for _, item in agenda.in_order(2)] == ["a"], "the cancelled one has the second place"
    assert sorted((at, item) for at, _, item in agenda.waiting())[0] == (seconds(1), "a")
    assert (len(agenda), agenda.added) == (4, 5)


def test_the_agenda_cancels_all_of_some_types() -> None:
    agenda: Agenda[object] = Agenda()
    for at, item in ((3, "x"), (1, 5), (2, "y")):
        agenda.add(seconds(at), item)
    assert agenda.cancel_all(str) == ["x", "y"]
    assert (len(agenda), agenda.next_due) == (1, seconds(1))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("30", "30"),
        ("30.00", "30"),
        ("5.2", "5.20"),
        ("5.25", "5.25"),
        ("0.045", "0.045"),
        ("1E+3", "1000"),
        ("100", "100"),
        ("-0.5", "-0.50"),
    ],
)
def test_an_amount_in_a_sentence_has_zero_two_or_all_decimals(raw: str, shown: str) -> None:
    assert decimal_text(Decimal(raw)) == shown


@pytest.mark.parametrize(("raw", "is_whole"), [("1", True), ("1.10", True), ("1.100", True), ("1.001", False)])
def test_whole_cents_have_two_significant_decimals(raw: str, is_whole: bool) -> None:
    assert is_whole_cents(Decimal(raw)) is is_whole


@pytest.mark.parametrize(
    ("raw", "bounded"),
    [
        ("9" * 15, True),
        ("1" + "0" * 15, False),
        ("0.00000001", True),
        ("0.000000001", False),
        ("NaN", False),
        ("-Infinity", False),
        ("-" + "9" * 15, True),
    ],
)
def test_an_amount_has_fifteen_digits_before_the_point_and_eight_after_it(raw: str, bounded: bool) -> None:
    assert is_bounded(Decimal(raw)) is bounded


def test_a_wallet_is_restored_with_its_threshold_and_the_last_balance() -> None:
    wallet = Wallet(Decimal(10))
    wallet.restore([], Decimal(5))
    assert (wallet.balance, wallet.threshold) == (Decimal(10), Decimal(5))
    first, second = (wallet.post(EntryType.DEPOSIT, Decimal(amount), START, "") for amount in (1, 2))
    restored = Wallet(Decimal(10))
    restored.restore([first, second], Decimal(6))
    assert (restored.balance, restored.threshold) == (Decimal(13), Decimal(6))
    assert (restored.entry(1), restored.entry(2), first.id, second.id) == (first, second, 1, 2)
    days = START.date(), START.date(), frozenset(EntryType), 0, 9
    assert (
        restored.find(*days)
        == wallet.find(*days)
        == ([second, first], {**NO_ENTRIES, EntryType.DEPOSIT: Total(2, Decimal(3))})
    )


def test_hexadecimal_digits_depend_on_seed_and_identity_and_are_not_all_zero() -> None:
    assert draw.hexadecimal(1, 32, "a") == draw.hexadecimal(1, 32, "a") != draw.hexadecimal(2, 32, "a")
    assert len(draw.hexadecimal(1, 16, "a")) == 16
    assert int(draw.hexadecimal(1, 16, "a"), 16) > 0


@pytest.mark.parametrize(
    ("at", "day"),
    [("2026-11-01T15:59:59Z", "261101"), ("2026-11-01T16:00:00Z", "261102"), ("2026-11-02T15:59:59Z", "261102")],
)
def test_a_transaction_id_begins_with_the_services_day_and_has_sixteen_digits_more(at: str, day: str) -> None:
    found = draw.trxid(1, datetime.fromisoformat(at), "R1", "ref-1")
    assert (found[:6], len(found), found.isdigit()) == (day, 22, True)
    assert found != draw.trxid(1, datetime.fromisoformat(at), "R2", "ref-1")


def test_the_day_of_a_transaction_id_does_not_depend_on_the_one_before() -> None:
    times = ("2026-11-02T16:00:00Z", "2026-11-01T15:59:59Z", "2026-11-01T16:00:00Z", "2026-11-02T16:00:00Z")
    found = [draw.trxid(1, datetime.fromisoformat(at), "R1", "ref-1")[:6] for at in times]
    assert found == ["261103", "261101", "261102", "261103"]


def test_the_latest_notifications_are_kept_and_the_others_counted() -> None:
    log = NotificationLog(2)
    emails = [
        EmailNotification(at=START, kind=NotificationKind.VOID, reseller="R1", to=("a",), subject=f"{number}", text="")
        for number in range(4)
    ]
    for one in emails[:3]:
        log.add(one)
    assert ([one.subject for one in log], [one.n for one in reversed(log)]) == (["1", "2"], [3, 2])
    assert (len(log), log.left_out) == (2, 1)
    other = NotificationLog(2)
    other.restore(log, log.left_out)
    added = other.add(emails[3])
    assert (added.n, other.left_out, [one.subject for one in other]) == (4, 2, ["2", "3"])
