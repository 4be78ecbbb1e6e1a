"""Bills of a scenario: the profile of a product's biller, and the effect of a rule of `bills` on a look-up."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from simulator.domain.model.bills import (
    BillError,
    BillField,
    BillProfile,
    BillRefused,
    BillThen,
)
from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.templates import person_pools

RETURNED_BY_DEFAULT = (BillField.CUSTOMER, BillField.OUTSTANDING, BillField.ADDRESS, BillField.DUE_DATE)
LOWEST, HIGHEST = Decimal(20), Decimal(400)


def bill_profile(item: ValueReader) -> BillProfile | None:
    """Return the bills of a product's biller; None for a product without bills."""
    if not item.is_mapping:
        return None
    returns, outstanding = item["returns"], item["outstanding"]
    returned = [entry.text() for entry in returns.items()] if returns.is_given else RETURNED_BY_DEFAULT
    low, high = _cents(outstanding["min"], LOWEST), _cents(outstanding["max"], HIGHEST)
    if low > high:
        outstanding.problem("out_of_range", f"an outstanding amount from {low} to {high}: there is none")
    return BillProfile(
        biller_name=item["biller_name"].text(),
        returned=frozenset(field for field in BillField if field in returned),
        lowest=low,
        highest=max(low, high),
        people=person_pools,
        custom_field=item["custom_field"].plain,
    )


def _cents(item: ValueReader, usual: Decimal) -> Decimal:
    amount = item.amount(usual)
    if not is_whole_cents(amount):
        item.problem("bad_amount", f"an outstanding amount is in whole sen, not {amount}")
    return amount


def bill_then(item: ValueReader) -> BillThen:
    """Return the `then` of a bill rule: `bill`, which overrides the drawn bill, or `error`."""
    bill, error, label = item["bill"], item["error"], item["error_message"]
    if bill.is_given and error.is_given:
        error.problem("misplaced", "a look-up is answered with 'bill' or refused with 'error', not both", at_key=True)
    if item.is_given and not bill.is_given and not error.is_given:
        item.problem("missing_key", "a bill rule needs 'bill' or 'error'")
    if label.is_given and not error.is_given:
        label.problem("misplaced", "error_message goes with an error; write 'error' beside it", at_key=True)
    if error.is_given:
        return BillThen({}, BillRefused(_error(error.text()), label.text()))
    changes = {field: read(bill[key]) for key, (field, read) in FIELDS.items() if bill[key].is_given}
    return BillThen(MappingProxyType(changes))


def _error(text: str) -> BillError | str:
    """Return a known error by its name, else a custom text."""
    return next((error for error in BillError if error == text), text)


def _text(item: ValueReader) -> str | None:
    return None if item.is_null else item.text()


def _amount(item: ValueReader) -> Decimal | None:
    return None if item.is_null else _cents(item, Decimal(0))


def _boolean(item: ValueReader) -> bool | None:
    return None if item.is_null else item.boolean()


# The names of SPEC 2.6, the domain's names, and the readers.
FIELDS: Mapping[str, tuple[str, Callable[[ValueReader], object]]] = {
    "message": ("message", _text),
    "BillerName": ("biller_name", ValueReader.text),
    "CustomerName": ("customer_name", _text),
    "Outstanding": ("outstanding", _amount),
    "Balance": ("balance", _text),
    "Data": ("data", _text),
    "Address": ("address", _text),
    "E-Bill": ("e_bill", _text),
    "CustomField": ("custom_field", lambda item: item.plain),
    "DueDate": ("due_date", _text),
    "transaction_validity": ("is_valid", _boolean),
    "transaction_message": ("validity_message", _text),
}
