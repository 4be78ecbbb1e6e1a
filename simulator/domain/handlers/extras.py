"""The extras that some products need besides account and amount (SPEC 4.11, "Extras by product kind").

A product's fulfillment lists its extras and the form field of each. The field defines the accepted values and whether
the extra is optional.

The plan code `extras.subproduct_code` names the option of the pricing field that a payment buys (rules 2 and 3 of SPEC
4.11). A product has plans when its fulfillment maps this extra from its pricing field. A plan code is checked before
the amount, so any mismatch is reported for the code. A missing code is reported after the amount was checked.
"""

from collections.abc import Mapping
from decimal import Decimal

from simulator.domain.handlers.checks import Draft, bad_option_of, chosen_options, named_plan, offered_to, offered_whom
from simulator.domain.model.catalog import FormField, Product, Source
from simulator.domain.model.details import NAMES_MAX, Detail, DetailKind, detail
from simulator.domain.model.likeness import nearest
from simulator.domain.model.money import TEXT_CHARS_MAX, decimal_text
from simulator.domain.model.pricing import PLAN_CODE, account_source, plan_field
from simulator.domain.model.transactions import Reason, Refusal

SECOND_REFERENCE = "ref2"

# The size of an extra's name and value. Nested values count the characters of their texts, and one per item.
EXTRA_SIZE_MAX = 1000


def check_extras(draft: Draft) -> Refusal | None:
    """Refuse a payment without a required extra, or with an extra that its form field does not accept."""
    sources = draft.product.fulfillment.extras
    if draft.extras and (wrong := _too_large(draft) or _rejected(draft)):
        return Refusal(Reason.EXTRAS, detail=wrong)
    if not sources:
        return None
    for name, source in sources.items():
        if wrong := _problem(draft, name, source):
            return Refusal(Reason.EXTRAS, detail=wrong)
    for option in chosen_options(draft):
        if option.needs_ref2 and not draft.extras.get(SECOND_REFERENCE):
            wrong = detail(DetailKind.MISSING, name=_path(SECOND_REFERENCE), biller=option.code)
            return Refusal(Reason.EXTRAS, detail=wrong)
    return _check_account_of_option(draft)


def kept_extras(draft: Draft) -> Mapping[str, object]:
    """Return the extras that a payment stores: the product's own extras, as option codes or bounded texts."""
    known = draft.product.fulfillment.extras
    if draft.extras.keys() <= known.keys():
        return draft.extras
    return {name: value for name, value in draft.extras.items() if name in known or _is_checked_plan(draft, name)}


def _is_checked_plan(draft: Draft, name: str) -> bool:
    return name == PLAN_CODE and _is_checked_anyway(draft)


def _too_large(draft: Draft) -> Detail | None:
    """Return the first oversized extra that the product does not have; `_problem` checks the product's own extras."""
    if draft.extras.keys() <= draft.product.fulfillment.extras.keys() or draft.state.assumes("extras-size", "stored"):
        return None
    for name in _unsupported(draft):
        if not _fits(name, draft.extras[name]) and not _is_checked_plan(draft, name):
            return detail(DetailKind.EXTRA_TOO_LARGE, name=_path(name), most=EXTRA_SIZE_MAX)
    return None


def _fits(name: str, value: object) -> bool:
    """Return whether an extra is within `EXTRA_SIZE_MAX`, inspecting no more than that size."""
    left = EXTRA_SIZE_MAX - len(name)
    if isinstance(value, str):
        return len(value) <= left
    waiting = [value]
    while waiting and left >= 0:
        each = waiting.pop()
        if isinstance(each, list | dict):
            left -= len(each)
            if left >= 0:
                waiting.extend(each if isinstance(each, list) else [*each, *each.values()])
        else:
            left -= len(each) if isinstance(each, str) else 1
    return left >= 0


def _rejected(draft: Draft) -> Detail | None:
    """Return the extras that the product does not have, where the scenario rejects them."""
    if not draft.state.assumes("unsupported-extras", "reject") or not (others := _unsupported(draft)):
        return None
    known = tuple(map(_path, draft.product.fulfillment.extras))
    names = tuple(map(_path, others))
    return detail(DetailKind.UNSUPPORTED_EXTRAS, product=draft.product.code, names=names, known=known)


def ignored_extras(draft: Draft) -> Detail | None:
    """Return the ignored extras, if any, with the names that were probably meant."""
    known = draft.product.fulfillment.extras
    if draft.extras.keys() <= known.keys() or draft.state.assumes("unsupported-extras", "reject"):
        return None
    ignored = [name for name in _unsupported(draft) if not _is_checked_plan(draft, name)]
    if not ignored:
        return None
    likely = dict.fromkeys(nearest(name, known) for name in ignored[:NAMES_MAX])
    meant = tuple(_path(name) for name in likely if name and name not in draft.extras)
    names = tuple(map(_path, ignored))
    return detail(DetailKind.IGNORED_EXTRAS, product=draft.product.code, names=names, nearest=meant)


def _unsupported(draft: Draft) -> list[str]:
    """Return the names of extras that the product does not have."""
    return sorted(draft.extras.keys() - draft.product.fulfillment.extras.keys())


def bad_extra(field: FormField | None, name: str) -> Detail:
    """Return the requirements for the extra called `name`."""
    return detail(DetailKind.EXTRA_PATTERN, name=name, pattern=field and field.pattern, message=field and field.message)


def extra_field(product: Product, name: str) -> FormField | None:
    """Return the form field of an extra; None when the product has no such extra."""
    source = product.fulfillment.extras.get(name)
    return _field(product, source) if source else None


def _problem(draft: Draft, name: str, source: Source) -> Detail | None:
    value, field = draft.extras.get(name), _field(draft.product, source)
    if value is None:
        if not field.required or source.omit_if_empty or field is plan_field(draft.product):
            return None  # `check_plan_needed` checks the plan code
        return detail(DetailKind.MISSING, name=_path(name), product=draft.product.code)
    if not isinstance(value, str):
        return detail(DetailKind.EXTRA_NO_TEXT, name=_path(name))
    if field.type == "select":
        # The plan code is checked together with the amount. A wrong value that the options depend on comes first.
        if field is plan_field(draft.product) or value in offered_to(draft, field.id).active.by_code:
            return None
        identity = account_source(draft.product, field.id)
        extras = draft.product.fulfillment.extras.items()
        wrong = next((_problem(draft, other, extra) for other, extra in extras if extra.from_field == identity), None)
        return wrong or bad_option_of(draft, field.id, value, _path(name))
    if not _fits(name, value):
        return detail(DetailKind.EXTRA_TOO_LARGE, name=_path(name), most=EXTRA_SIZE_MAX)
    return None if field.accepts is None or field.accepts(value) else bad_extra(field, _path(name))


def _path(name: str) -> str:
    return f"extras.{name}"


def _field(product: Product, source: Source) -> FormField:
    return next(field for field in product.fields if field.id == source.from_field)


def _check_account_of_option(draft: Draft) -> Refusal | None:
    """Refuse an account that does not belong to the selected option, where options have accounts. An identity may have
    several accounts. Magic accounts are accepted for every option."""
    product, source = draft.product, draft.product.fulfillment.account
    if source is None or source.path != "account_number" or draft.state.is_magic(draft.account):
        return None
    named = [name for name, extra in product.fulfillment.extras.items() if extra.from_field == source.from_field]
    sent = [code for name in named if isinstance(code := draft.extras.get(name), str)]
    options = offered_to(draft, source.from_field).active
    suitable = [option for option in options if all(code == option.code for code in sent)]
    if any(option.account_number == draft.account for option in suitable):
        return None
    reason = Reason.EXTRAS if draft.state.assumes("option-account", "Invalid_Extras") else Reason.ACCOUNT
    accounts = tuple(option.account_number for option in suitable if option.account_number)
    whose = offered_whom(draft, source.from_field) or product.code
    facts = {"account": draft.account, "code": "".join(sent[:1]), "whose": whose, "accounts": accounts}
    return Refusal(reason, detail=detail(DetailKind.FOREIGN_ACCOUNT, **facts))


def check_plan_code(draft: Draft) -> Refusal | None:
    """Refuse a plan code, if sent, that is not on sale at this amount. Codes are case-sensitive."""
    code = draft.extras.get(PLAN_CODE)
    if code is None or not (plan_field(draft.product) or _is_checked_anyway(draft)):
        return None
    plan = named_plan(draft)
    if plan is None:
        name, field = _path(PLAN_CODE), draft.product.pricing
        assert field is not None, "a product with plan codes has a pricing field"
        wrong = (
            bad_option_of(draft, field.id, code, name)
            if isinstance(code, str)
            else detail(DetailKind.EXTRA_NO_TEXT, name=name)
        )
        return _refuse_plan(Reason.PLAN_UNKNOWN, draft, wrong)
    if plan.denomination == draft.amount:
        return None
    wrong = detail(DetailKind.PLAN_MISMATCH, code=plan.code, denomination=plan.denomination, amount=draft.amount)
    return _refuse_plan(Reason.PLAN_MISMATCH, draft, wrong)


def check_plan_needed(draft: Draft) -> Refusal | None:
    """Refuse a payment without a plan code, unless exactly one plan has this amount and the code is optional."""
    product = draft.product
    if not product.fulfillment.extras or draft.extras.get(PLAN_CODE):
        return None
    field = plan_field(product)
    if field is None:
        return None
    assert draft.amount is not None, "the amount was checked before"
    sharing = offered_to(draft, field.id).by_denomination[draft.amount]
    if len(sharing) == 1 and not draft.state.assumes("plan-code-required", "always"):
        return None
    wrong = detail(DetailKind.PLAN_REQUIRED, amount=draft.amount, codes=tuple(plan.code for plan in sharing))
    return _refuse_plan(Reason.PLAN_REQUIRED, draft, wrong)


def _is_checked_anyway(draft: Draft) -> bool:
    """Return whether plan codes are checked although the product has no plans (knob `unsupported-extras`)."""
    field = draft.product.pricing
    if PLAN_CODE in draft.product.fulfillment.extras or field is None or field.type != "select":
        return False
    return draft.state.assumes("unsupported-extras", "check_plan_code")


def plan_remarks(reason: Reason, extras: Mapping[str, object], amount: Decimal) -> str:
    """Return the remarks of a refusal because of a plan code; empty for other reasons. Long codes are truncated."""
    code = str(extras.get(PLAN_CODE, ""))[:TEXT_CHARS_MAX]
    match reason:
        case Reason.PLAN_REQUIRED:
            return "several plans share this amount and a plan code is required"
        case Reason.PLAN_UNKNOWN:
            return f"unknown or inactive option code: {code}"
        case Reason.PLAN_MISMATCH:
            return f"option code does not match the amount: code {code}, amount {decimal_text(amount)}"
    return ""


def _refuse_plan(reason: Reason, draft: Draft, wrong: Detail) -> Refusal:
    assert draft.amount is not None
    return Refusal(reason, remarks=plan_remarks(reason, draft.extras, draft.amount), detail=wrong)
