"""Makes an item of a catalog fit a scenario: builds it, removes what the builder complains of, and builds it again.

What has to be there and cannot be kept gets a usual value, a code or an id takes its object with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.domain.model.catalog import Catalog, Product
from simulator.scenario.build import build
from simulator.scenario.reading.check import check
from simulator.scenario.reading.document import PROBLEMS_MAX, Problem, Report, ScenarioError
from simulator.scenario.reading.files import OWN_FILE
from simulator.scenario.reading.load import load_object

ROUNDS_MAX = 50
STUB = {"name": "x", "processing_time": "instant", "discount": {"type": "percentage", "value": 0}}


@dataclass(frozen=True, slots=True)
class _Place:
    """A member of an object, or an item of a list."""

    holder: Any
    key: str | int


def fit_product(item: dict[str, Any]) -> Product | None:
    """Remove from a product what a scenario cannot hold; the product as built, or None when nothing is left of it."""
    catalog = {"products": [item]}
    found = _fit(catalog, "catalog.products")
    return next(iter(found.products.values()), None) if found is not None else None


def fit_groups(groups: list[Any], codes: Iterable[str]) -> Catalog | None:
    """Remove from the tree what a scenario cannot hold; `codes` are those of the products."""
    return _fit({"groups": groups, "products": [STUB | {"code": code} for code in codes]}, "catalog.groups")


def _fit(catalog: dict[str, Any], within: str) -> Catalog | None:
    document = {"catalog": catalog}
    for _ in range(ROUNDS_MAX):
        try:
            return build(load_object(document, bounds=OWN_FILE), "import").catalog
        except ScenarioError as error:
            problems = [one for one in error.problems if one.path.startswith(within)]
        if len(problems) >= PROBLEMS_MAX:
            _fit_options(catalog)
        remove_problems(document, problems)
        for product in catalog["products"]:
            _complete(product)
    return None


def _complete(product: dict[str, Any]) -> None:
    """Give a product, and its fields, what they have to have."""
    if "code" in product:
        for key, usual in {**STUB, "name": product["code"]}.items():
            product.setdefault(key, usual)
    for form in product.get("fields", ()):
        if "id" in form:
            form.setdefault("label", form["id"])


def _fit_options(catalog: dict[str, Any]) -> None:
    """Fit each option by itself: those of a large list have more problems than one report holds."""
    for product in catalog["products"]:
        for form in product.get("fields", ()):
            for option in list(form.get("options", ())):
                report = Report()
                check(load_object(option), report, "option")
                remove_problems({"option": option}, [_below("option", one) for one in report.problems()])


def _below(name: str, problem: Problem) -> Problem:
    path = f"{name}.{problem.path}" if problem.path else name
    return Problem(problem.source, problem.line, problem.column, path, problem.code, problem.message)


def remove_problems(document: dict[str, Any], problems: Sequence[Problem]) -> None:
    """Remove the value of each problem. Of a list, later ones first, so that the indexes of the others stay true."""
    found = {(id(place.holder), place.key): place for one in problems if (place := _place(document, one.path))}
    for place in sorted(found.values(), key=lambda one: one.key if isinstance(one.key, int) else 0, reverse=True):
        del place.holder[place.key]


def _place(value: Any, path: str) -> _Place | None:
    """The place of a path such as `catalog.products[0].fields`; None when it is gone."""
    place = None
    while path:
        key = _first(value, path)
        if key is None:
            return None
        place = _Place(value, key)
        value = value[key]
        path = path[len(f"[{key}]" if isinstance(key, int) else key) :].removeprefix(".")
    return place


def _first(value: Any, path: str) -> str | int | None:
    """The key or index with which a path begins. Keys may have dots in them: the longest one counts."""
    if isinstance(value, list):
        index = path[1:].partition("]")[0]
        return int(index) if path.startswith("[") and index.isdigit() and int(index) < len(value) else None
    keys = value if isinstance(value, dict) else ()
    fitting = [key for key in keys if path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "[")]
    return max(fitting, key=len, default=None)
