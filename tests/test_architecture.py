"""The house rules that can be checked: who imports whom, and what the pure packages may not name."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "simulator"

# What each part may import of ours, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "domain": set(),
    "auth": set(),
    "contract": set(),
    "server": set(),
    "console": set(),
    "wire": {"domain"},
    "scenario": {"domain", "contract"},
    "delivery": {"domain", "wire"},
    "tape": {"domain", "scenario"},
    "runtime": {"domain", "scenario", "delivery", "wire"},
    "api": {"runtime", "auth", "contract", "wire", "domain", "delivery"},
    "control": {"runtime", "auth", "contract", "wire", "domain", "delivery", "scenario"},
}
# The floors of the domain, lowest first: each imports only from itself and from below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("model",),
    ("commands", "compiler", "due"),
    ("state",),
    ("queries",),
    ("handlers", "reports"),
    ("sandbox",),
)
PURE = ("domain", "auth", "wire")
STANDARD_AND: dict[str, set[str]] = {"domain": {"msgspec"}, "auth": {"jwt", "msgspec"}}
FORBIDDEN_NAMES = {
    ("time", "time"),
    ("time", "monotonic"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("date", "today"),
    ("uuid", "uuid4"),
    ("os", "urandom"),
}
FORBIDDEN_MODULES = {
    "time", "random", "secrets", "socket", "asyncio", "http", "httpx2", "aiohttp", "starlette", "uvicorn", "requests",
    "urllib.request", "threading", "subprocess",
}  # fmt: skip
LINES_MAX = 300


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, and what it imports from them, by their full names."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_each_part_imports_only_parts_below_it() -> None:
    assert {name_of(path): wrong for path in modules() if (wrong := _imported_from_above(path))} == {}


def _imported_from_above(path: Path) -> set[str]:
    part = part_of(path)
    if part not in MAY_IMPORT:
        return set()
    ours = {name.split(".")[1] for name in imports(path) if name.startswith("simulator.")}
    return ours - MAY_IMPORT[part] - {part} - ({"__version__"} if part in ("control", "api") else set())


def floor_of(domain_name: str) -> int:
    return next(number for number, names in enumerate(FLOORS) if domain_name in names)


@pytest.mark.parametrize("path", sorted((PACKAGE / "domain").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_domain_imports_nothing_from_a_floor_above(path: Path) -> None:
    own = path.relative_to(PACKAGE / "domain").parts[0].removesuffix(".py")
    if own == "__init__":
        return
    used = {name.split(".")[2] for name in imports(path) if name.startswith("simulator.domain.")}
    assert {name for name in used if floor_of(name) > floor_of(own)} == set()
    beside = {name for name in used if floor_of(name) == floor_of(own)} - {own}
    assert not beside, f"{own} and {beside} are on one floor"


@pytest.mark.parametrize(("folder", "allowed"), [("reading", {"reading"}), ("sections", {"reading", "sections"})])
def test_scenarios_are_read_below_their_sections_and_put_together_above(folder: str, allowed: set[str]) -> None:
    paths = sorted((PACKAGE / "scenario" / folder).glob("*.py"))
    used = {name.split(".")[2] for path in paths for name in imports(path) if name.startswith("simulator.scenario.")}
    assert paths
    assert used <= allowed


def test_only_the_domain_knows_its_handlers() -> None:
    """Values come from the model and answers from `queries`; what changes something is a command."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if part_of(path) != "domain" and any(name.startswith("simulator.domain.handlers") for name in imports(path))
    }
    assert found == set()


def test_no_module_imports_itself_in_a_circle_type_only_imports_included() -> None:
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in modules()}
    arrows = {name: _modules_imported(path, set(names)) - {name} for name, path in names.items()}
    free: set[str] = set()
    while ready := {name for name, used in arrows.items() if name not in free and used <= free}:
        free |= ready
    assert set(arrows) - free == set()


def _modules_imported(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports, whether it names the module or something in it."""
    return {candidate for name in imports(path) for candidate in (name, name.rpartition(".")[0]) if candidate in known}


@pytest.mark.parametrize(
    "path", [p for p in modules() if part_of(p) in PURE], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_pure_parts_read_no_clock_no_randomness_and_no_network(path: Path) -> None:
    tree = tree_of(path)
    named = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert not named & FORBIDDEN_NAMES
    imported = set(imports(path))
    roots = imported | {name.rpartition(".")[0] for name in imported} | {name.split(".")[0] for name in imported}
    assert not roots & FORBIDDEN_MODULES


@pytest.mark.parametrize("part", STANDARD_AND)
def test_the_core_needs_hardly_more_than_the_standard_library(part: str) -> None:
    import sys

    for path in (PACKAGE / part).rglob("*.py"):
        allowed = {"simulator"} | sys.stdlib_module_names | STANDARD_AND[part]
        foreign = {name.split(".")[0] for name in imports(path)} - allowed
        assert not foreign, f"{path.name} imports {foreign}"


def test_a_module_has_one_subject_named_in_its_first_line() -> None:
    assert [name_of(path) for path in modules() if not ast.get_docstring(tree_of(path))] == [], "no docstring"
    lines = {name_of(path): len(path.read_text().splitlines()) for path in modules()}
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}, "two subjects?"


def test_one_place_lets_commands_into_a_sandbox() -> None:
    """Everything goes through `LiveSandbox`, which is where inputs can be written down."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if part_of(path) not in ("domain", "tape")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "apply" and _ends_in(node.value, ("core", "_core"))
    }
    assert found == {"runtime/sandboxes.py"}


def _ends_in(node: ast.expr, names: tuple[str, ...]) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in names) or (isinstance(node, ast.Name) and node.id in names)


def test_days_and_times_are_parsed_in_one_place() -> None:
    """Of ISO 8601, each parser accepts a little more or less than the next one."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("fromisoformat", "strptime")
    }
    assert found == {"domain/model/instants.py"}


def test_product_codes_do_not_appear_in_python() -> None:
    codes = ("RELOAD", "ELECTRIC", "WATER", "GIFTCARD", "VOUCHER", "RETIRED", "INTERBANK", "STUDENTLOAN")
    found = [
        f"{path.name}: {node.value}"
        for path in modules()
        if part_of(path) not in ("cli",)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and node.value in codes
    ]
    assert not found


def test_the_misspelt_success_is_written_in_wire_and_in_the_scenario_language_alone() -> None:
    found = {
        part_of(path)
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and node.value == "Succesful"
    }
    assert found <= {"wire", "scenario"}
