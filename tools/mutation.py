"""Mutation testing: apply a seeded sample of small changes to the source, and count the mutants that the tests detect.

A mutant changes a comparison, boolean, condition, arithmetic operator or number, but no annotation, f-string,
assertion, decorator, class keyword or `__slots__`. It runs in a fork, in a copy of the project, with limited CPU
time.
"""

import argparse
import ast
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import faker  # noqa: F401  # slow to import, so once, before the forks
import pytest

SOURCES = ("simulator/domain/handlers", "simulator/domain/model", "simulator/auth/signature.py")
TESTS = ("tests/domain", "tests/auth/test_signature.py", "tests/persistence/snapshot")
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "dist", "build", "site", "wheelhouse")
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", "-m", "not slow")
PROCESSES, CPU_SECONDS_MAX = 2, 60

OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.And: (ast.Or,), ast.Or: (ast.And,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,)}  # fmt: skip
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "bases"}

Mutant = tuple[str, str, str]
"""The change, its file, and the text of the whole changed module."""


def sample(root: Path, sources: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """Return `count` mutants of these modules and folders, drawn by the seed; all of them when there are fewer."""
    paths = [path for source in sources for path in (sorted((root / source).rglob("*.py")) or [root / source])]
    every = [mutant for path in paths for mutant in mutants(str(path.relative_to(root)), path.read_text())]
    return random.Random(seed).sample(every, min(count, len(every)))  # noqa: S311  # a sample, no secret


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    for node in _nodes(tree := ast.parse(source)):
        before, fields = ast.unparse(node), vars(node).copy()
        for changed in list(_changes(node)):
            vars(node).update(changed)
            old, new = (text.partition("\n")[0] for text in (before, ast.unparse(node)))
            yield f"{path}:{fields['lineno']}: {old} -> {new}", path, ast.unparse(tree)
            vars(node).update(fields)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the nodes that may change, in the order of the module."""
    if isinstance(node, ast.Assert | ast.JoinedStr) or (isinstance(node, ast.Assign) and "__slots__" in ast.dump(node)):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in SKIPPED_FIELDS and not (name == "keywords" and isinstance(node, ast.ClassDef)):
            for child in filter(lambda one: isinstance(one, ast.AST), value if isinstance(value, list) else [value]):
                yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[dict[str, Any]]:
    """Yield the changed fields of each mutant of a node."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                yield from ({"ops": [*ops[:place], other(), *ops[place + 1 :]]} for other in OPERATORS[type(op)])
        case ast.BinOp(left=ast.JoinedStr() | ast.Constant(value=str())) | ast.BinOp(right=ast.JoinedStr()):
            return
        case ast.BoolOp(op=op) | ast.BinOp(op=op) | ast.AugAssign(op=op):
            yield from ({"op": other()} for other in OPERATORS.get(type(op), ()))
        case ast.Constant(value=bool(value)):
            yield {"value": not value}
        case ast.Constant(value=int(value) | float(value)):
            yield {"value": value + 1}
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare):
            yield {"test": ast.UnaryOp(ast.Not(), test)}


def survivors(root: Path, chosen: Sequence[Mutant], tests: Sequence[str]) -> Iterator[str]:
    """Yield what the mutants change that the tests do not detect. Exit when the tests fail without a mutant."""
    waiting, running = list(reversed(chosen)), dict[BaseProcess, tuple[Path, Mutant]]()
    with tempfile.TemporaryDirectory() as folder:
        free = [shutil.copytree(root, Path(folder, str(number)), ignore=LEFT_OUT) for number in range(PROCESSES)]
        (unchanged := _started(free[0], "", tests)).join()
        if unchanged.exitcode:
            raise SystemExit("the tests fail without a mutant; run them by pytest and mend them first")
        while waiting or running:
            while waiting and free:
                mutant, place = waiting.pop(), free.pop()
                (place / mutant[1]).write_text(mutant[2])
                running[_started(place, mutant[1], tests)] = place, mutant
            wait([process.sentinel for process in running])
            for process in [process for process in running if not process.is_alive()]:
                place, (change, path, _) = running.pop(process)
                shutil.copy2(root / path, place / path)
                free.append(place)
                if process.exitcode == 0:
                    yield change


def _started(place: Path, path: str, tests: Sequence[str]) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=_run, args=(place, path, tests))
    process.start()
    return process


def _run(place: Path, path: str, tests: Sequence[str]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))
    os.chdir(place)
    sys.path.insert(0, str(place))
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    folder, _, module = path.replace("simulator/", "tests/", 1).removesuffix(".py").rpartition("/")
    mirrors = [str(file) for file in Path(folder).glob(f"test_{module}*.py")]  # fail most often, are collected quickly
    for paths in filter(None, (mirrors, tests)):
        if pytest.main([*OPTIONS, *paths]) not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            os._exit(1)
    os._exit(0)


def main() -> int:
    """Print each survivor and the figure; 1 when fewer than `--at-least` mutants are killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", metavar="FILE:LINE", default="", help="every mutant of this line, no sample")
    for option, default in (("--seed", 1), ("--mutants", 100), ("--at-least", 92)):
        parser.add_argument(option, type=int, default=default)
    asked = parser.parse_args()
    drawn = sample(Path(), SOURCES, asked.seed, sys.maxsize if asked.only else asked.mutants)
    chosen = [mutant for mutant in drawn if f"{asked.only}: " in mutant[0]]
    killed = len(chosen)
    for survivor in survivors(Path(), chosen, TESTS):
        killed -= 1
        print(survivor, flush=True)
    print(f"seed {asked.seed}: {killed} of {len(chosen)} killed")
    return int(killed < min(asked.at_least, len(chosen)))


if __name__ == "__main__":
    sys.exit(main())
