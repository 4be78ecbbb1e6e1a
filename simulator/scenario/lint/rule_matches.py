"""Lint of rules that no request or payment meets: methods, paths and fields that the service lacks, and products and
amounts that the catalog lacks."""

from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from functools import cache

import msgspec

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.domain.model.catalog import Catalog, Product
from simulator.domain.model.money import CENT, ZERO, is_bounded
from simulator.domain.model.pricing import amount_range
from simulator.domain.model.scenario import Scenario
from simulator.scenario.lint.conditions import (
    ABOVE_OUTSTANDING,
    STAR,
    Alternative,
    Conditions,
    Values,
    When,
    count,
    excludes,
    values,
)
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.matchers import AMOUNT, BODY_FACTS, PATH, number
from simulator.scenario.sections.rule_sections import listed_values

FIELDS_COUNTED = BODY_FACTS | {"trxid"}  # values of `per` that only some endpoints have
FIELDS = {"new": "refid"}  # facts whose field has another name


def reached(conditions: Conditions) -> list[Endpoint]:
    """Return the endpoints that certain methods and paths may meet. Faults apply only to requests to an endpoint."""
    found = endpoints()
    for condition in conditions:
        if condition.key[0] == "method":
            found = tuple(endpoint for endpoint in found if condition.admits.test(endpoint.method))
        if condition.key[0] == "path":
            found = tuple(endpoint for endpoint in found if may_have(endpoint, condition.admits))
    return list(found)


def may_have(endpoint: Endpoint, path: Values) -> bool:
    """Return True unless certainly no path of the endpoint matches."""
    if path.listed is not None:
        return any(endpoint.has_path(str(text)) for text in path.listed)
    return not excludes(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


@cache
def _paths(endpoint: Endpoint) -> Values:
    """Return a superset of the endpoint's paths."""
    return values(endpoint.path.partition("{")[0] + STAR, PATH)


def lint_request(item: ValueReader, when: When) -> None:
    """Report conditions that no request to the service meets."""
    for at in (item["when"], *(branch.at for branch in when.branches)):
        if unknown_methods(listed_values(at["method"])) or unknown_paths(listed_values(at["path"])):
            return
    for alternative in when.alternatives:
        _lint_alternative(alternative)
    per, possible = count(item, "per"), reached(when.conditions)
    if per.text() in FIELDS_COUNTED and not any(per.text() in endpoint.fields for endpoint in possible):
        per.problem("impossible", _lacking(possible, per.text()))


def unknown_methods(named: Iterable[ValueReader], others: Collection[str] = ()) -> bool:
    """Report methods that neither the service nor `others` has; return whether there were any."""
    methods = sorted({endpoint.method for endpoint in endpoints()})
    unknown = [value for value in named if value.text().upper() not in (*methods, *others)]
    for value in unknown:
        hint = suggestion(value.text().upper(), methods) or f"; its methods are {', '.join(methods)}"
        value.problem("unknown_method", f"the service has no method {shown(value.text())}{hint}")
    return bool(unknown)


def unknown_paths(named: Iterable[ValueReader]) -> bool:
    """Report paths that no endpoint has; return whether there were any."""
    paths = list(dict.fromkeys(endpoint.path for endpoint in endpoints()))
    unknown = [value for value in named if not is_path_of_service(value.text())]
    for value in unknown:
        text, query = value.text(), "; write what follows the '?' as 'query'" if "?" in value.text() else ""
        value.problem("unknown_path", f"the service has no path {shown(text)}{query or suggestion(text, paths)}")
    return bool(unknown)


def is_path_of_service(matcher: object) -> bool:
    """Return True unless certainly no path of the service matches."""
    path = values(matcher, PATH)
    return any(may_have(endpoint, path) for endpoint in endpoints())


def _lint_alternative(alternative: Alternative) -> None:
    """Report a method that the path does not take, or else the first parameter or field that no possible endpoint has.
    A condition beside `any` is reported at the item of `any`."""
    possible = reached(alternative.whole)
    if not possible:
        paths = [condition.admits for condition in alternative.whole if condition.key[0] == "path"]
        taken = sorted({each.method for each in endpoints() if all(may_have(each, path) for path in paths)})
        text = f"the path takes {', '.join(taken)}" if taken else "the service has no such path"
        alternative.at["method" if taken else "path"].problem("impossible", f"no request matches: {text}")
        return
    for condition in alternative.whole:
        key, name = condition.key
        is_query = key == "query"
        field = name if is_query else FIELDS.get(key, key)
        absent = None if key in ("query", "extras", "new") else ""
        if not (is_query or key in BODY_FACTS) or condition.admits.test(absent):
            continue
        if not any(field in _members(each, is_query) for each in possible):
            place = condition.at if condition in alternative.own else alternative.at
            place.problem("impossible", _lacking(possible, field, is_query), at_key=is_query)
            return


def _members(endpoint: Endpoint, is_query: bool) -> Collection[str]:
    return endpoint.query if is_query else endpoint.fields


def _lacking(possible: list[Endpoint], name: str, is_query: bool = False) -> str:
    """Return the message about a parameter or field: a similar name, or else the endpoints that have it."""
    lacking = f"none of the {len(possible)} endpoints that this rule matches has" if len(possible) > 1 else ""
    text = f"no request matches: {lacking or f'{possible[0]} has no'} {'parameter ' * is_query}{name!r}"
    if hint := suggestion(name, {known for one in possible for known in _members(one, is_query)}):
        return text + hint
    having = sorted(str(endpoint) for endpoint in endpoints() if name in _members(endpoint, is_query))
    return f"{text}; {', '.join(having)} {'have' if len(having) > 1 else 'has'} it" if having else text


OF_PAYMENTS = ("payments", "voids", "disputes")  # rules about payments, whose amount was accepted


class _Need(msgspec.Struct, frozen=True):
    """A property that a section's products need, the message about a product without it, and the word for products
    with it."""

    has: Callable[[Product], bool]
    code: str
    lacks: str
    having: str


BILLS = _Need(lambda product: product.bill is not None, "no_bills", "{} has no bills", "with bills")
NEEDS: Mapping[str, _Need] = {
    "voids": _Need(lambda product: product.voidable, "not_voidable", "payments of {} cannot be voided", "voidable"),
    "bills": BILLS,
}


def lint_products(section: str, when: When, scenario: Scenario) -> None:
    """Report products and amounts that the rule, or an item of its `any`, never meets."""
    for alternative in when.alternatives:
        _lint_sold(section, alternative, scenario)


def _lint_sold(section: str, alternative: Alternative, scenario: Scenario) -> None:
    catalog = scenario.catalog
    asked = [each for each in alternative.whole if each.key == ("product", "")]
    matched = [each for each in catalog.products.values() if all(name.admits.test(each.code) for name in asked)]
    if not catalog.products:
        return
    if asked and section in NEEDS and _lint_need(NEEDS[section], asked[0].at, matched, catalog):
        return
    above = next((each.at for each in alternative.whole if each.key == ABOVE_OUTSTANDING), None)
    if matched and above is not None and not any(map(BILLS.has, matched)):
        lacks = BILLS.lacks.format(", ".join([each.code for each in matched]))
        above.problem(BILLS.code, f"nothing is outstanding: {lacks}")
        return
    takes_prices = scenario.assume.get("price-amount") == "taken"
    amount = next((each for each in alternative.own if each.key == ("amount", "")), None)
    if matched and amount is not None and section in OF_PAYMENTS and not takes_prices:
        _lint_amount(amount.at, amount.admits, matched)


def _lint_need(need: _Need, entry: ValueReader, matched: list[Product], catalog: Catalog) -> bool:
    """Report products without the property that the section needs; return whether there were any."""
    named = listed_values(entry)
    found = [catalog.products[code.text()] for code in named if code.text() in catalog.products]
    lacking = {product.code for product in found if not need.has(product)}
    having = ", ".join([code for code, product in catalog.products.items() if need.has(product)])
    others = f"; {need.having}: {having}" if having else ""
    for value in named:
        if value.text() in lacking:
            value.problem(need.code, f"nothing matches: {need.lacks.format(value.text())}{others}")
    if not named and not any(map(need.has, matched)):
        lacks = need.lacks.format(", ".join([product.code for product in matched])) if matched else "no product matches"
        entry.problem(need.code, f"nothing matches: {lacks}{others}")
        return True
    return bool(lacking)


def _lint_amount(entry: ValueReader, asked: Values, products: list[Product]) -> None:
    """Report amounts that none of the matched products is sold at."""
    sold = [_sold(product) for product in products]
    named = listed_values(entry)
    unsold = [code for code in named if not any(each.has(number(code.text())) for each in sold)]
    for value in unsold:
        value.problem("not_sold", f"no payment has this amount: {_offer(products, sold)}")
    if not unsold and not any(each.may_have(asked) for each in sold):
        entry.problem("not_sold", f"no payment has such an amount: {_offer(products, sold)}")


def _offer(products: list[Product], sold: "list[_Sold]") -> str:
    if len(products) > 1:
        return f"{', '.join([product.code for product in products])} have other amounts"
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
            return ", ".join([f"{part:f}" for part in parts["in"]]) or "no amount"
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
        sold = {option.denomination for found in lists for option in found if option.denomination is not None}
        return _Sold(values(sorted(one for one in sold if low <= one and (high is None or one <= high)), AMOUNT))
    unit = Decimal(1) if field.type == "number" else CENT
    bounds = {"min": max(low, unit)} | ({"max": high} if high is not None else {})
    return _Sold(values(bounds, AMOUNT), unit)


def _widest(product: Product) -> tuple[Decimal, Decimal | None]:
    """Return the lowest minimum and the highest maximum; a biller may have its own."""
    options = [one for found in (*product.options.values(), *product.options_for.values()) for one in found]
    ranges = [
        amount_range(product),
        *(amount_range(product, option) for option in options if option.min_amount or option.max_amount),
    ]
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    low = ZERO if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return low, high
