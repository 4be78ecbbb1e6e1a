"""`make fuzz`: campaigns of Schemathesis with one seed after the other, for a time; exit code 1 for a finding."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.support.fuzzing.run import DOCUMENTS, SERVER_ARGUMENTS, findings, prepare, schemathesis
from tests.support.processes import serving


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was tried and what was found."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each round has the next one")
    parser.add_argument("--examples", type=int, default=50, help="cases of an operation in the fuzzing phase")
    parser.add_argument("--minutes", type=float, default=10, help="no round begins after this")
    parser.add_argument("--only", choices=DOCUMENTS, help="one of the two documents")
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.minutes * 60
    found: list[str] = []
    totals: dict[str, Counter[str]] = {}
    seed = options.seed
    while seed == options.seed or time.monotonic() < end:
        for document in [options.only] if options.only else DOCUMENTS:
            found += _round(document, seed, options.examples, max(end - time.monotonic(), 1), totals)
        seed += 1
    for topic in ("phases", "checks", "payments", "links", "answers", "reasons"):
        print(f"\n{topic}")
        for what, count in sorted(totals.get(topic, {}).items()):
            print(f"{count:8} {what}")
    print(f"\n{len(found)} findings")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


def _round(document: str, seed: int, examples: int, seconds: float, totals: dict[str, Counter[str]]) -> list[str]:
    """One run over a document, with a server of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        serving(*SERVER_ARGUMENTS, served_s=seconds + 3600) as server,
    ):
        prepare(server)
        run = schemathesis(server, document, Path(folder), seed=seed, examples=examples)
    print(f"{document}, seed {seed}: {run.counts.get('phases', {})}", file=sys.stderr, flush=True)
    for topic, counts in run.counts.items():
        totals.setdefault(topic, Counter()).update(counts)
    return [f"{document}, seed {seed}: {line}" for line in findings(run)]


if __name__ == "__main__":
    sys.exit(main())
