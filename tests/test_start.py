"""The start imports nothing that takes long, and concurrent first uses of lazily drawn people agree."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from simulator.scenario.sections import templates

IMPORTED = """
import sys
from simulator.app import build_app
from simulator.options import Options

build_app(Options())
heavy = ("faker", "simulator.control.control_app", "simulator.control.access", "jwt")
assert not [name for name in heavy if name in sys.modules], "they are not part of the start"
from simulator.cli import server
assert "sqlite3" not in sys.modules, "only servers with a data folder need it"
"""


@pytest.mark.slow
def test_the_start_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_people_that_two_threads_draw_up_at_once_are_the_same() -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: templates.person_pools.__wrapped__(), range(2))
    assert first == second == templates.person_pools()
