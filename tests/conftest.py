"""What holds for the whole suite: how Hypothesis chooses examples, what of long tables is fast, garbage, long turns,
hangs."""

import gc
import os
from collections.abc import Generator, Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key  # of what it does not capture; there is no other way
from hypothesis import HealthCheck, settings

from simulator.scenario.sections.people import person_pools
from tests.support.longest_turn import LIMIT_S, LONGEST_TURN
from tests.support.slow_rows import slow_rows
from tests.support.tools import not_run
from tests.support.watchdog import WATCHDOG

# How long an example takes is the machine's affair: no deadlines. Every run has the same examples, so that a failure is
# one of the change under test, and nothing is remembered in the checkout; `--hypothesis-profile random` draws others.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("random", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.register_profile("fast", settings.get_profile("reproducible"), max_examples=20)  # of `make test-fast`
settings.load_profile("reproducible")

LONGEST_TURN.install()
gc.disable()  # until all tests are collected, since nothing of them is garbage

WORKERS_PER_CORE = 2  # tests wait for processes, browsers and time-outs nearly half of their time


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Of `-n auto`: more processes than cores, since one of them often waits. The fast tests do not, and a process
    takes seconds to collect all."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if config.option.markexpr else WORKERS_PER_CORE * cores


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """No test hangs for ever."""
    WATCHDOG.begin()
    try:
        return (yield)
    finally:
        WATCHDOG.end()


def pytest_enter_pdb() -> None:
    """Whoever debugs takes the time that it takes."""
    WATCHDOG.leave()


def pytest_unconfigure() -> None:
    """No test comes any more."""
    WATCHDOG.stop()


@pytest.fixture(autouse=True)
def _no_turn_is_long() -> Iterator[None]:
    """Each callback of an event loop ends soon, since one process answers all."""
    LONGEST_TURN.begin()
    yield
    assert LONGEST_TURN.seconds < LIMIT_S, f"{LONGEST_TURN.seconds:.2f} s without a pause: {LONGEST_TURN.callback}"


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests, and mark rows of long tables as slow, but for some that are spread over the whole of each."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for rows in tables.values():
        for item in slow_rows(rows):
            item.add_marker("slow")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import Faker ahead, as a server does, and keep the garbage collector away from what lives as long as the run: the
    tests themselves and the modules."""
    person_pools()
    WATCHDOG.start(session.config.stash[fault_handler_stderr_fd_key])
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what did not run for want of a program."""
    if line := not_run([report.longrepr for report in terminalreporter.stats.get("skipped", [])]):
        terminalreporter.write_line(line)
