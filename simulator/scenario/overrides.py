"""What the start of a server changes in its scenario."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.scenario import Scenario

METHOD = "POST"


def with_callback(scenario: Scenario, url: str) -> Scenario:
    """The scenario with the callbacks of all its resellers sent to `url` by POST; its document says so, too."""
    callback = CallbackConfig(url, METHOD)
    resellers = tuple(msgspec.structs.replace(one, callback=callback) for one in scenario.resellers)
    return replace(scenario, resellers=resellers, written=partial(_written, scenario.written, url))


def _written(written: Callable[[], Mapping[str, Any]], url: str) -> Mapping[str, Any]:
    document = written()
    callback = {"url": url, "method": METHOD}
    return {**document, "resellers": [{**one, "callback": callback} for one in document.get("resellers", ())]}
