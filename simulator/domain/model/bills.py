"""Bills as billers present them (SPEC 2.6): what a product's biller tells, and a bill drawn from the seed.

The same seed, product and account give the same bill in every run; only its due date follows the clock.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from simulator.domain.model import draw
from simulator.domain.model.details import Detail
from simulator.domain.model.money import CENT, SERVICE_ZONE
from simulator.domain.model.people import PersonPools

# Product, account (Ref-1), biller code: whose bill it is.
BillKey = tuple[str, str, str]

IC_NUMBER = "{ic_number}"
_DAY_MAX = 28  # every month has it


class BillField(StrEnum):
    """The fields of SPEC 2.6 that some billers return and others do not."""

    CUSTOMER = "CustomerName"
    OUTSTANDING = "Outstanding"
    BALANCE = "Balance"
    DATA = "Data"
    ADDRESS = "Address"
    E_BILL = "E-Bill"
    DUE_DATE = "DueDate"


@dataclass(frozen=True, slots=True)
class BillProfile:
    """What a product's biller presents. Amounts are drawn between `lowest` and `highest`.

    Account holders are drawn from `people`, which is called when a bill tells something of one. A text in
    `custom_field` may hold `IC_NUMBER`.
    """

    biller_name: str
    told: frozenset[BillField]
    lowest: Decimal
    highest: Decimal
    people: Callable[[], PersonPools]
    custom_field: object = None


@dataclass(frozen=True, slots=True)
class Bill:
    """A bill; what its biller does not tell is None. `due_date` is text when a scenario wrote it."""

    biller_name: str
    customer_name: str | None = None
    outstanding: Decimal | None = None
    balance: str | None = None
    data: str | None = None
    address: str | None = None
    e_bill: str | None = None
    custom_field: object = None
    due_date: date | str | None = None
    message: str | None = None
    is_valid: bool | None = True
    validity_message: str | None = None


class BillError(StrEnum):
    """Why there is no bill; the texts are the wire's. A rule may also refuse with a text of its own."""

    PRODUCT = "unknown_product"
    UNAVAILABLE = "unavailable"
    SERVICE = "service_unavailable"
    BILLER = "invalid_biller_code"
    REF2 = "ref2_required"
    ACCOUNT = "invalid_account"
    AMOUNT = "invalid_amount"


@dataclass(frozen=True, slots=True)
class BillRefused:
    """No bill. `label` is what to show the user, when it differs from what `error` says; `rule` is the rule that
    refused, if one did, and else `detail` says why."""

    error: BillError | str
    label: str = ""
    rule: str = ""
    detail: Detail | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BillThen:
    """What a rule of `bills` does: `changes` are laid over the drawn bill, or the look-up is refused."""

    changes: Mapping[str, object]
    refused: BillRefused | None = None


def drawn_bill(profile: BillProfile, biller_name: str, key: BillKey, seed: int, now: datetime) -> Bill:
    """The bill that the seed decides."""
    identity = ("bill", *key)
    told, people = profile.told, profile.people
    return Bill(
        biller_name=biller_name,
        customer_name=people().name(seed, *identity) if BillField.CUSTOMER in told else None,
        outstanding=_outstanding(profile, seed, identity) if BillField.OUTSTANDING in told else None,
        balance=str(_amount(Decimal(0), Decimal(50), seed, identity, "balance")) if BillField.BALANCE in told else None,
        data=f"{_amount(Decimal(0), Decimal(30), seed, identity, 'data')} GB" if BillField.DATA in told else None,
        address=people().address(seed, *identity) if BillField.ADDRESS in told else None,
        e_bill=f"https://bills.example.com/{draw.uuid(seed, *identity)}.pdf" if BillField.E_BILL in told else None,
        custom_field=_filled(profile.custom_field, lambda: people().ic_number(seed, *identity)),
        due_date=_due_date(seed, identity, now) if BillField.DUE_DATE in told else None,
    )


def _outstanding(profile: BillProfile, seed: int, identity: tuple[str, ...]) -> Decimal:
    return _amount(profile.lowest, profile.highest, seed, identity, "outstanding")


def _filled(value: object, holder: Callable[[], str]) -> object:
    """`value` with the holder's identity number wherever a text in it asks for that."""
    if isinstance(value, str):
        return value.replace(IC_NUMBER, holder()) if IC_NUMBER in value else value
    if isinstance(value, list):
        return [_filled(item, holder) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, holder) for key, item in value.items()}
    return value


def _amount(low: Decimal, high: Decimal, seed: int, identity: tuple[str, ...], what: str) -> Decimal:
    """Whole cents from `low` to `high`."""
    steps = int((high - low) / CENT) + 1
    return low.quantize(CENT) + int(draw.digits(seed, 16, *identity, what)) % steps * CENT


def _due_date(seed: int, identity: tuple[str, ...], now: datetime) -> date:
    """The next time that the bill's own day of the month comes, today included."""
    today = now.astimezone(SERVICE_ZONE).date()
    day = int(draw.fraction(seed, *identity, "day") * _DAY_MAX) + 1
    if day >= today.day:
        return today.replace(day=day)
    return (today.replace(day=_DAY_MAX) + timedelta(days=7)).replace(day=day)
