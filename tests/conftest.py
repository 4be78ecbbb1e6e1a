"""Rules of the whole suite: tiers, Hypothesis' examples, garbage collection, long turns of the loop, hanging tests."""

import gc
import os
from collections.abc import Generator, Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key  # of what it does not capture; there is no other way
from hypothesis import HealthCheck, settings

from simulator.scenario.sections.templates import person_pools
from tests.support.longest_turn import LIMIT_S, LONGEST_TURN
from tests.support.programs import not_run
from tests.support.tiers import Tier
from tests.support.watchdog import WATCHDOG

# Every run draws the same examples, without deadlines, and stores nothing in the checkout, so a failure belongs to the
# change under test. `--hypothesis-profile full` draws as many as a test asks for, `random` draws others.
settings.register_profile(
    "reproducible",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("full", settings.get_profile("reproducible"), max_examples=100)
settings.register_profile("random", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.load_profile("reproducible")

LONGEST_TURN.install()
gc.disable()  # until all tests are collected, since nothing of them is garbage

WORKERS_PER_CORE = 2  # tests wait for processes, browsers and timeouts nearly half of their time


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what chooses a part of the slow tier."""
    group = parser.getgroup("tiers")
    group.addoption("--quarter", default="", metavar="HASH", help="the quarter of the test modules of a commit's hash")
    group.addoption("--minutes", type=float, default=0.0, help="start no test after so many minutes")


def pytest_configure(config: pytest.Config) -> None:
    """Add the plugin for runs that are more than the fast tier."""
    if config.option.markexpr != "not slow":
        config.pluginmanager.register(Tier(config.option.quarter, config.option.minutes))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of workers of `-n auto`: more than cores, since one of them often waits."""
    return WORKERS_PER_CORE * (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """No test hangs for ever."""
    WATCHDOG.begin()
    try:
        return (yield)
    finally:
        WATCHDOG.end()


def pytest_enter_pdb() -> None:
    """A debugger has no time limit."""
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


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import Faker ahead, as a server does, and keep the garbage collector away from what lives as long as the run: the
    tests themselves and the modules."""
    person_pools()
    WATCHDOG.start(session.config.stash[fault_handler_stderr_fd_key])
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report in a single line the tests that lacked a program."""
    if line := not_run([report.longrepr for report in terminalreporter.stats.get("skipped", [])]):
        terminalreporter.write_line(line)
