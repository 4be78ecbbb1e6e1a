"""The cases as one JSON object, for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from simulator.cli.output import printable_json
from simulator.cli.reports.cases import Run, Suite, all_ok


def as_json(title: str, suites: Sequence[Suite], run: Run | None = None) -> bytes:
    """`{title, ok, suites: [{name, ok, cases: [{name, ok, message, details, code, file, line, column,
    skipped}]}]}`, with the members of `Run` after `ok` when there was one."""
    whole = {
        "title": title,
        "ok": all_ok(suites),
        **(asdict(run) if run else {}),
        "suites": [
            {"name": suite.name, "ok": not suite.failures, "cases": [asdict(case) for case in suite.cases]}
            for suite in suites
        ],
    }
    return (printable_json(json.dumps(whole, indent=2)) + "\n").encode()
