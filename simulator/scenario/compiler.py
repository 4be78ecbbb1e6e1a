"""The domain's compiler: builds rules and scenarios from the documents in commands."""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import build, build_rule
from simulator.scenario.reading.bounds import OWN_FILE
from simulator.scenario.reading.load import load_object
from simulator.scenario.sections.timeline import Timelines

REMEMBERED_MAX = 16

_ENCODER = msgspec.json.Encoder(decimal_format="number", order="deterministic")


class ScenarioCompiler:
    """A `Compiler` that caches scenarios, so that sandboxes with the same document share their
    catalogs."""

    def __init__(self) -> None:
        self._built: OrderedDict[tuple[str, bytes], Scenario] = OrderedDict()
        self._prepared: OrderedDict[bytes, PreparedRule] = OrderedDict()

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
        timelines: Timelines,
    ) -> Rule[Any]:
        """A rule from an object. Raises `ScenarioError`."""
        found = self._prepared.pop(_digest(document), None) if self._prepared else None
        if found is None or found.depends_on != (section, frozenset(products), frozenset(resellers), timelines):
            return build_rule(section, document, rule_id, products, resellers, timelines)
        return found.rule if "id" in document else found.rule.with_id(rule_id)

    def remember_rule(self, prepared: "PreparedRule") -> None:
        """Use this rule for the command that is about to bring its document."""
        self._prepared[prepared.digest] = prepared
        if len(self._prepared) > REMEMBERED_MAX:
            self._prepared.popitem(last=False)

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """A scenario from its complete document, which may be that of a file. Raises `ScenarioError`."""
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


class PreparedRule(msgspec.Struct, frozen=True):
    """A rule that was compiled ahead of its command, beside the event loop; it holds as long as the section, products,
    resellers and timelines that it depends on are the same."""

    digest: bytes
    depends_on: tuple[str, frozenset[str], frozenset[str], Timelines]
    rule: Rule[Any]


def prepared_rule(
    section: str,
    document: Mapping[str, Any],
    products: frozenset[str],
    resellers: frozenset[str],
    timelines: Timelines,
) -> PreparedRule:
    """Compile a rule for `ScenarioCompiler.remember_rule`. Raises `ScenarioError`."""
    rule = build_rule(section, document, "prepared", products, resellers, timelines)
    return PreparedRule(_digest(document), (section, products, resellers, timelines), rule)


def encoded(document: object) -> bytes:
    """A document as bytes, the same for equal ones."""
    return _ENCODER.encode(document)


def _digest(document: Mapping[str, Any]) -> bytes:
    return sha256(encoded(document)).digest()


COMPILER = ScenarioCompiler()
