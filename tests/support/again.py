"""The tests that failed beside others, once more and alone: `python -m tests.support.again`, of `make test-again`.

Tests of real processes, sockets and browsers share the machine with each other and with whatever else runs there. What
fails alone, too, is a fault. What passes is named, since it waits for something that it does not say.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
FEW = 5  # more than that is no chance


def again(failed: Path = FAILED) -> int:
    """Run what the last run left as failed; the exit status, which is 1 when nothing was left or too much."""
    text = failed.read_text("utf-8") if failed.exists() else ""
    names = list(json.loads(text)) if text else []
    if not names:
        print("the last run left no failed test to run again: it ended before, or by something else", file=sys.stderr)
        return 1
    if len(names) > FEW:
        print(f"{len(names)} tests failed, and only up to {FEW} are run again", file=sys.stderr)
        return 1
    status = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", *names], cwd=ROOT, check=False).returncode
    if status == 0:
        print("\n".join(["failed beside others, and passed alone:", *(f"  {name}" for name in names)]))
    return status


if __name__ == "__main__":
    sys.exit(again())
