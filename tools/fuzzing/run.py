"""Run Schemathesis on one document of a server: settings, the process, and the counts of its hooks."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import ROOT, Serving, ask, environment
from tools.fuzzing.bounded_bodies import SCENARIO_TYPED

DOCUMENTS = {"reseller": "/openapi.json", "control": "/_sim/openapi.json"}
BOUNDED = {"control": SCENARIO_TYPED}
"""Operations of a document that have a run of their own for the coverage phase, with bounded bodies."""

TOKEN = "fuzz-control-token"
SCENARIO = Path(__file__).parent / "scenario.yaml"
SERVER_ARGUMENTS = (str(SCENARIO), "--port", "0", "--json", "--control-token", TOKEN)

# Runs share no state. Each check accepts the statuses of success; REASONS explains all others.
SETTINGS = """
seed = {seed}
color = false
continue-on-failure = true
request-timeout = 30.0
warnings = false

[cache]
enabled = false

[generation]
max-examples = {examples}
no-shrink = true
database = "none"

[checks.positive_data_acceptance]
expected-statuses = ["2xx"]

# Chains are where this API's rules are: payments that are queried again, voided and disputed.
[phases.stateful.generation]
max-examples = {chains}

[[operations]]
include-operation-id = "createPayment"
generation.max-examples = {payments}
"""

# With whole scenarios as bodies this phase would not end; see `bounded`.
WITHOUT_COVERAGE = """
[[operations]]
include-operation-id = {operations}
phases.coverage.enabled = false
"""


@dataclass(frozen=True)
class Run:
    """The result of a run: exit code and output of Schemathesis, and the counts of `hooks` by topic."""

    status: int
    text: str
    counts: dict[str, Counter[str]]


def schemathesis(
    server: Serving, document: str, folder: Path, *, seed: int, examples: int, seconds: float = 0, bodies: bool = False
) -> list[Run]:
    """Run all phases on a document of a server. All files are written below `folder`.

    The run repeats fuzzing and ends after `seconds`, between two cases; 0 is a single pass of each phase. With
    `bodies`, the operations of `BOUNDED` have a separate coverage run; otherwise they are left out of coverage.
    """
    settings = SETTINGS.format(seed=seed, examples=examples, chains=4 * examples, payments=4 * examples)
    url = server.ready["url"] + DOCUMENTS[document]
    runs = []
    bounded = BOUNDED.get(document, ())
    if bounded and bodies:
        only = [part for operation in bounded for part in ("--include-operation-id", operation)]
        limit = _at_most(seconds / 4)
        runs.append(started(server, url, folder, settings, "--phases", "coverage", *only, *limit, FUZZ_BOUNDED="1"))
        seconds *= 3 / 4
    if bounded:
        settings += WITHOUT_COVERAGE.format(operations=json.dumps(bounded))
    return [*runs, started(server, url, folder, settings, *_at_most(seconds))]


def _at_most(seconds: float) -> list[str]:
    return ["--max-time", str(max(1, round(seconds)))] if seconds else []


def started(server: Serving, place: str, folder: Path, settings: str, *options: str, **variables: str) -> Run:
    """Run one process of Schemathesis on a document, a URL or a file, to its end."""
    configuration, report = folder / "schemathesis.toml", folder / "report.json"
    configuration.write_text(settings)
    report.unlink(missing_ok=True)
    reseller = server.ready["resellers"][0]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration)),
            *("run", place, "-H", f"Authorization: Bearer {TOKEN}", *options),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env=environment(
            PYTHONPATH=str(ROOT),
            SCHEMATHESIS_HOOKS="tools.fuzzing.hooks",
            FUZZ_KEY=reseller["api_key"],
            FUZZ_SECRET=reseller["api_secret"],
            FUZZ_TOKEN=TOKEN,
            FUZZ_REPORT=str(report),
            HYPOTHESIS_STORAGE_DIRECTORY=str(folder / ".hypothesis"),
            NO_PROXY="*",
            **variables,
        ),
    )
    counts = json.loads(report.read_text()) if report.exists() else {}
    return Run(done.returncode, done.stdout + done.stderr, {topic: Counter(one) for topic, one in counts.items()})


def findings(run: Run) -> list[str]:
    """Return the unexplained failures, one line each, and the error of Schemathesis itself if it failed."""
    unexplained = [f"{count} x {what}" for what, count in sorted(run.counts.get("unexplained", {}).items())]
    if not unexplained and (run.status or not run.counts):
        return [f"Schemathesis ended with {run.status}: {run.text[-3000:]}"]
    return unexplained


def prepare(server: Serving) -> None:
    """Fill the default sandbox with deposits whose events failed at first, to be listed, read and replayed."""
    for amount in ("10.00", "20.00", "30.00"):
        ask(
            f"{server.ready['url']}/_sim/sandboxes/default/resellers/RS001/deposits",
            "POST",
            json.dumps({"amount": amount, "description": "for the fuzzer"}).encode(),
            {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
