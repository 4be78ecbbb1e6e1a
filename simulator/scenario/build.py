"""Builds a `Scenario` from a document, or a part of a scenario for the control API and for documents in commands.

`library` calls `build` and `attempt`; `_scenario` has the order of the steps: the schema is checked, then each section
is read by its module of `sections`. All problems are reported together. The domain gets a `ScenarioCompiler`, since
commands carry rules and scenarios as documents.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from simulator.contract.files import data_dir
from simulator.domain.model.rules import Magic, Rule, ScenarioOrigin
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.domain.model.transactions import Step
from simulator.scenario.expectation_checks import refuse_impossible
from simulator.scenario.reading.nodes import Document, Problem, ProblemReport, ScenarioError
from simulator.scenario.reading.scenario_files import OWN_FILE
from simulator.scenario.reading.schema_check import check
from simulator.scenario.reading.value_reader import ValueReader, read_object, refuse_repeats
from simulator.scenario.reading.yaml_parser import load_object
from simulator.scenario.sections import reseller_section, rule_sections
from simulator.scenario.sections.catalog_section import catalog
from simulator.scenario.sections.expectation_section import expectations, labels
from simulator.scenario.sections.limits import assumptions, clock, limits, network, refuse_too_many
from simulator.scenario.sections.reseller_section import refuse_plain_addresses, webhooks
from simulator.scenario.sections.rule_sections import magic
from simulator.scenario.sections.schedule_section import Start, added_labels, schedule
from simulator.scenario.sections.scripted_answers import inboxes
from simulator.scenario.sections.timelines import NO_TIMELINES, Timelines, timelines


def build(document: Document, name: str, origin: ScenarioOrigin | None = None) -> Scenario:
    """Build the scenario of a document; `name` is the title of an untitled scenario. Raises `ScenarioError`."""
    scenario, problems = attempt(document, name, origin)
    if scenario is None or problems:
        raise ScenarioError(problems)
    return scenario


def attempt(
    document: Document, name: str, origin: ScenarioOrigin | None = None
) -> tuple[Scenario | None, list[Problem]]:
    """Build what `check` can build. Return the scenario, None if the catalog has problems, and all problems.

    Problems in bundled files arise from files that extend these, and are left out where there are others.
    """
    report = ProblemReport(document.problems)
    try:
        scenario = _scenario(document, report, name, origin)
    except ScenarioError:
        scenario = None
    problems, bundled = report.problems(), data_dir("scenarios")
    causes = [problem for problem in problems if Path(problem.source).parent != bundled] or problems
    return None if report.has_below(("catalog",)) else scenario, causes


def _scenario(document: Document, report: ProblemReport, name: str, origin: ScenarioOrigin | None) -> Scenario:
    check(document, report)
    if report.is_full:  # building from a huge invalid file would block the event loop and report nothing more
        report.raise_if_any()
    root = ValueReader.of(document.root, report)
    if root["catalog"].is_given and not root["catalog"].is_mapping:
        report.raise_if_any()  # without a catalog, every reference to a product would be reported
    built_catalog = root["catalog"].built_once(catalog)
    product_codes = built_catalog.products.keys()
    reseller_starts = reseller_section.resellers(root["resellers"], product_codes)
    named_timelines = timelines(root["timelines"])
    by_code = {reseller.code: reseller for reseller in reseller_starts}
    known_codes = rule_sections.KnownCodes(product_codes, by_code.keys(), timelines=named_timelines)
    sections = {
        section: rule_sections.rules_of(section, root[section], known_codes) for section in rule_sections.DEFINITIONS
    }
    magic_accounts = magic(root["magic"], named_timelines)
    rule_items = [item for section in rule_sections.DEFINITIONS for item in root[section].items()]
    _refuse_repeated_labels(root, rule_items, magic_accounts)
    bounds = limits(root["limits"])
    refuse_too_many(root, rule_items, bounds)
    environment = root["environment"].text("staging")
    webhooks_set = [item["balance_webhook"] for item in root["resellers"].items()]
    refuse_plain_addresses([*webhooks_set, *(item["webhook"] for item in root["schedule"].items())], environment)
    rule_labels = labels(sections, magic_accounts)
    scheduled_labels = {label.text() for label in added_labels(root["schedule"])}
    expected_calls = expectations(root["expect"], known_codes, rule_labels | scheduled_labels)
    refuse_impossible(root)
    return Scenario(
        name=root["scenario"].text(name),
        description=root["description"].text(),
        seed=root["seed"].integer(0),
        environment=environment,
        realistic_times=root["realistic_times"].boolean(),
        accepts_any_certificate=root["accept_any_certificate"].boolean(),
        clock=clock(root["clock"]),
        resellers=reseller_starts,
        catalog=built_catalog,
        timelines=named_timelines,
        **sections,
        magic=magic_accounts,
        network=network(root["network"], product_codes, environment),
        inboxes=inboxes(root["inboxes"]),
        schedule=schedule(
            root["schedule"], Start(built_catalog, by_code, known_codes, rule_labels, magic_accounts.names())
        ),
        limits=bounds,
        webhooks=webhooks(root["webhooks"]),
        assume=assumptions(root["assume"]),
        expect=expected_calls,
        written=document.root.plain,
        origin=origin,
    )


def _refuse_repeated_labels(root: ValueReader, rule_items: list[ValueReader], magic_accounts: Magic) -> None:
    """Report duplicates: names and ids of rules share a namespace, since a request may select a rule by either."""
    labels = [item[key] for item in rule_items for key in ("id", "name")]
    # If an inherited rule and a rule of this file conflict, report the latter; within a file, report the lower rule.
    labels.sort(key=lambda label: (label.position.source == root.position.source, label.position.line))
    refuse_repeats(labels, "rule called")
    default_ids = {
        f"{section}-{place}"
        for section in rule_sections.DEFINITIONS
        for place, item in enumerate(root[section].items(), 1)
        if not item["id"].is_given
    }
    magic_names = magic_accounts.names()
    for label in labels:
        if label.text() in default_ids:
            label.problem("duplicate", f"{label.text()!r} is the id of a rule without an own id")
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
    """Build a rule of a section from an object. `rule_id` is the default id, and `timelines` are those it may name.

    Without `products` and `resellers` its `when` may name any. Raises `ScenarioError`.
    """
    known = rule_sections.KnownCodes(products, resellers, timelines=timelines)

    def read(item: ValueReader) -> Rule[Any]:
        if item["remove"].is_given:
            text = "only a file with 'extends' removes rules; DELETE the rule of a sandbox by its id"
            item["remove"].problem("misplaced", text)
        return rule_sections.rule_of(section, item, rule_id, known)

    return read_object(data, "rule", rule_sections.DEFINITIONS[section], read)


def build_reseller(
    data: Mapping[str, object], products: Collection[str] | None = None, environment: str = "staging"
) -> ResellerStart:
    """Build a reseller from an object. Without `products` its catalog may name any. Raises `ScenarioError`."""

    def read(item: ValueReader) -> ResellerStart:
        reseller_section.refuse_repeated_credentials([item])
        refuse_plain_addresses([item["balance_webhook"]], environment)
        return reseller_section.reseller(item, products)

    return read_object(data, "reseller", "reseller", read)


REMEMBERED_MAX = 16

Dependencies = tuple[str, frozenset[str], frozenset[str], Timelines]
"""The section, products, resellers and timelines that a compiled rule depends on."""

_ENCODER = msgspec.json.Encoder(decimal_format="number", order="deterministic")


class ScenarioCompiler:
    """A `Compiler` that caches scenarios, so that sandboxes with the same document share their catalogs, and rules that
    were compiled before their commands, outside the event loop."""

    def __init__(self, *known: Scenario) -> None:
        """Remember the `known` scenarios, which have the source lines of their rules."""
        self._built: OrderedDict[tuple[str, bytes], Scenario] = OrderedDict()
        self._prepared: OrderedDict[bytes, tuple[Dependencies, Rule[Any]]] = OrderedDict()
        for scenario in known:
            self.remember(scenario)

    def prepare_rule(
        self,
        section: str,
        document: Mapping[str, Any],
        products: Collection[str],
        resellers: Collection[str],
        timelines: Timelines,
    ) -> None:
        """Compile a rule for the next command with its document. Raises `ScenarioError`."""
        rule = build_rule(section, document, "prepared", products, resellers, timelines)
        self._prepared[_digest(document)] = (section, frozenset(products), frozenset(resellers), timelines), rule
        if len(self._prepared) > REMEMBERED_MAX:
            self._prepared.popitem(last=False)

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
        timelines: Timelines,
    ) -> Rule[Any]:
        """Return a rule built from an object. Raises `ScenarioError`."""
        depends_on, rule = self._prepared.pop(_digest(document), (None, None)) if self._prepared else (None, None)
        if rule is None or depends_on != (section, frozenset(products), frozenset(resellers), timelines):
            return build_rule(section, document, rule_id, products, resellers, timelines)
        return rule if "id" in document else rule.with_id(rule_id)

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """Return a scenario built from its complete document, within the limits of a file. Raises `ScenarioError`."""
        key = (name, _digest(document))
        found = self._built.get(key)
        if found is None:
            found = build(load_object(document, bounds=OWN_FILE), name)
            self._keep(key, found)
        return found

    def remember(self, scenario: Scenario) -> None:
        """Cache this scenario for its document."""
        self._keep((scenario.name, _digest(scenario.document)), scenario)

    def _keep(self, key: tuple[str, bytes], scenario: Scenario) -> None:
        self._built[key] = scenario
        self._built.move_to_end(key)
        if len(self._built) > REMEMBERED_MAX:
            self._built.popitem(last=False)


def encoded(document: object) -> bytes:
    """Return a document as bytes, equal for equal documents."""
    return _ENCODER.encode(document)


def _digest(document: Mapping[str, Any]) -> bytes:
    return sha256(encoded(document)).digest()


COMPILER = ScenarioCompiler()
