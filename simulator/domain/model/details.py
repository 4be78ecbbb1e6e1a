"""Details of refusals, ignored input and adjusted answers, as facts; `wire/diagnoses` renders them.

A detail is created only for a problem, so valid requests do not pay for it.
"""

from collections.abc import Mapping
from enum import StrEnum, auto

import msgspec

# The maximum number of similar problems that a diagnosis names.
NAMES_MAX = 5


class DetailKind(StrEnum):
    """The kinds of details; the facts of a kind appear in its sentence."""

    NO_PRODUCT = auto()
    BLANK_PRODUCT = auto()
    INACTIVE_PRODUCT = auto()
    NO_ACCOUNT = auto()
    ACCOUNT_PATTERN = auto()
    FOREIGN_ACCOUNT = auto()
    MISSING = auto()
    EXTRA_NO_TEXT = auto()
    EXTRA_PATTERN = auto()
    EXTRA_TOO_LARGE = auto()
    NO_OPTION = auto()
    INACTIVE_OPTION = auto()
    UNSUPPORTED_EXTRAS = auto()
    IGNORED_EXTRAS = auto()
    NO_NUMBER = auto()
    TOO_MANY_DIGITS = auto()
    NOT_POSITIVE = auto()
    NOT_WHOLE = auto()
    NO_CENTS = auto()
    NOT_SOLD = auto()
    NOTHING_SOLD = auto()
    TOO_LITTLE = auto()
    TOO_MUCH = auto()
    PRICE_AMOUNT = auto()
    PRICE_AMOUNT_TAKEN = auto()
    PRICE_OF_ANOTHER = auto()
    PLAN_MISMATCH = auto()
    PLAN_REQUIRED = auto()
    BALANCE = auto()
    REFID_EXISTS = auto()
    REFID_CONFLICT = auto()
    NO_TRANSACTION = auto()
    OTHER_REFERENCE = auto()
    OTHER_RESELLER = auto()
    REFID_IGNORED = auto()
    NOT_SUCCESSFUL = auto()
    CASE_EXISTS = auto()
    NOT_VOIDABLE = auto()
    NO_BILLS = auto()
    IGNORED_BILLER = auto()


class Detail(msgspec.Struct, frozen=True, gc=False):
    """A kind with its facts: texts, Decimals (amounts), `Money`, statuses, tuples of these, and mappings of field names
    to values. An empty fact omits the part of the sentence that would name it."""

    kind: DetailKind
    facts: Mapping[str, object]


def detail(kind: DetailKind, /, **facts: object) -> Detail:
    """Create a detail with these facts."""
    return Detail(kind=kind, facts=facts)
