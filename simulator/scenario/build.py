"""Builds a `Scenario` from a document, or a part of one for the control API. All problems are reported together."""

from collections.abc import Collection, Mapping
from typing import Any

from simulator.domain.model.rule_book import Magic
from simulator.domain.model.rules import Origin, Rule
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.domain.model.transactions import Step
from simulator.scenario.possible import refuse_impossible
from simulator.scenario.reading.check import check
from simulator.scenario.reading.document import Document, Problem, Report, ScenarioError
from simulator.scenario.reading.load import load_object
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections import resellers, rules
from simulator.scenario.sections.assumptions import assumptions
from simulator.scenario.sections.catalog import catalog
from simulator.scenario.sections.expectations import KnownNames, expectations, labels
from simulator.scenario.sections.inboxes import inboxes
from simulator.scenario.sections.limits import clock, limits, refuse_too_many
from simulator.scenario.sections.magic import magic
from simulator.scenario.sections.network import network
from simulator.scenario.sections.schedule import Start, added_labels, schedule
from simulator.scenario.sections.timeline import NO_TIMELINES, timelines
from simulator.scenario.sections.webhooks import refuse_plain_addresses, webhooks

# The sections of rules, each with its definition in the schema.
DEFINITIONS = {
    "payments": "payment_rule",
    "voids": "void_rule",
    "disputes": "dispute_rule",
    "bills": "bill_rule",
    "faults": "fault_rule",
}


def build(document: Document, name: str, origin: Origin | None = None) -> Scenario:
    """Build a document's scenario; `name` is its title when it has none. Raises `ScenarioError`."""
    report = Report(document.problems)
    scenario = _scenario(document, report, name, origin)
    report.raise_if_any()
    return scenario


def attempt(document: Document, name: str) -> tuple[Scenario | None, list[Problem]]:
    """Build what can be built, for `check`, and return it with all problems. None when the catalog has problems."""
    report = Report(document.problems)
    try:
        scenario = _scenario(document, report, name, None)
    except ScenarioError:
        scenario = None
    return None if report.has_below(("catalog",)) else scenario, report.problems()


def _scenario(document: Document, report: Report, name: str, origin: Origin | None) -> Scenario:
    check(document, report)
    if report.is_full:  # building from a huge invalid file would block the event loop and report nothing more
        report.raise_if_any()
    root = Reader.of(document.root, report)
    if root["catalog"].is_given and not root["catalog"].is_mapping:
        report.raise_if_any()  # without a catalog, whatever names a product would be blamed for it
    products = root["catalog"].built_once(catalog)
    codes = products.products.keys()
    starts = resellers.resellers(root["resellers"], codes)
    named = timelines(root["timelines"])
    known = rules.KnownCodes(codes, {reseller.code for reseller in starts}, timelines=named)
    sections = {section: rules.rules_of(section, root[section], known) for section in DEFINITIONS}
    accounts_with_magic = magic(root["magic"], named)
    written = [item for section in DEFINITIONS for item in root[section].items()]
    _refuse_repeated_labels(root, written, accounts_with_magic)
    bounds = limits(root["limits"])
    refuse_too_many(root, written, bounds)
    environment = root["environment"].text("staging")
    webhooks_set = [item["balance_webhook"] for item in root["resellers"].items()]
    refuse_plain_addresses([*webhooks_set, *(item["webhook"] for item in root["schedule"].items())], environment)
    rule_labels = labels(sections, accounts_with_magic)
    by_code = {reseller.code: reseller for reseller in starts}
    expected = expectations(root["expect"], KnownNames(known, rule_labels | added_labels(root["schedule"])))
    refuse_impossible(root)
    clock_start = clock(root["clock"])
    return Scenario(
        name=root["scenario"].text(name),
        description=root["description"].text(),
        seed=root["seed"].integer(0),
        environment=environment,
        realistic_times=root["realistic_times"].boolean(),
        clock=clock_start,
        resellers=starts,
        catalog=products,
        timelines=named,
        **sections,
        magic=accounts_with_magic,
        network=network(root["network"], codes, environment),
        inboxes=inboxes(root["inboxes"]),
        schedule=schedule(
            root["schedule"],
            Start(products, by_code, known, rule_labels, accounts_with_magic.names(), clock_start.start),
        ),
        limits=bounds,
        webhooks=webhooks(root["webhooks"]),
        assume=assumptions(root["assume"]),
        expect=expected,
        written=document.root.plain,
        origin=origin,
    )


def _refuse_repeated_labels(root: Reader, written: list[Reader], taken_by_magic: Magic) -> None:
    """Names and ids of rules share one namespace: a request may select a rule by either."""
    labels = [item[key] for item in written for key in ("id", "name")]
    # When an inherited rule and one of this file conflict, report the one of this file; of two in one file the lower.
    labels.sort(key=lambda label: (label.position.source == root.position.source, label.position.line))
    resellers.refuse_repeats(labels, "rule called")
    taken = {
        f"{section}-{place}"
        for section in DEFINITIONS
        for place, item in enumerate(root[section].items(), 1)
        if not item["id"].is_given
    }
    magic_names = taken_by_magic.names()
    for label in labels:
        if label.text() in taken:
            label.problem("duplicate", f"{label.text()!r} is the id of a rule that has none of its own")
        if label.text() in magic_names:
            label.problem("duplicate", f"{label.text()!r} is the name of a magic account's rule")


def build_rule(
    section: str,
    data: Mapping[str, object],
    rule_id: str,
    products: Collection[str] | None = None,
    resellers: Collection[str] | None = None,
    timelines: Mapping[str, tuple[Step, ...]] = NO_TIMELINES,
) -> Rule[Any]:
    """A rule of a section from an object; `rule_id` is its id when it has none, and `timelines` those that it may name.

    Without `products` and `resellers` its `when` may name any. Raises `ScenarioError`.
    """
    document = load_object(data, "rule")
    report = Report(document.problems)
    check(document, report, DEFINITIONS[section])
    reader = Reader.of(document.root, report)
    if reader["remove"].is_given:
        text = "only a file that extends another one removes its rules; DELETE the rule of a sandbox by its id"
        reader["remove"].problem("misplaced", text)
    known = rules.KnownCodes(products, resellers, timelines=timelines)
    rule = rules.RULE_READERS[section](reader, rule_id, known)
    report.raise_if_any()
    return rule


def build_reseller(
    data: Mapping[str, object], products: Collection[str] | None = None, environment: str = "staging"
) -> ResellerStart:
    """A reseller from an object. Without `products` its catalog may name any. Raises `ScenarioError`."""
    document = load_object(data, "reseller")
    report = Report(document.problems)
    check(document, report, "reseller")
    reader = Reader.of(document.root, report)
    start = resellers.reseller(reader, products)
    resellers.refuse_repeated_credentials([reader])
    refuse_plain_addresses([reader["balance_webhook"]], environment)
    report.raise_if_any()
    return start
