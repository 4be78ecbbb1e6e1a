"""The tool of `make mutation`: which mutants it makes, and which of them survive which tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutation import SOURCES, TESTS, mutants, sample

ROOT = Path(__file__).parents[2]

# source, the changed lines of its mutants
CHANGES: list[tuple[str, list[str]]] = [
    ("a < b", ["a <= b", "a >= b"]),
    ("a < b == c", ["a <= b == c", "a >= b == c", "a < b != c"]),
    ("a is b", ["a is not b"]),
    ("a not in b", ["a in b"]),
    ("a and b", ["a or b"]),
    ("a + b", ["a - b"]),
    ("a // b", ["a * b"]),
    ("a += b", ["a -= b"]),
    ("x = 3", ["4"]),
    ("x = True", ["False"]),
    ("b if a else c", ["b if not a else c"]),
    ("if a:\n    b", ["if not a:"]),
    ("'text' + a", []),
    ("a | b", []),
    ("x = 'text'", []),
    ('"""A docstring of 3 < 4."""', []),
    ("assert a < 3, b + c", []),
    ("f'{a + 1}'", []),
    ("def f(a: X[1]) -> Y[2]:\n    return", []),
    ("@slow(3)\nclass A(B[1], frozen=True):\n    __slots__ = ('a', 'b')\n    x: C[1]", []),
]


@pytest.mark.parametrize(("source", "expected"), CHANGES)
def test_a_mutant_changes_one_operator_number_or_condition(source: str, expected: list[str]) -> None:
    found = list(mutants("m.py", source))
    assert [change.partition(" -> ")[2] for change, _, _ in found] == expected
    assert all(change.startswith("m.py:1: ") and path == "m.py" for change, path, _ in found)
    assert len({source, *(changed for _, _, changed in found)}) == len(expected) + 1, "each is another module"


def test_the_seed_decides_which_mutants_are_drawn() -> None:
    one, same, other = (sample(ROOT, SOURCES[2:], seed, 10) for seed in (1, 1, 2))
    assert one == same != other
    assert len(one) == 10
    assert all((ROOT / path).exists() for path in (*SOURCES, *TESTS))


MODULE = "def is_long(text):\n    return len(text) > 3\n\n\ndef hang():\n    return 1\n"
TEST = "from simulator.m import is_long\n\n\ndef test_is_long():\n    assert is_long('long') and not is_long('')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with a module and its test, in the layout of ours."""
    for path, text in {"simulator/__init__.py": "", "simulator/m.py": MODULE, "tests/test_m.py": TEST}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    return tmp_path


SURVIVORS = (
    "from pathlib import Path; from tools.mutation import sample, survivors; root = Path('.');"
    "print(*survivors(root, sample(root, ['simulator'], 1, 9), ['tests']), sep='\\n')"
)
ONE_LINE = (
    "import sys; from tools import mutation; sys.argv[1:] = ['--only', 'm.py:2'];"
    "mutation.SOURCES, mutation.TESTS = ['simulator'], ['tests']; print('exit', mutation.main())"
)


def survivors_of(project: Path, code: str = SURVIVORS) -> str:
    """Return the output of the tool, run in a process of its own, since it forks."""
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    return run.stdout + run.stderr


def test_mutants_that_no_test_detects_survive_and_the_source_stays_unchanged(project: Path) -> None:
    found = survivors_of(project).splitlines()
    assert sorted(found) == ["simulator/m.py:2: len(text) > 3 -> len(text) >= 3", "simulator/m.py:6: 1 -> 2"]
    assert (project / "simulator/m.py").read_text() == MODULE


def test_tests_that_fail_without_a_mutant_prove_nothing(project: Path) -> None:
    (project / "tests/test_m.py").write_text(TEST.replace("not is_long", "is_long"))
    assert "the tests fail without a mutant" in survivors_of(project)


def test_one_line_is_tried_with_every_mutant(project: Path) -> None:
    (project / "tests/test_more.py").write_text(TEST.replace("not is_long('')", "not is_long('any')"))
    assert survivors_of(project, ONE_LINE).splitlines() == ["seed 1: 3 of 3 killed", "exit 0"]
