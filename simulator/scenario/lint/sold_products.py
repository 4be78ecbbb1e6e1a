"""Lint of a rule's products and amounts: whether the catalog has voidable products, bills and prices that match."""

from collections.abc import Callable, Mapping
from decimal import Decimal

import msgspec

from simulator.domain.model.catalog import Catalog, Product
from simulator.domain.model.money import CENT, ZERO, is_bounded
from simulator.domain.model.pricing import amount_range
from simulator.domain.model.scenario import Scenario
from simulator.scenario.lint.admitted_values import Values, excludes, values
from simulator.scenario.lint.conditions import ABOVE_OUTSTANDING, Alternative, When
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import AMOUNT, number
from simulator.scenario.sections.rule_sections import listed_values

NAMED_MAX = 6
OF_PAYMENTS = ("payments", "voids", "disputes")  # rules about payments, whose amount was accepted


class _Need(msgspec.Struct, frozen=True):
    """A property that a section's products need, and the message about a product without it."""

    has: Callable[[Product], bool]
    code: str
    lacks: str
    others: str

    def hint(self, catalog: Catalog) -> str:
        """Return the products that have the property."""
        able = [one.code for one in catalog.products.values() if self.has(one)]
        return self.others.format(_some(able)) if able else ""


BILLS = _Need(lambda product: product.bill is not None, "no_bills", "{} has no bills", "; {} have them")
NEEDS: Mapping[str, _Need] = {
    "voids": _Need(lambda product: product.voidable, "not_voidable", "payments of {} cannot be voided", "; {} can"),
    "bills": BILLS,
}


def lint_products(section: str, when: When, scenario: Scenario) -> None:
    """Report products and amounts that the rule, or an item of its `any`, never meets."""
    for alternative in when.alternatives:
        _lint_alternative(section, alternative, scenario)


def _lint_alternative(section: str, one: Alternative, scenario: Scenario) -> None:
    catalog = scenario.catalog
    asked = [each for each in one.whole if each.key == ("product", "")]
    matched = [each for each in catalog.products.values() if all(name.admits.test(each.code) for name in asked)]
    if not catalog.products:
        return
    if asked and section in NEEDS and _lint_need(NEEDS[section], asked[0].at, matched, catalog):
        return
    above = next((each.at for each in one.whole if each.key == ABOVE_OUTSTANDING), None)
    if matched and above is not None and not any(map(BILLS.has, matched)):
        lacks = BILLS.lacks.format(_some([each.code for each in matched]))
        above.problem(BILLS.code, f"nothing is outstanding: {lacks}{BILLS.hint(catalog)}")
        return
    takes_prices = scenario.assume.get("price-amount") == "taken"
    amount = next((each for each in one.own if each.key == ("amount", "")), None)
    if matched and amount is not None and section in OF_PAYMENTS and not takes_prices:
        _lint_amount(amount.at, amount.admits, matched)


def _lint_need(need: _Need, entry: ValueReader, matched: list[Product], catalog: Catalog) -> bool:
    """Report products without the property that the section needs; return whether there were any."""
    named = listed_values(entry)
    found = [catalog.products[one.text()] for one in named if one.text() in catalog.products]
    lacking = {one.code for one in found if not need.has(one)}
    for value in named:
        if value.text() in lacking:
            text = f"nothing matches: {need.lacks.format(value.text())}{need.hint(catalog)}"
            value.problem(need.code, text)
    if not named and not any(map(need.has, matched)):
        lacks = need.lacks.format(_some([one.code for one in matched])) if matched else "no product matches"
        entry.problem(need.code, f"nothing matches: {lacks}{need.hint(catalog)}")
        return True
    return bool(lacking)


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED_MAX]) + (" and others" if len(names) > NAMED_MAX else "")


def _lint_amount(entry: ValueReader, asked: Values, products: list[Product]) -> None:
    """Report amounts that none of the matched products is sold at."""
    sold = [_sold(one) for one in products]
    named = listed_values(entry)
    unsold = [one for one in named if not any(each.has(number(one.text())) for each in sold)]
    for value in unsold:
        value.problem("not_sold", f"no payment has this amount: {_offer(products, sold)}")
    if not unsold and not any(each.may_have(asked) for each in sold):
        entry.problem("not_sold", f"no payment has such an amount: {_offer(products, sold)}")


def _offer(products: list[Product], sold: "list[_Sold]") -> str:
    if len(products) > 1:
        return f"none of {_some([one.code for one in products])} is sold at it"
    return f"{products[0].code} is sold at {sold[0]}"


class _Sold(msgspec.Struct, frozen=True):
    """The amounts of a product: those that `admits` has, and of these multiples of `unit` alone."""

    admits: Values
    unit: Decimal | None = None

    def has(self, amount: Decimal | None) -> bool:
        """Return True if an amount is sold."""
        if amount is None or not self.admits.test(amount):
            return False
        return self.unit is None or (is_bounded(amount) and amount % self.unit == 0)

    def may_have(self, asked: Values) -> bool:
        """Return True unless certainly none of the requested amounts is sold."""
        if asked.listed is not None:
            return any(self.has(number(one)) for one in asked.listed)
        return not excludes(asked, self.admits)

    def __str__(self) -> str:
        parts = dict(self.admits.parts)
        if "in" in parts:
            return _some([f"{one:f}" for one in parts["in"]]) or "no amount"
        step = {1: " in whole numbers", CENT: " in whole sen"}.get(self.unit or ZERO, "")
        return f"{parts['min']:f} to {parts['max']:f}{step}" if "max" in parts else f"{parts['min']:f} and more{step}"


def _sold(product: Product) -> _Sold:
    """Return the accepted amounts of a product, for some account and some biller."""
    field, (low, high) = product.pricing, _widest(product)
    if field is None:
        return _Sold(values({"min": ZERO}, AMOUNT))
    if field.type == "select":
        of_accounts = (found for (id_, _), found in product.options_for.items() if id_ == field.id)
        lists = [product.options.get(field.id, ()), *of_accounts]
        sold = {one.denomination for found in lists for one in found if one.denomination is not None}
        return _Sold(values(sorted(one for one in sold if low <= one and (high is None or one <= high)), AMOUNT))
    unit = Decimal(1) if field.type == "number" else CENT
    bounds = {"min": max(low, unit)} | ({"max": high} if high is not None else {})
    return _Sold(values(bounds, AMOUNT), unit)


def _widest(product: Product) -> tuple[Decimal, Decimal | None]:
    """Return the lowest minimum and the highest maximum; a biller may have its own."""
    options = [one for found in (*product.options.values(), *product.options_for.values()) for one in found]
    ranges = [
        amount_range(product),
        *(amount_range(product, one) for one in options if one.min_amount or one.max_amount),
    ]
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    low = ZERO if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return low, high
