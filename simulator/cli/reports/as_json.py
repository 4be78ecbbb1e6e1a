"""The cases as one JSON object, for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from simulator import __version__
from simulator.cli.output import printable_json
from simulator.cli.reports.cases import Case, Run, Suite, all_ok


def as_json(title: str, suites: Sequence[Suite], run: Run | None = None) -> bytes:
    """`{title, ok, version, suites: [{name, ok, cases: [{name, ok, message, details, code, file, line, column,
    skipped}]}]}`, with all members of `Run` after `ok` when there was one."""
    whole = {
        "title": title,
        "ok": all_ok(suites),
        **(asdict(run) if run else {"version": __version__}),
        "suites": [
            {"name": suite.name, "ok": not suite.failures, "cases": [_case(case) for case in suite.cases]}
            for suite in suites
        ],
    }
    return (printable_json(json.dumps(whole, indent=2)) + "\n").encode()


def _case(one: Case) -> dict[str, Any]:
    """Without its duration: of the verbs that write JSON none has measured one."""
    return {name: value for name, value in asdict(one).items() if name != "duration_s"}
