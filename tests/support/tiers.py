"""The two tiers of the suite: fast tests, which `make test` runs, and those marked `slow`, which `make test-all` adds.

The build machine runs a quarter of the slow tier: the test modules whose path falls to the commit's hash. Four commits
in a row run different quarters by chance, so no slow test is unseen for long.

`python -m tests.support.tiers` prints what this machine lacks and which modules that costs, `... tiers HASH` what the
quarter of that commit lacks, one a line: `apt PACKAGE` or `make TARGET`.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from tests.support.programs import PROGRAMS, ROOT, missing

QUARTERS = 4


def examples(full: int) -> int:
    """Return how many examples Hypothesis draws for a property that draws `full` in the slow tier."""
    from hypothesis import settings

    return full if settings.get_current_profile_name() == "full" else min(full, settings().max_examples)


def is_in_quarter(file: str, commit: str) -> bool:
    """Return whether a test module, named from the project's root, is in the quarter of a commit's hash."""
    return crc32(file.encode()) % QUARTERS == int(commit, 16) % QUARTERS


def slow_files(commit: str = "") -> Iterator[Path]:
    """Yield the modules that have slow tests; with a commit's hash only the modules in its quarter."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        name = str(file.relative_to(ROOT))
        if "mark.slow" in file.read_text("utf-8") and (not commit or is_in_quarter(name, commit)):
            yield file


class Tier:
    """A pytest plugin that leaves out tests of other quarters, and stops starting tests when the time is up."""

    def __init__(self, commit: str, minutes: float) -> None:
        self._commit = commit
        # clock: how long a quarter of the slow tier lasts
        self._ends_s = time.monotonic() + 60 * minutes if minutes else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests of this quarter."""
        if not self._commit:
            return
        kept = [item for item in items if is_in_quarter(item.nodeid.partition("::")[0], self._commit)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept

    def pytest_runtest_setup(self) -> None:
        """Skip tests that have not begun when the time is up."""
        if self._ends_s is not None and time.monotonic() > self._ends_s:
            pytest.skip("the time for this quarter is used up")


def main(commit: str = "") -> None:
    """Print the requirements of the slow tier, or of a commit's quarter, that this machine lacks."""
    lacking = missing(slow_files(commit))
    if commit:
        lines = {f"apt {PROGRAMS[name].package}" if name in PROGRAMS else f"make {name}" for name in lacking}
    else:
        lines = {f"missing here: {name}; skips tests of {', '.join(files)}" for name, files in lacking.items()}
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
