"""A document to a `Scenario`, or a part of one that the control API brings. All problems are reported together."""

from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from simulator.domain.catalog import Catalog
from simulator.domain.faults import FaultThen
from simulator.domain.money import is_whole_cents
from simulator.domain.rules import PaymentThen, Rule
from simulator.domain.scenario import ResellerStart, Scenario, ScheduledChange, ScheduledDeposit
from simulator.domain.wallet import EntryType
from simulator.scenario import accounts, rules
from simulator.scenario.assumptions import assumptions
from simulator.scenario.bounds import clock, limits
from simulator.scenario.changes import scheduled_change
from simulator.scenario.check import check
from simulator.scenario.document import Document, Node, Problem, Report, ScenarioError
from simulator.scenario.load import load_object
from simulator.scenario.products import catalog
from simulator.scenario.reader import Reader

_CATALOGS: WeakKeyDictionary[Node, Catalog] = WeakKeyDictionary()

DEFINITIONS = {"payments": "payment_rule", "faults": "fault_rule"}


def build(document: Document, name: str) -> Scenario:
    """The scenario that a document describes; `name` is its title when it has none. Raises `ScenarioError`."""
    report = Report(document.problems)
    scenario = _scenario(document, report, name)
    report.raise_if_any()
    return scenario


def _scenario(document: Document, report: Report, name: str) -> Scenario:
    check(document, report)
    root = Reader.of(document.root, report)
    products = _catalog(root["catalog"])
    codes = products.products.keys()
    resellers = accounts.resellers(root["resellers"], codes)
    known = rules.Known(codes, {reseller.code for reseller in resellers})
    payments = rules.payment_rules(root["payments"], known)
    faults = rules.fault_rules(root["faults"], known)
    _refuse_repeated_labels(root)
    return Scenario(
        name=root["scenario"].text(name),
        description=root["description"].text(),
        seed=root["seed"].integer(0),
        clock=clock(root["clock"]),
        resellers=resellers,
        catalog=products,
        payments=payments,
        faults=faults,
        schedule=tuple(_scheduled(item, products, known) for item in root["schedule"].items()),
        limits=limits(root["limits"]),
        assume=assumptions(root["assume"]),
    )


def _catalog(section: Reader) -> Catalog:
    """The catalog; built once from the same nodes, so that scenarios which only inherit it share it."""
    node = section.node
    if node is None:
        return catalog(section)
    made = _CATALOGS.get(node)
    if made is None:
        made = catalog(section)
        if section.is_sound:
            _CATALOGS[node] = made
    return made


def _refuse_repeated_labels(root: Reader) -> None:
    """Names and ids share one space: a request may ask for a rule by either."""
    labels = [item[key] for section in DEFINITIONS for item in root[section].items() for key in ("id", "name")]
    # Of an inherited rule and one of this file, the one of this file is to blame.
    labels.sort(key=lambda label: label.mark.source == root.mark.source)
    accounts.refuse_repeats(labels, "rule called")
    taken = {
        f"{section}-{place}"
        for section in DEFINITIONS
        for place, item in enumerate(root[section].items(), 1)
        if not item["id"].is_given
    }
    for label in labels:
        if label.text() in taken:
            label.problem("duplicate", f"{label.text()!r} is what a rule without an id is called by its place")


def _scheduled(item: Reader, found: Catalog, known: rules.Known) -> ScheduledDeposit | ScheduledChange:
    if item["deposit"].is_given == item["product"].is_given:
        item.problem("missing_key", "a scheduled item has either 'deposit' or 'product'")
    if item["product"].is_given:
        return scheduled_change(item, found.products, known.resellers or ())
    return _deposit(item, known)


def _deposit(item: Reader, known: rules.Known) -> ScheduledDeposit:
    deposit = item["deposit"]
    code, amount = deposit["reseller"].text(), deposit["amount"].amount()
    if deposit["amount"].is_given and (amount <= 0 or not is_whole_cents(amount)):
        deposit["amount"].problem("bad_amount", f"a deposit is above 0 and in whole sen, not {amount}")
    rules.check_codes(deposit["reseller"], known.resellers, "reseller")
    type_ = EntryType.COMMISSION if deposit["type"].text() == "COMMISSION" else EntryType.DEPOSIT
    return ScheduledDeposit(item["at"].duration(), code, amount, deposit["description"].text(), type_)


def build_rule(
    section: str,
    data: Mapping[str, object],
    rule_id: str,
    products: Collection[str] | None = None,
    resellers: Collection[str] | None = None,
) -> Rule[Any]:
    """A rule for `payments` or `faults` from an object; `rule_id` is its id when it has none of its own.

    Without `products` and `resellers` its `when` may name any. Raises `ScenarioError`.
    """
    if section not in DEFINITIONS:
        message = f"this version takes rules of {' and '.join(DEFINITIONS)}, not of {section!r}"
        raise ScenarioError([Problem("rule", 0, 0, "section", "not_yet", message)])
    document = load_object(data, "rule")
    report = Report(document.problems)
    check(document, report, DEFINITIONS[section])
    reader = Reader.of(document.root, report)
    known = rules.Known(products, resellers)
    make: Any = rules.payment_rule if section == "payments" else rules.fault_rule
    rule: Rule[PaymentThen] | Rule[FaultThen] = make(reader, rule_id, known)
    report.raise_if_any()
    return rule


def build_reseller(data: Mapping[str, object], products: Collection[str] | None = None) -> ResellerStart:
    """A reseller from an object. Without `products` its catalog may name any. Raises `ScenarioError`."""
    document = load_object(data, "reseller")
    report = Report(document.problems)
    check(document, report, "reseller")
    reader = Reader.of(document.root, report)
    start = accounts.reseller(reader, products)
    accounts.refuse_repeated_credentials([reader])
    report.raise_if_any()
    return start
