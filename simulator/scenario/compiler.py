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

REMEMBERED_MAX = 16

_ENCODER = msgspec.json.Encoder(decimal_format="number", order="deterministic")


class ScenarioCompiler:
    """See `simulator.domain.compiler.Compiler`. Caches scenarios, so that sandboxes with the same document share their
    catalogs."""

    def __init__(self) -> None:
        self._built: OrderedDict[tuple[str, bytes], Scenario] = OrderedDict()

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
    ) -> Rule[Any]:
        """A rule from an object. Raises `ScenarioError`."""
        return build_rule(section, document, rule_id, products=products, resellers=resellers)

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


def _digest(document: Mapping[str, Any]) -> bytes:
    return sha256(_ENCODER.encode(document)).digest()


COMPILER = ScenarioCompiler()
