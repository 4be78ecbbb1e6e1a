"""Lint of delays that pass in real time, although the clock of the sandbox is manual."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from simulator.domain.model.draw import Spread
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Limits, Scenario
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.schedule import added_rules
from simulator.scenario.sections.variants import branches

NONE: Final = timedelta(0)
SHORT: Final = timedelta(seconds=5)
BODY_BYTES: Final = 1000
ALTHOUGH: Final = "of real time, although the clock is manual"


def lint_waits(root: Reader, limits: Limits) -> None:
    """Report the long waits of a scenario with a manual clock."""
    for item in _faults(root):
        lint_fault_waits(item, limits.integration_timeout)
    for _, inbox in root["inboxes"].entries():
        for reply in [*inbox["during"].items(), *(inbox.items() if inbox.is_list else inbox["replies"].items())]:
            _lint_reply(reply["delay"], limits.callback_timeout_manual)


def _faults(root: Reader) -> Iterator[Reader]:
    """Yield every fault rule: written ones, scheduled ones, and faults of magic accounts."""
    yield from root["faults"].items()
    for item in root["schedule"].items():
        yield from (rule for section, rule in added_rules(item) if section == "faults")
    for _, outcome in root["magic"]["outcomes"].entries():
        yield outcome["faults"]


def lint_fault_waits(item: Reader, timeout: timedelta | None) -> None:
    """Report the long waits of a fault under a manual clock."""
    for branch in branches(item["then"]):
        _lint_delay(branch.then["delay"], timeout)
        _lint_pace(branch.then["drip"]["bytes_per_second"])


def _lint_delay(delay: Reader, timeout: timedelta | None) -> None:
    if not delay.is_given or delay["virtual"].is_given or not delay.is_valid:
        return
    waited = _bounded(_longest(delay), timeout)
    if waited > SHORT:
        virtual = "[…]" if delay.is_list or delay.is_mapping else delay.text()
        text = f"each request waits {_up_to(delay)}{waited.total_seconds():g} s {ALTHOUGH}"
        delay.problem("real_wait", f"{text}; write {{ virtual: {virtual} }} to wait none")


def _longest(delay: Reader) -> timedelta:
    if delay.is_mapping:
        return delay["p99"].duration()
    return max(item.duration() for item in delay.items()) if delay.is_list else delay.duration()


def _bounded(span: timedelta, timeout: timedelta | None) -> timedelta:
    return span if timeout is None else min(span, timeout)


def _up_to(delay: Reader) -> str:
    return "up to " if delay.is_mapping else ""


def _lint_pace(pace: Reader) -> None:
    bytes_per_second = float(pace.optional_amount() or 0)
    if bytes_per_second and BODY_BYTES / bytes_per_second > SHORT.total_seconds():
        text = f"each {BODY_BYTES} bytes of a body take {BODY_BYTES / bytes_per_second:g} s {ALTHOUGH}"
        pace.problem("real_wait", f"{text}; write {BODY_BYTES / SHORT.total_seconds():g} or more")


def _lint_reply(delay: Reader, timeout: timedelta) -> None:
    if not delay.is_given or not delay.is_valid:
        return
    longest = _longest(delay)
    waited = min(longest, timeout)
    if waited >= SHORT:
        text = f"each message waits {_up_to(delay)}{waited.total_seconds():g} s {ALTHOUGH}"
        end = "; then the attempt fails, as it does at once with `disconnect: true`" if longest >= timeout else ""
        delay.problem("real_wait", f"{text}{end or '; write a shorter delay'}")


def real_waits(scenario: Scenario) -> list[str]:
    """Return a sentence about each fault and each inbox that makes others wait long, for a sandbox whose clock is
    manual."""
    spans = ((rule, _bounded(_longest_of(rule), scenario.limits.integration_timeout)) for rule in scenario.faults)
    found = [
        f"each request that meets the fault {rule.label!r} waits up to {span.total_seconds():g} s {ALTHOUGH}; write "
        "delay: { virtual: … } to wait none"
        for rule, span in spans
        if span > SHORT
    ]
    for name, program in scenario.inboxes.items():
        replies = (*program.replies, *(timed.reply for timed in program.during))
        longest = max((one.delay.p99 if isinstance(one.delay, Spread) else one.delay for one in replies), default=NONE)
        span = min(longest, scenario.limits.callback_timeout_manual)
        if span >= SHORT:
            found.append(f"messages to the inbox {name!r} wait up to {span.total_seconds():g} s {ALTHOUGH}")
    return found


def _longest_of(rule: Rule[FaultThen]) -> timedelta:
    """Return the longest wait of a fault and its variants."""
    spans = [timedelta(0)]
    for then in (rule.then, *(variant.then for _, variant in rule.variants)):
        if then.delay is not None and not then.is_delay_virtual:
            spans.append(then.delay.p99 if isinstance(then.delay, Spread) else then.delay[1])
    return max(spans)
