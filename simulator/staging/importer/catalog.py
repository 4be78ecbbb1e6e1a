"""The section `catalog` of what was read or seen: products and tree as far as a scenario holds them, with comments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.domain.model.catalog import Catalog, Product
from simulator.domain.model.network import NetworkStatus
from simulator.scenario.yaml import block, comment, scalar
from simulator.shortened import one_line
from simulator.staging.importer.account import ProductAnswers
from simulator.staging.importer.answers import as_text, dicts
from simulator.staging.importer.differences import list_differences, product_differences, tree_differences
from simulator.staging.importer.fitting import fit_groups, fit_product
from simulator.staging.importer.products import product as product_item


@dataclass(slots=True)
class FittedProduct:
    """A product, its item of the file, and what was built of that; None for one that cannot be written. One that is
    `ours` was in no answer, so that there is nothing to compare."""

    answers: ProductAnswers
    item: dict[str, Any]
    built: Product | None
    notes: list[str] = field(default_factory=list)
    is_ours: bool = False

    @property
    def code(self) -> str:
        """Its code, on one line."""
        return one_line(as_text(self.answers.body.get("code")))


@dataclass(slots=True)
class FittedCatalog:
    """All products, and the tree as the account has it, as the file has it, and as it was built; None for a tree that
    cannot be written."""

    products: list[FittedProduct]
    groups: list[Any]
    written: list[dict[str, Any]]
    tree: Catalog | None

    @property
    def built(self) -> Mapping[str, Product]:
        """The products that were built, by code."""
        return {one.built.code: one.built for one in self.products if one.built is not None}

    @property
    def network(self) -> dict[str, str]:
        """The products that are interrupted."""
        interruption = str(NetworkStatus.INTERRUPTION)
        return {
            one.code: interruption
            for one in self.products
            if one.built is not None and one.answers.network_status == interruption
        }

    @property
    def document(self) -> dict[str, Any]:
        """The section as values."""
        groups = {"groups": self.written} if self.tree is not None else {}
        return groups | {"products": [one.item for one in self.products if one.built is not None]}


def fit_catalog(products: Sequence[ProductAnswers], groups: list[Any]) -> FittedCatalog:
    """Remove what a scenario cannot hold."""
    fitted = [FittedProduct(answers, item := product_item(answers), fit_product(item)) for answers in products]
    written = [_group(group) for group in dicts(groups)]
    tree = fit_groups(written, [one.built.code for one in fitted if one.built is not None])
    return FittedCatalog(fitted, groups, written, tree)


def catalog_lines(fitted: FittedCatalog, hint: str) -> Iterator[str]:
    """The lines of the section. `hint` says how the options of a dynamic field are got; it may name `{product}`."""
    whole = None if fitted.tree is None else Catalog(fitted.tree.groups, fitted.built)
    yield "catalog:"
    if whole is not None:
        yield from comment(tree_differences(fitted.groups, whole), 2)
        yield from block({"groups": fitted.written}, 2)
    else:
        yield from comment(["The tree of the account cannot be written in a scenario."], 2)
    yield "  products:" if fitted.built else "  products: []"
    for one in fitted.products:
        if one.built is None:
            yield from comment([f"The account's product {one.code!r} cannot be written in a scenario."], 4)
            continue
        yield from comment(_comments(one, one.built, whole, hint), 4)
        yield from block([one.item], 4)


def _comments(one: FittedProduct, built: Product, whole: Catalog | None, hint: str) -> Iterator[str]:
    if not one.is_ours:
        yield from product_differences(one.answers, built)
    if whole is not None:
        yield from list_differences(one.answers, built, whole)
    status = one.answers.network_status
    if status not in ("", *NetworkStatus):
        yield one_line(f"networkstatus: the account has {scalar(status)}, this file Healthy")
    for name in one.answers.unasked:
        yield f"options of {one_line(name)} depend on an account number: {hint.replace('{product}', one.code)}"
    yield from one.notes


def _group(group: dict[str, Any]) -> dict[str, Any]:
    shown = {name: group.get(name) for name in ("id", "name", "icon_url") if group.get(name)}
    categories = [
        {name: one.get(name) for name in ("id", "name", "product_codes") if one.get(name)}
        for one in dicts(group.get("categories"))
    ]
    return shown | ({"categories": categories} if categories else {})
