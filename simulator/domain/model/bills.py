"""Bills as billers present them (SPEC 2.6): the profile of a product's biller, and bills drawn from the seed.

A seed, product and account give the same bill in every run; only its due date follows the clock.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

import msgspec

from simulator.domain.model import draw
from simulator.domain.model.details import Detail
from simulator.domain.model.money import CENT, SERVICE_ZONE

T = TypeVar("T")


class NamePool(msgspec.Struct, frozen=True):
    """A pool of names in a language; any given name goes with any family name."""

    given: tuple[str, ...]
    family: tuple[str, ...]


class PersonPools(msgspec.Struct, frozen=True):
    """The parts of people's names, addresses and ids. No pool is empty; `births` are the first eight digits of identity
    numbers: date of birth as yymmdd and place of birth."""

    names: tuple[NamePool, ...]
    streets: tuple[str, ...]
    towns: tuple[str, ...]
    births: tuple[str, ...]

    def name(self, seed: int, *identity: str) -> str:
        """Return the name drawn for (seed, identity)."""
        pool = _pick(self.names, seed, identity, "language")
        return f"{_pick(pool.given, seed, identity, 'given')} {_pick(pool.family, seed, identity, 'family')}"

    def address(self, seed: int, *identity: str) -> str:
        """Return the address, on one line."""
        return f"{_pick(self.streets, seed, identity, 'street')}, {_pick(self.towns, seed, identity, 'town')}"

    def ic_number(self, seed: int, *identity: str) -> str:
        """Return the identity number: 12 digits without dashes."""
        return _pick(self.births, seed, identity, "birth") + draw.digits(seed, 4, *identity, "serial")


def _pick(pool: tuple[T, ...], seed: int, identity: tuple[str, ...], what: str) -> T:
    return pool[int(draw.fraction(seed, *identity, what) * len(pool))]


# Product, account (Ref-1), biller code: the bill's identity.
BillKey = tuple[str, str, str]

IC_NUMBER = "{ic_number}"
_LAST_DAY = 28  # valid in every month


class BillField(StrEnum):
    """The fields of SPEC 2.6 that only some billers return."""

    CUSTOMER = "CustomerName"
    OUTSTANDING = "Outstanding"
    BALANCE = "Balance"
    DATA = "Data"
    ADDRESS = "Address"
    E_BILL = "E-Bill"
    DUE_DATE = "DueDate"


class BillProfile(msgspec.Struct, frozen=True):
    """The bills of a product's biller. Amounts are drawn between `lowest` and `highest`.

    Account holders are drawn from `people`, which is called only when a bill needs a name. Texts in `custom_field` may
    contain `IC_NUMBER`.
    """

    biller_name: str
    returned: frozenset[BillField]
    lowest: Decimal
    highest: Decimal
    people: Callable[[], PersonPools]
    custom_field: object = None


class Bill(msgspec.Struct, frozen=True):
    """A bill; fields that its biller does not return are None. `due_date` is text when a scenario wrote it."""

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
    """The reasons for refusing a bill, as texts of the wire. A rule may also refuse with its own text."""

    PRODUCT = "unknown_product"
    UNAVAILABLE = "unavailable"
    SERVICE = "service_unavailable"
    BILLER = "invalid_biller_code"
    REF2 = "ref2_required"
    ACCOUNT = "invalid_account"
    AMOUNT = "invalid_amount"


@dataclass(frozen=True, slots=True)
class BillRefused:
    """The refusal of a bill. `label` is the text for the user when it differs from the text of `error`; `rule` is the
    rule that refused, if any; otherwise `detail` gives the cause."""

    error: BillError | str
    label: str = ""
    rule: str = ""
    detail: Detail | None = field(default=None, compare=False)


class BillThen(msgspec.Struct, frozen=True):
    """The effect of a `bills` rule: `changes` override fields of the drawn bill, or the look-up is refused."""

    changes: Mapping[str, object]
    refused: BillRefused | None = None


def draw_bill(profile: BillProfile, biller_name: str, key: BillKey, seed: int, now: datetime) -> Bill:
    identity = ("bill", *key)
    returned, people = profile.returned, profile.people
    return Bill(
        biller_name=biller_name,
        customer_name=people().name(seed, *identity) if BillField.CUSTOMER in returned else None,
        outstanding=_amount(profile.lowest, profile.highest, seed, identity, "outstanding")
        if BillField.OUTSTANDING in returned
        else None,
        balance=str(_amount(Decimal(0), Decimal(50), seed, identity, "balance"))
        if BillField.BALANCE in returned
        else None,
        data=f"{_amount(Decimal(0), Decimal(30), seed, identity, 'data')} GB" if BillField.DATA in returned else None,
        address=people().address(seed, *identity) if BillField.ADDRESS in returned else None,
        e_bill=f"https://bills.example.com/{draw.uuid(seed, *identity)}.pdf" if BillField.E_BILL in returned else None,
        custom_field=_filled(profile.custom_field, lambda: people().ic_number(seed, *identity)),
        due_date=_due_date(seed, identity, now) if BillField.DUE_DATE in returned else None,
    )


def _filled(value: object, holder: Callable[[], str]) -> object:
    """Return `value` with `IC_NUMBER` in its texts replaced by the holder's identity number."""
    if isinstance(value, str):
        return value.replace(IC_NUMBER, holder()) if IC_NUMBER in value else value
    if isinstance(value, list):
        return [_filled(item, holder) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, holder) for key, item in value.items()}
    return value


def _amount(low: Decimal, high: Decimal, seed: int, identity: tuple[str, ...], what: str) -> Decimal:
    """Draw whole cents from `low` to `high`, inclusive."""
    steps = int((high - low) / CENT) + 1
    return low.quantize(CENT) + int(draw.digits(seed, 16, *identity, what)) % steps * CENT


def _due_date(seed: int, identity: tuple[str, ...], now: datetime) -> date:
    """Return the next occurrence of the bill's day of the month, today included."""
    today = now.astimezone(SERVICE_ZONE).date()
    day = int(draw.fraction(seed, *identity, "day") * _LAST_DAY) + 1
    if day >= today.day:
        return today.replace(day=day)
    return (today.replace(day=_LAST_DAY) + timedelta(days=7)).replace(day=day)


class BillFound(msgspec.Struct, frozen=True, gc=False):
    """The bill found; `rule` is the rule that defined it; `detail` names ignored parts of the request."""

    bill: Bill
    rule: str
    detail: Detail | None = None
