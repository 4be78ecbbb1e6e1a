"""`make fuzz`: campaigns of Schemathesis with one seed after the other, for a time; exit code 1 for a finding."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.support.processes import serving
from tools.fuzzing.reasons import REASONS
from tools.fuzzing.run import DOCUMENTS, SERVER_ARGUMENTS, findings, prepare, schemathesis

TOPICS = ("phases", "checks", "payments", "links", "answers", "reasons")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run campaigns for the given time, and print requests, refusals and findings."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each round has the next one")
    parser.add_argument("--examples", type=int, default=50, help="cases of an operation in the fuzzing phase")
    parser.add_argument("--minutes", type=float, default=10, help="of the whole run; each round has a fifth of them")
    parser.add_argument("--only", choices=DOCUMENTS, help="one of the two documents")
    options = parser.parse_args(arguments)
    documents = [options.only] if options.only else list(DOCUMENTS)
    end = time.monotonic() + options.minutes * 60
    longest = max(options.minutes * 60 / ROUNDS, SHORTEST_ROUND_S) / len(documents)
    found: list[str] = []
    totals: dict[str, Counter[str]] = {}
    seed = options.seed
    while True:
        for document in documents:
            left = end - time.monotonic()
            if totals and left < SHORTEST_ROUND_S / len(documents):
                return _report(found, totals)
            found += _round(document, seed, options.examples, min(longest, left), totals)
        seed += 1


ROUNDS = 5
SHORTEST_ROUND_S = 100
"""The time of the coverage phase for both documents, so that the other phases have their turn."""


def _report(found: list[str], totals: dict[str, Counter[str]]) -> int:
    for topic in TOPICS:
        print(f"\n{topic}")
        for what, count in sorted(totals.get(topic, {}).items()):
            print(f"{count:8} {what}")
    unused = [reason.label for reason in REASONS if reason.label not in totals.get("reasons", {})]
    print("\nreasons that nothing was refused for", *unused, sep="\n         ")
    operations = {what.partition(" ")[0] for what in totals.get("answers", {})}
    cases, checks, refused = (sum(totals.get(topic, Counter()).values()) for topic in ("phases", "checks", "reasons"))
    voids = totals.get("payments", Counter())["voidPayment, Success"]
    print(
        f"\n{len(operations)} operations, {cases} cases, {checks} checks, {refused} refusals with a reason, "
        f"{voids} voids that succeeded, {len(found)} findings"
    )
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


def _round(document: str, seed: int, examples: int, seconds: float, totals: dict[str, Counter[str]]) -> list[str]:
    """Run Schemathesis on one document, with a new server."""
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        serving(*SERVER_ARGUMENTS, served_s=seconds + 3600) as server,
    ):
        prepare(server)
        runs = schemathesis(server, document, Path(folder), seed=seed, examples=examples, seconds=seconds, bodies=True)
    found = []
    for run in runs:
        print(f"{document}, seed {seed}: {dict(run.counts.get('phases', {}))}", file=sys.stderr, flush=True)
        for topic, counts in run.counts.items():
            totals.setdefault(topic, Counter()).update(counts)
        found += [f"{document}, seed {seed}: {line}" for line in findings(run)]
    return found


if __name__ == "__main__":
    sys.exit(main())
