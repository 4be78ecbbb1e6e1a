"""The pytest plugin: the fixtures `reseller_sim`, `sandbox` and `async_sandbox`, the mark `scenario`, two options.

pytest imports this module in each of its runs, so it imports nothing but pytest; all else is imported when a test first
asks for a fixture. docs/pytest.md is about its use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from reseller_sim import AsyncSandbox, Sandbox, Simulator
    from reseller_sim.pytest_sandbox import Watched

WATCHED: pytest.StashKey[Watched] = pytest.StashKey()
"""The sandbox of a test item."""

CREDENTIALS = ("RESELLER_API_KEY", "RESELLER_API_SECRET", "RESELLER_USERNAME", "RESELLER_PASSWORD")
MARKS = (
    "scenario(scenario=None, *, clock, start, seed, credentials, audit, tape, mark): what the test's sandbox begins"
    " with: a bundled scenario's name, a YAML file (looked for beside the test, then in the root folder), YAML text or"
    " a mapping; or the file of a tape, and a mark on it. audit=False: the test violates obligations on purpose.",
    "reseller_sim_scenario(…): the same, for a project that has a mark scenario of its own.",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reseller-sim")
    group.addoption(
        "--reseller-sim-audit",
        action="store_true",
        help="Fail a test that violates what the service asks of a client; warnings are among those of pytest.",
    )
    group.addoption(
        "--reseller-sim-report",
        metavar="DIR",
        help="Write what each test's sandbox did to files in this folder.",
    )
    parser.addini("reseller_sim_scenario", "The scenario of tests without a mark: a name or a file.", default="")
    parser.addini("reseller_sim_clock", "The clock of tests without a mark: manual, real or xN.", default="manual")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks; begin the report's folder, in the process that the user started."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if config.getoption("--reseller-sim-report") and not hasattr(config, "workerinput"):
        from reseller_sim.pytest_sandbox import begin

        begin(config)


@pytest.fixture(name="reseller_sim", scope="session")
def _reseller_sim(pytestconfig: pytest.Config) -> Iterator[Simulator]:
    """The simulator that the environment names (`reseller-sim exec`), otherwise a new simulator of this process. With
    xdist each worker starts its own."""
    from reseller_sim.pytest_sandbox import simulator

    with simulator(pytestconfig.rootpath) as found:
        yield found


@pytest.fixture
def reseller_sim_sandbox(request: pytest.FixtureRequest, reseller_sim: Simulator) -> Iterator[Sandbox]:
    """A new sandbox for the test, as `@pytest.mark.scenario` says. Its clock moves only when the test advances it. It
    is deleted after the test."""
    from reseller_sim.pytest_sandbox import Watched

    request.node.stash[WATCHED] = watched = Watched(request.node, reseller_sim)
    yield watched.sandbox
    watched.end()


@pytest.fixture
def reseller_sim_async_sandbox(reseller_sim_sandbox: Sandbox) -> AsyncSandbox:
    """The test's sandbox with methods to await, for any runner of asynchronous tests."""
    from reseller_sim import AsyncSandbox

    return AsyncSandbox(reseller_sim_sandbox)


@pytest.fixture
def reseller_sim_environment(reseller_sim_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The test's sandbox. During the test, RESELLER_BASE_URL, RESELLER_API_KEY and the other variables name it."""
    for name in CREDENTIALS:  # prevents the use of credentials of another service
        monkeypatch.delenv(name, raising=False)
    for name, value in reseller_sim_sandbox.environment.items():
        monkeypatch.setenv(name, value)
    return reseller_sim_sandbox


@pytest.fixture
def sandbox(reseller_sim_sandbox: Sandbox) -> Sandbox:
    """The short name of `reseller_sim_sandbox`."""
    return reseller_sim_sandbox


@pytest.fixture
def async_sandbox(reseller_sim_async_sandbox: AsyncSandbox) -> AsyncSandbox:
    """The short name of `reseller_sim_async_sandbox`."""
    return reseller_sim_async_sandbox


@pytest.fixture
def sandbox_environment(reseller_sim_environment: Sandbox) -> Sandbox:
    """The short name of `reseller_sim_environment`."""
    return reseller_sim_environment


@pytest.hookimpl(trylast=True)  # after the hook that runs the test, and only if that succeeds
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail a test that violated an obligation, with --reseller-sim-audit."""
    if WATCHED in item.stash and item.config.getoption("--reseller-sim-audit"):
        item.stash[WATCHED].audit()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Add the evidence to the report of a failed test. The evidence is kept when the fixture deletes the sandbox."""
    outcome = yield
    if WATCHED in item.stash:
        item.stash[WATCHED].add_to(outcome.get_result())
        if call.when == "teardown":
            del item.stash[WATCHED]  # a plugin may run the test again


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the path of the report."""
    if folder := terminalreporter.config.getoption("--reseller-sim-report"):
        terminalreporter.write_line(f"reseller-sim: report of the tests: {folder}")
