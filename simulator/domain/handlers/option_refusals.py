"""Why an option, or the account of one, cannot be bought: whether it exists, to whom it is offered, and what would have
been right (SPEC 2.2, 2.16)."""

from collections.abc import Mapping

from simulator.domain.handlers.checks import Draft, offered_to, offered_whom
from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.likeness import nearest

EVERYBODY: Mapping[str, str] = {}


def bad_option_of(draft: Draft, field_id: str, code: str, name: str) -> Detail:
    """Why a payment cannot have the option with this code, which it sent as `name`."""
    whom = offered_whom(draft, field_id)
    return bad_option(draft.product, field_id, code, name, offered_to(draft, field_id), whom)


def bad_option(
    product: Product, field_id: str, code: str, name: str, offered: OptionList, whom: Mapping[str, str] = EVERYBODY
) -> Detail:
    """The same for what is `offered` to `whom`, inactive options included: the name and the value that the options of
    this field depend on, empty for one with the same options for everybody."""
    if code in offered.by_code:
        return detail(DetailKind.INACTIVE_OPTION, name=name, code=code)
    known = tuple(option.code for option in offered.active)
    if whom and not known:
        return detail(DetailKind.NOTHING_OFFERED, name=name, product=product.code, whom=whom)
    if whom and any(code in every.by_code for every in _lists(product, field_id)):
        return detail(DetailKind.OPTION_NOT_OFFERED, name=name, code=code, whom=whom, offered=known)
    likely = nearest(code, known)
    listed = {} if likely else {"offered" if whom else "known": known}
    return detail(DetailKind.NO_OPTION, name=name, product=product.code, code=code, nearest=likely, whom=whom, **listed)


def bad_account_of_option(draft: Draft, field_id: str, sent: Mapping[str, str], suitable: list[Option]) -> Detail:
    """Why the account is none of the `suitable` options: those on sale whose code the payment `sent`, by the names of
    its extras. `field_id` is the field of these options."""
    product, whom = draft.product, offered_whom(draft, field_id)
    code = next(iter(sent.values()), "")
    accounts = tuple(option.account_number for option in suitable if option.account_number)
    facts: dict[str, object] = {"account": draft.account, "whose": whom or product.code}
    facts |= {"code": code, "accounts": accounts} if code else {"all_accounts": accounts}
    same = [option for option in offered_to(draft, field_id) if option.account_number == draft.account]
    if found := next((option.code for option in same if option.is_active), ""):
        return detail(DetailKind.ACCOUNT_OF_ANOTHER, found=found, name=next(iter(sent)), **facts)
    if same:
        return detail(DetailKind.ACCOUNT_OF_INACTIVE, found=same[0].code, **facts)
    owner = _owner(product, field_id, draft.account)
    return detail(DetailKind.ACCOUNT_OF_NONE, owner={next(iter(whom)): owner} if whom and owner else None, **facts)


def _lists(product: Product, field_id: str) -> list[OptionList]:
    """Every list of a field's options: the field's own, and those written for one account number."""
    written = [options for (field, _), options in product.options_for.items() if field == field_id]
    return [product.options[field_id], *written]


def _owner(product: Product, field_id: str, account: str) -> str:
    """The account number whose written options have this account; empty when none has."""
    for (field, number), options in product.options_for.items():
        if field == field_id and any(option.account_number == account for option in options):
            return number
    return ""
