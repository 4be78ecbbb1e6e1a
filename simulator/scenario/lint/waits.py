"""Faults that make a test wait by the wall although the clock of the sandbox only moves when it is advanced."""

from datetime import timedelta
from typing import Final

from simulator.domain.model.scenario import Scenario
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.variants import branches

SHORT: Final = timedelta(seconds=5)


def lint_waits(root: Reader, source: str, scenario: Scenario | None) -> None:
    """Report the long delays that a file has itself, of a scenario whose clock is manual."""
    if scenario is None or scenario.clock.mode != "manual":
        return
    timeout = scenario.limits.integration_timeout
    for item in root["faults"].items():
        if item.position.source == source:
            for branch in branches(item["then"]):
                _lint_delay(branch.then["delay"], timeout)


def _lint_delay(delay: Reader, timeout: timedelta | None) -> None:
    if not delay.is_given or delay.is_mapping or not delay.is_valid:
        return
    longest = max(item.duration() for item in delay.items()) if delay.is_list else delay.duration()
    waited = longest if timeout is None else min(longest, timeout)
    if waited > SHORT:
        virtual = "[…]" if delay.is_list else delay.text()
        text = f"each request waits {waited.total_seconds():g} s of real time, although the clock is manual"
        delay.problem("real_wait", f"{text}; write {{ virtual: {virtual} }} to wait none")
