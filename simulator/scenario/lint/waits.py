"""Lint of delays that pass in real time, although the clock of the sandbox is manual."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from simulator.domain.model.draw import Delay, Spread
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.inbox_programs import InboxProgram
from simulator.domain.model.scenario import Limits, Scenario
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.sections.schedule_section import added_rules
from simulator.scenario.sections.scripted_answers import fault
from simulator.scenario.sections.times import delay
from simulator.scenario.sections.variants import branches

NONE: Final = timedelta(0)
SHORT: Final = timedelta(seconds=5)
BODY_BYTES: Final = 1000
ALTHOUGH: Final = "of real time, although the clock is manual"


def lint_waits(root: ValueReader, limits: Limits) -> None:
    """Report the long waits of a scenario with a manual clock."""
    for item in _faults(root):
        lint_fault_waits(item, limits.integration_timeout)
    for _, inbox in root["inboxes"].entries():
        for reply in [*inbox["during"].items(), *(inbox.items() if inbox.is_list else inbox["replies"].items())]:
            _lint_reply(reply["delay"], limits.callback_timeout_manual)


def _faults(root: ValueReader) -> Iterator[ValueReader]:
    """Yield every fault rule: written ones, scheduled ones, and faults of magic accounts."""
    yield from root["faults"].items()
    for item in root["schedule"].items():
        yield from (rule for section, rule in added_rules(item) if section == "faults")
    for _, outcome in root["magic"]["outcomes"].entries():
        yield outcome["faults"]


def lint_fault_waits(item: ValueReader, timeout: timedelta | None) -> None:
    """Report the long waits of a fault under a manual clock."""
    for branch in branches(item["then"]):
        if not branch.then.is_valid:
            continue
        entry, pace = branch.then["delay"], branch.then["drip"]["bytes_per_second"]
        waited = _waited(fault(branch.then), timeout)
        if waited > SHORT:
            virtual = "[…]" if entry.is_list or entry.is_mapping else entry.text()
            text = f"each request waits {_up_to(entry)}{waited.total_seconds():g} s {ALTHOUGH}"
            entry.problem("real_wait", f"{text}; write {{ virtual: {virtual} }} to wait none")
        bytes_per_second = float(pace.optional_amount() or 0)
        if bytes_per_second and BODY_BYTES / bytes_per_second > SHORT.total_seconds():
            text = f"each {BODY_BYTES} bytes of a body take {BODY_BYTES / bytes_per_second:g} s {ALTHOUGH}"
            pace.problem("real_wait", f"{text}; write {BODY_BYTES / SHORT.total_seconds():g} or more")


def _waited(then: FaultThen, timeout: timedelta | None) -> timedelta:
    """Return the longest wait of a fault."""
    if then.delay is None or then.is_delay_virtual:
        return NONE
    longest = then.delay.p99 if isinstance(then.delay, Spread) else then.delay[1]
    return longest if timeout is None else min(longest, timeout)


def _up_to(entry: ValueReader) -> str:
    return "up to " if entry.is_mapping else ""


def _lint_reply(entry: ValueReader, timeout: timedelta) -> None:
    longest = _longest(delay(entry)) if entry.is_valid else NONE
    if min(longest, timeout) >= SHORT:
        text = f"each message waits {_up_to(entry)}{min(longest, timeout).total_seconds():g} s {ALTHOUGH}"
        end = "; then the attempt fails, as it does at once with `disconnect: true`" if longest >= timeout else ""
        entry.problem("real_wait", f"{text}{end or '; write a shorter delay'}")


def _longest(waits: Delay) -> timedelta:
    return waits.p99 if isinstance(waits, Spread) else waits


def real_waits(scenario: Scenario) -> list[str]:
    """Return a sentence about each fault and each inbox that makes others wait long, for a sandbox whose clock is
    manual."""
    timeout = scenario.limits.integration_timeout
    found = []
    for rule in scenario.faults:
        thens = (rule.then, *(variant.then for _, variant in rule.variants))
        span = max(_waited(then, timeout) for then in thens)
        if span > SHORT:
            text = f"each request that meets the fault {rule.label!r} waits up to {span.total_seconds():g} s {ALTHOUGH}"
            found.append(f"{text}; write delay: {{ virtual: … }} to wait none")
    for name, program in scenario.inboxes.items():
        found += inbox_waits(name, program, scenario.limits)
    return found


def inbox_waits(name: str, program: InboxProgram, limits: Limits) -> list[str]:
    """Return a sentence about the replies of an inbox if they make a sender wait long, for a sandbox whose clock is
    manual."""
    replies = (*program.replies, *(timed.reply for timed in program.during))
    longest = max((_longest(one.delay) for one in replies), default=NONE)
    span = min(longest, limits.callback_timeout_manual)
    return [f"messages to the inbox {name!r} wait up to {span.total_seconds():g} s {ALTHOUGH}"] if span >= SHORT else []
