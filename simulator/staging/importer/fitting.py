"""Fits a catalog item to a scenario: builds it, removes the values that the builder rejects, and rebuilds it.

A required value that cannot be kept gets a default; an invalid code or id removes its object.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from simulator.contract.validator import validator
from simulator.domain.commands import CreatePayment
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Catalog, Product
from simulator.domain.model.money import parse_amount, parse_number
from simulator.domain.model.transactions import PaymentRefused, Reason
from simulator.domain.sandbox import Sandbox
from simulator.scenario.build import build
from simulator.scenario.lint.linter import lint
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.scenario_files import OWN_FILE
from simulator.scenario.reading.yaml_parser import load_object

ROUNDS_MAX = 50
STUB = {"name": "x", "processing_time": "instant", "discount": {"type": "percentage", "value": 0}}


def fit_product(item: dict[str, Any]) -> Product | None:
    """Remove invalid parts of a product. Return the built product, or None when no valid part is left."""
    catalog = {"products": [item]}
    found = _fit(catalog, "catalog.products")
    return next(iter(found.products.values()), None) if found is not None else None


def fit_groups(groups: list[Any], codes: Iterable[str]) -> Catalog | None:
    """Remove invalid parts of the tree, and return the built catalog; `codes` are the product codes."""
    return _fit({"groups": groups, "products": [STUB | {"code": code} for code in codes]}, "catalog.groups")


def _fit(catalog: dict[str, Any], within: str) -> Catalog | None:
    document = {"catalog": catalog}
    for _ in range(ROUNDS_MAX):
        try:
            return build(load_object(document, bounds=OWN_FILE), "import").catalog
        except ScenarioError as error:
            problems = [problem for problem in error.problems if problem.path.startswith(within)]
        remove_problems(document, problems)
        for product in catalog["products"]:
            _complete(product)
    return None


def _complete(product: dict[str, Any]) -> None:
    """Add missing required values to a product and its fields."""
    if "code" in product:
        for key, usual in {**STUB, "name": product["code"]}.items():
            product.setdefault(key, usual)
    for form in product.get("fields", ()):
        if "id" in form:
            form.setdefault("label", form["id"])


def remove_problems(document: dict[str, Any], problems: Sequence[Problem]) -> None:
    """Remove the value of each problem. Later list items go first, so that the other indexes stay valid."""
    found = [place for problem in problems if (place := _place(document, problem.path))]
    unique = {(id(holder), key): (holder, key) for holder, key in found}.values()
    for holder, key in sorted(unique, key=lambda place: place[1] if isinstance(place[1], int) else 0, reverse=True):
        del holder[key]


def _place(value: Any, path: str) -> tuple[Any, str | int] | None:
    """Return the holder and the key of a path such as `catalog.products[0].fields`; None if it no longer exists."""
    place = None
    while path:
        key = _first(value, path)
        if key is None:
            return None
        place, value = (value, key), value[key]
        path = path[len(f"[{key}]" if isinstance(key, int) else key) :].removeprefix(".")
    return place


def _first(value: Any, path: str) -> str | int | None:
    """Return the key or index with which a path begins. Keys may have dots in them: the longest key wins."""
    if isinstance(value, list):
        index = path[1:].partition("]")[0]
        return int(index) if path.startswith("[") and index.isdigit() and int(index) < len(value) else None
    keys = value if isinstance(value, dict) else ()
    fitting = [key for key in keys if path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "[")]
    return max(fitting, key=len, default=None)


START = datetime(2026, 11, 1, tzinfo=UTC)
RICH = "999999999999"
SCHEMA = "topup-request"


class Probe:
    """A sandbox with a catalog, a rich reseller and no rules."""

    def __init__(self, reseller: str, catalog: dict[str, Any]) -> None:
        document = {"resellers": [{"code": reseller, "balance": RICH}], "catalog": catalog}
        scenario = build(load_object(document, bounds=OWN_FILE), "probe")
        self._sandbox = Sandbox(scenario, scenario.seed, START)
        self._products = scenario.catalog.products
        self._reseller = reseller
        self._count = 0

    def refusal(self, product: str, account: str, amount: object, extras: dict[str, Any]) -> Reason | None:
        """Return why this payment is refused regardless of the wallet; None when it is created."""
        self._count += 1
        members: dict[str, Any] = {
            "refid": f"probe-{self._count}",
            "product": product,
            "account": account,
            "amount": amount,
        }
        if extras:
            members["extras"] = extras
        if not validator(SCHEMA).is_valid(members):
            return Reason.REQUEST
        answer = self._sandbox.apply(CreatePayment(reseller=self._reseller, **members), START)
        return answer.reason if isinstance(answer, PaymentRefused) else None

    def is_too_dear(self, product: str, amount: object, balance: object) -> bool:
        """Return whether a wallet with this balance cannot pay for it; True as well for an unknown balance."""
        sold, asked, held = self._products.get(product), parse_amount(amount), parse_number(balance)
        if sold is None or asked is None or held is None:
            return True
        return pricing.cost(sold, asked) > held


SECTIONS = ("payments", "voids")
_RULE = re.compile(rf"({'|'.join(SECTIONS)})\[([0-9]+)\]")
# Findings about a service's real properties, which a recording keeps.
_FACTS = frozenset({"foreign_currency", "always_interrupted"})
# A rule still works without these details.
_DETAIL = re.compile(r"\.(statusCode|remarks)$")


def fit(document: dict[str, Any]) -> int:
    """Remove the values that `check` rejects from a scenario, in place. Return how many rules were removed."""
    removed = 0
    for _ in range(ROUNDS_MAX):
        problems = _problems(document)
        if not problems:
            return removed
        whole = {
            found.groups() for problem in problems if (found := _RULE.match(problem.path)) and not _is_detail(problem)
        }
        rest = [problem for problem in problems if not _RULE.match(problem.path) or _is_detail(problem)]
        remove_problems(document, rest)
        for section, place in sorted(whole, key=lambda rule: int(rule[1]), reverse=True):
            del document[section][int(place)]
        removed += len(whole)
        for section in (*SECTIONS, "network", "schedule"):
            if section in document and not document[section]:
                del document[section]
    return removed + sum(len(document.pop(section, ())) for section in SECTIONS)


def _is_detail(problem: Problem) -> bool:
    return _DETAIL.search(problem.path) is not None


def _problems(document: dict[str, Any]) -> list[Problem]:
    loaded = load_object(document, bounds=OWN_FILE)
    scenario, found = None, tuple[Problem, ...]()
    try:
        scenario = build(loaded, "record")
    except ScenarioError as error:
        found = error.problems
    return [problem for problem in lint(loaded, found, scenario) if problem.code not in _FACTS]
