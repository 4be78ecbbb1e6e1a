"""The rules of the test suite: no test measures time, and none sleeps where it could wait for a condition."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.our_files import our_files

ROOT = Path(__file__).parent
MEASURING = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}
WATCHED = re.compile(r"\btime\.|monotonic|perf_counter|process_time|thread_time|sleep|open_connection")


@cache
def calls(path: Path) -> list[ast.Call]:
    """Yield all calls of a file with one of the words; other files have no call that the rules are about."""
    text = path.read_text()
    if not WATCHED.search(text):
        return []
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    """Return the called name: `sleep` of `asyncio.sleep(1)`; `time.time`, since `time` alone is ambiguous."""
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


def connects(call: ast.Call) -> bool:
    return name_of(call) == "open_connection"


@pytest.mark.parametrize(("word", "does"), [("clock", measures), ("sleep", sleeps), ("connect", connects)])
def test_a_module_that_measures_sleeps_or_connects_says_why(word: str, does: Callable[[ast.Call], bool]) -> None:
    """By a comment that begins with this word. A test waits for a condition where there is one; a connection that still
    has something to send when its loop ends is reported in a later test, by the garbage collector."""
    paths = list(our_files(ROOT, ".py"))
    found = {str(path.relative_to(ROOT)) for path in paths if any(map(does, calls(path)))}
    assert found == {str(path.relative_to(ROOT)) for path in paths if f"# {word}: " in path.read_text()}


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
    """The page for contributors names it, the build machine's script runs it, and `make check` ends with it."""
    names = ("docs/contributing.md", ".ci/run", "Makefile")
    page, script, makefile = (ROOT.parent.joinpath(name).read_text() for name in names)
    assert "\nmake test\n" in script
    assert "\nmake test " in page
    assert "\ncheck: lint types audit test " in makefile


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
    """Python before 3.11.5 continues after the text that a failed lookahead saw."""
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
    """Shared helpers of tests are in `tests/support`."""
    imported = re.compile(r"^(?:from|import) (tests\.(?!support\b)[\w.]+)", re.MULTILINE)
    found = {str(path.relative_to(ROOT)): imported.findall(path.read_text("utf-8")) for path in our_files(ROOT, ".py")}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_support_imports_no_tool() -> None:
    """Tools import `tests.support`; the other way round, no test could do without them."""
    imported = re.compile(r"^(?:from|import) tools\b", re.MULTILINE)
    paths = our_files(ROOT / "support", ".py")
    assert [path.name for path in paths if imported.search(path.read_text("utf-8"))] == []


def test_no_code_asks_how_many_references_an_object_has() -> None:
    """The number differs between versions of Python, so no program may act on it."""
    name = "getref" + "count"
    folders = [
        ROOT.parent / each for each in ("bench", "campaign", "reseller_sim", "release", "simulator", "tests", "tools")
    ]
    files = [path for folder in folders for path in our_files(folder, ".py")]
    assert [str(path) for path in files if name in path.read_text("utf-8")] == []
