"""The rules of the test suite: no test measures time, and none sleeps where it could wait for a condition."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.our_files import our_files
from tests.support.slow_rows import slow_rows

ROOT = Path(__file__).parent
MEASURING = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}
WATCHED = re.compile(r"\btime\.|monotonic|perf_counter|process_time|thread_time|sleep|open_connection")

MAY_MEASURE = {
    "support/bad_requests.py": "a bound of 20 s, for what blocks the loop and so is beyond a bounded wait",
    "support/longest_turn.py": "processor time, which the load of the machine does not change, within a wide margin",
    "support/console.py": "the timestamp of a signature",
    "support/on_the_wire.py": "the timestamp of a signature",
    "server/test_server_faults.py": "that an answer drips is seen by its time alone",
    "support/shops/good.py": "the timestamp of a signature",
    "explore/test_shops.py": "a mistake is to be found within two minutes",
    "client/test_receiver_attacked.py": "that a drip ends and closing waits for nobody is seen by its time alone",
}
MAY_SLEEP = {
    "delivery/test_answers.py": "what was written has to arrive before the reset that would discard it",
    "delivery/test_connections.py": "what was written arrives before the close; a program's sockets close behind it",
    "delivery/test_hostile_answers.py": "receivers that pause, so that what they sent is read before what comes next",
    "support/echo_at_once.py": "an application that takes its time",
    "server/test_server_bounds.py": "a client that sends at a pace, so that the answer can arrive in between",
    "server/test_server_faults.py": "a client that leaves in the middle of an answer",
    "server/test_server_pace.py": "clients that pause, against a server's times",
    "support/echo_server.py": "an application and clients that take their time; a poll within a bound",
    "e2e/test_floods.py": "a poll within a bound: the memory of a process has no event to wait for",
    "proxy/test_failures.py": "an upstream that drips, slower than it could",
    "tools/worlds/test_loop.py": "the time is virtual",
    "support/shops/good.py": "a client's own pace, between its questions",
    "support/broken_receivers.py": "a poll within a bound: sockets have no event to wait for",
}
MAY_CONNECT = {
    "support/connections.py": "it closes what it opened",
    "support/echo_server.py": "its client closes by the same function",
    "server/test_server_tls.py": "the same, within TLS",
}


@cache
def calls(path: Path) -> list[ast.Call]:
    """All calls of a file that has one of the words; no other has a call that the rules are about."""
    text = path.read_text()
    if not WATCHED.search(text):
        return []
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    """What is called: `sleep` of `asyncio.sleep(1)`; `time.time`, since many other things are called `time`."""
    if isinstance(call.func, ast.Attribute):
        is_module = isinstance(call.func.value, ast.Name) and call.func.value.id == "time"
        return f"time.{call.func.attr}" if is_module else call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def measures(call: ast.Call) -> bool:
    return name_of(call).removeprefix("time.") in MEASURING and name_of(call) != "time"


def sleeps(call: ast.Call) -> bool:
    """True unless it only lets others have their turn."""
    is_turn = bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
    return name_of(call).removeprefix("time.") == "sleep" and not is_turn


@pytest.mark.slow
@pytest.mark.parametrize(("does", "allowed"), [(measures, MAY_MEASURE), (sleeps, MAY_SLEEP)])
def test_time_is_measured_and_slept_through_only_where_it_says_why(
    does: Callable[[ast.Call], bool], allowed: dict[str, str]
) -> None:
    found = {str(path.relative_to(ROOT)) for path in our_files(ROOT, ".py") if any(map(does, calls(path)))}
    assert found == set(allowed)


def connects(call: ast.Call) -> bool:
    return name_of(call) == "open_connection"


@pytest.mark.slow
def test_connections_are_opened_where_they_are_closed_on_every_path() -> None:
    """One that still has something to send when its loop ends is reported in a later test, by the garbage collector."""
    found = {str(path.relative_to(ROOT)) for path in our_files(ROOT, ".py") if any(map(connects, calls(path)))}
    assert found == set(MAY_CONNECT)


@pytest.mark.parametrize(
    ("code", "is_measured", "is_slept"),
    [
        ("time.monotonic()", True, False),
        ("perf_counter()", True, False),
        ("time.time()", True, False),
        ("clock.time()", False, False),
        ("await asyncio.sleep(0.1)", False, True),
        ("time.sleep(seconds)", False, True),
        ("await asyncio.sleep(0)", False, False),
    ],
)
def test_the_rules_recognize_calls_that_measure_or_sleep(code: str, is_measured: bool, is_slept: bool) -> None:
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert (measures(call), sleeps(call)) == (is_measured, is_slept)


def test_everybody_runs_the_same_command() -> None:
    """The page for contributors tells it, the build machine's script ends with it and with what of it failed by chance,
    `make check` comes to it last."""
    names = ("docs/contributing.md", ".ci/run", "Makefile")
    page, script, makefile = (ROOT.parent.joinpath(name).read_text() for name in names)
    assert script.splitlines()[-1] == "make test || make test-again"
    assert "\nmake test " in page
    assert "\ncheck: lint types audit test " in makefile
    assert '-m "not slow"' in makefile.partition("\ntest-fast:")[2].partition("\n\n")[0]


def test_the_fast_rows_of_a_long_table_are_spread_over_it() -> None:
    rows = range(100)
    assert [row for row in rows if row not in set(slow_rows(rows))] == [0, 49, 99]
    assert [list(slow_rows(range(length))) for length in (1, 2, 3, 4)] == [[], [], [], [2]]


def possessive_groups(code: str) -> list[str]:
    """The groups of patterns that keep what they took, `(...)++`, whole."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", lambda found: "_" * len(found[0]), code)
    groups, opened = [], []
    for at, sign in enumerate(plain):
        if sign == "(":
            opened.append(at)
        elif sign == ")" and opened:
            begins = opened.pop()
            if re.match(r"[*+?}]\+", plain[at + 1 : at + 3]):
                groups.append(plain[begins : at + 1])
    return groups


@pytest.mark.slow
def test_no_possessive_group_looks_around() -> None:
    """Python before 3.11.5 goes on behind what a failed lookahead saw: `simulator/wire/runs.py` is there instead."""
    assert possessive_groups(r'"(?!x)(?:a|\))++" + "(?:(?!%26)[^&)])*+"') == ["(?:a|__)", "(?:(?!%26)_____)"]
    patterns = [
        (path.name, group)
        for path in sorted((ROOT.parent / "simulator").rglob("*.py"))
        for line in path.read_text().splitlines()
        for group in possessive_groups(line)
    ]
    assert patterns
    assert [one for one in patterns if re.search(r"\(\?<?[=!]", one[1])] == []


def test_test_modules_do_not_import_each_other() -> None:
    """What several of them need is in `tests/support`."""
    imported = re.compile(r"^(?:from|import) (tests\.(?!support\b)[\w.]+)", re.MULTILINE)
    found = {str(path.relative_to(ROOT)): imported.findall(path.read_text("utf-8")) for path in our_files(ROOT, ".py")}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_what_helps_tests_imports_no_tool() -> None:
    """Tools import `tests.support`; the other way round, no test could do without them."""
    imported = re.compile(r"^(?:from|import) tools\b", re.MULTILINE)
    paths = our_files(ROOT / "support", ".py")
    assert [path.name for path in paths if imported.search(path.read_text("utf-8"))] == []
