"""--reseller-sim-audit: what a test's client did against what the service asks of it."""

from dataclasses import dataclass
from typing import Any

import pytest

from reseller_sim.printable import printable_line
from reseller_sim.sandbox import Sandbox

FINDINGS_MAX = 3
WARNINGS_MAX = 50


@dataclass(frozen=True)
class Audited:
    """The violated obligations: those that fail a test, and warnings, each as lines of text."""

    violations: list[str]
    warnings: list[str]

    @property
    def text(self) -> str:
        """Why the test fails; empty when it does not."""
        count = len(self.violations)
        if not count:
            return ""
        head = f"the test passed, but violates {count} obligation{'s' * (count > 1)} of a client"
        return "\n\n".join([head, *self.violations])


def audited(sandbox: Sandbox) -> Audited:
    """Judge what has reached a sandbox until now."""
    violated = [one for one in sandbox.audit()["obligations"] if one["state"] == "violated"]
    return Audited(
        [_lines(one) for one in violated if one["severity"] == "error"],
        [_line(one) for one in violated if one["severity"] != "error"],
    )


def _lines(one: dict[str, Any]) -> str:
    findings = [f"  {text}" for text in one["findings"][:FINDINGS_MAX]]
    if (more := one["violations"] - len(findings)) > 0:
        findings.append(f"  ... {more} more")
    return "\n".join(map(printable_line, [f"{one['id']}: {one['title']}", *findings, f"  What to do: {one['advice']}"]))


def _line(one: dict[str, Any]) -> str:
    more = f" (and {one['violations'] - 1} more)" if one["violations"] > 1 else ""
    return printable_line(f"{one['id']}: {one['findings'][0]}{more}")


def summarize(reporter: pytest.TerminalReporter) -> None:
    """List the warnings of all tests at the end of a run."""
    reports = [report for several in reporter.stats.values() for report in several]
    found = [(one.nodeid, text) for one in reports for text in getattr(one, "reseller_sim_warnings", ())]
    if not found:
        return
    reporter.section("reseller-sim: warnings of the audit")
    for nodeid, text in found[:WARNINGS_MAX]:
        reporter.write_line(f"{nodeid}: {text}")
    if len(found) > WARNINGS_MAX:
        reporter.write_line(f"... {len(found) - WARNINGS_MAX} more")
