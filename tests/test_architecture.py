"""House rules: allowed imports between packages, and names that pure packages may not use."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from simulator.domain.model.transactions import TRANSITIONS
from simulator.wire.payment_answers import STATUS_NAMES

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "simulator"
PAGE = (ROOT / "docs" / "architecture.md").read_text()

ROOMS = ("tape", "replay", "snapshot")
"""Of `simulator/persistence`."""

# Our parts that each part may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "domain": set(),
    "short_text": set(),
    "whole_files": set(),
    "redaction": {"domain", "wire"},
    "auth": {"short_text"},
    "contract": {"domain", "short_text"},
    "server": set(),
    "wire": {"domain", "short_text"},
    "staging": {
        "redaction",
        "short_text",
        "server",
        "options",
        "control",
        "scenario",
        "contract",
        "auth",
        "http_client",
        "runtime",
        "wire",
        "domain",
    },
    "scenario": {"domain", "contract", "http_client", "wire", "short_text", "whole_files"},
    "http_client": {"domain"},
    "tape": {"domain", "scenario"},
    "postgres": {
        "control",
        "http_client",
        "options",
        "persistence",
        "replay",
        "runtime",
        "server",
        "domain",
    },
    "audit": {"contract", "auth", "wire", "domain", "short_text"},
    "runtime": {"redaction", "domain", "scenario", "http_client", "wire", "short_text", "tape"},
    "api": {"redaction", "runtime", "auth", "contract", "wire", "domain", "http_client", "short_text", "tape"},
    "snapshot": {"wire", "replay", "runtime", "tape", "scenario", "domain"},
    "replay": {"redaction", "runtime", "tape", "wire", "scenario", "domain"},
    "control": {
        "redaction",
        "runtime",
        "auth",
        "contract",
        "wire",
        "domain",
        "http_client",
        "scenario",
        "short_text",
        "audit",
        "persistence",
        "replay",
    },
    "mcp": {"contract", "scenario", "domain", "short_text"},
    "persistence": {"replay", "snapshot", "tape", "runtime", "scenario", "domain"},
    "explore": {
        "redaction",
        "app",
        "server",
        "options",
        "api",
        "control",
        "audit",
        "runtime",
        "scenario",
        "wire",
        "domain",
        "short_text",
    },
}
# The floors of the domain, lowest first: each imports only from itself and from below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("model",),
    ("agenda", "commands"),
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
LINES_MAX = 360


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def part_of(path: Path) -> str:
    return part_named(path.relative_to(PACKAGE).with_suffix("").parts)


def part_named(names: Sequence[str]) -> str:
    """The part of a module by its names: a room of `simulator`, or a room of persistence."""
    return names[1] if names[0] == "persistence" and names[1:] and names[1] in ROOMS else names[0]


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, and what it imports from them, by their full names."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_each_part_imports_only_parts_below_it() -> None:
    assert {name_of(path): wrong for path in modules() if (wrong := _imported_from_above(path))} == {}


def _imported_from_above(path: Path) -> set[str]:
    part = part_of(path)
    if part not in MAY_IMPORT:
        return set()
    ours = {part_named(name.split(".")[1:]) for name in imports(path) if name.startswith("simulator.")}
    return ours - MAY_IMPORT[part] - {part, "__version__"}


def test_modules_that_tests_import_do_not_know_the_server() -> None:
    """The launcher alone starts the simulator, the plugin alone imports pytest; and none an HTTP client."""
    client = PACKAGE.parent / "reseller_sim"
    found = {
        path.name: {name.partition(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"reseller_sim"}
        for path in sorted(client.rglob("*.py"))
    }
    allowed = {name: {"pytest"} for name in found if name.startswith("pytest_")} | {"launcher.py": {"simulator"}}
    assert {name: foreign for name, foreign in found.items() if foreign - allowed.get(name, set())} == {}
    assert all(len(path.read_text().splitlines()) <= LINES_MAX for path in client.rglob("*.py"))


def test_only_the_command_explorations_and_assistants_use_what_tests_import() -> None:
    """They print stories as the client does, and ask servers as it does. Everything may use its formats, which import
    the standard library alone."""
    users = [(part_of(path), name) for path in modules() for name in imports(path) if name.startswith("reseller_sim.")]
    assert {part for part, name in users if not name.startswith("reseller_sim.formats.")} <= {"cli", "explore", "mcp"}
    formats = imports(PACKAGE.parent / "reseller_sim" / "formats.py")
    assert {name.partition(".")[0] for name in formats} <= sys.stdlib_module_names


def test_one_client_on_each_side_speaks_http() -> None:
    """`http_client` for servers, `reseller_sim.exchange` for tests and the command. `explore` only tries a port."""
    clients = ("http.client.HTTPConnection", "http.client.HTTPSConnection", "urllib.request", "aiohttp", "httpx")
    users = {place_of(path) for path in shipped() for name in imports(path) if name.startswith(clients)}
    assert users == {"reseller_sim/exchange.py"}
    opening = ("create_connection", "open_connection", "sock_connect")
    callers = {place_of(path) for path in shipped() for node in nodes_of(path) if getattr(node, "attr", "") in opening}
    assert callers == {"simulator/http_client/dialer.py", "simulator/explore/command.py"}


def test_lines_durations_and_colours_have_one_function() -> None:
    defined = [
        f"{node.name} in {place_of(path)}"
        for path in shipped()
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and node.name in ("one_line", "duration")
    ]
    assert sorted(defined) == ["duration in reseller_sim/formats.py", "one_line in reseller_sim/formats.py"]
    assert [place_of(path) for path in shipped() if '"NO_COLOR"' in path.read_text()] == ["simulator/cli/output.py"]


def shipped() -> list[Path]:
    """The modules that an installation has."""
    return [*modules(), *sorted((ROOT / "reseller_sim").rglob("*.py"))]


def place_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_neither_package_imports_what_is_not_installed_with_it() -> None:
    ours = {"tests", "tools", "bench", "campaign", "release"}
    paths = [*modules(), *(ROOT / "reseller_sim").rglob("*.py")]
    assert {str(path) for path in paths for name in imports(path) if name.partition(".")[0] in ours} == set()


def test_importing_the_modules_for_tests_is_cheap() -> None:
    """The plugin imports it whenever pytest starts."""
    program = "import sys\nbefore = set(sys.modules)\nimport reseller_sim\nprint(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout)
    assert [name for name in loaded if name.startswith("reseller_sim.")] == []
    assert {"asyncio", "http", "json", "subprocess"} & set(loaded) == set()


def test_the_page_draws_the_imports_without_what_other_arrows_show() -> None:
    real = _arrows()
    implied = {part: set[str]().union(*(_below(other, real) for other in used)) for part, used in real.items()}
    assert _drawn() == {part: used - implied[part] for part, used in real.items() if used}


def test_every_arrow_of_the_page_points_down() -> None:
    """The parts are drawn from the top floor down, each before what it imports."""
    drawn = _drawn()
    floors = list(drawn)
    for part, used in drawn.items():
        assert not used & set(floors[: floors.index(part)]), f"{part} imports from above"


def test_the_page_names_every_part() -> None:
    assert sorted(re.findall(r'^    (\w+)\["\1: .+"\]$', PAGE, re.MULTILINE)) == sorted(_arrows())


def test_the_page_has_the_floors_of_the_domain() -> None:
    assert " → ".join(", ".join(names) for names in reversed(FLOORS)) in PAGE.splitlines()


def test_the_page_has_the_transitions_of_a_payment() -> None:
    rows = re.findall(r"^(\S+) +→ (.+)$", PAGE.partition("`TRANSITIONS`")[2].partition("## ")[0], re.MULTILINE)
    drawn = {before: set(after.split(" | ")) for before, after in rows}
    wanted = {before: {STATUS_NAMES[one] for one in after} for before, after in TRANSITIONS.items() if after}
    assert drawn == {STATUS_NAMES[before] if before else "(created)": names for before, names in wanted.items()}


def test_the_modules_that_the_pages_name_exist() -> None:
    parts = {part_of(path) for path in modules()}
    pages = PAGE + "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("delivery", "persistence", "server"))
    named = {name for name in re.findall(r"`(\w+/[\w/]*)`", pages) if name.partition("/")[0] in parts}
    assert named
    missing = {name for name in named if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").is_file()}
    assert missing == set()


def _arrows() -> dict[str, set[str]]:
    """Return the imports of each part from the others."""
    parts = {part_of(path) for path in modules()} - {"__init__", "__main__", "_version"}
    found: dict[str, set[str]] = {part: set() for part in parts}
    for path in modules():
        if (part := part_of(path)) in parts:
            found[part] |= {
                part_named(name.split(".")[1:]) for name in imports(path) if name.startswith("simulator.")
            } & parts
    return {part: used - {part} for part, used in found.items()}


def _below(part: str, arrows: dict[str, set[str]]) -> set[str]:
    """The parts that lie below a part on any path."""
    return arrows[part].union(*(_below(other, arrows) for other in arrows[part]))


def _drawn() -> dict[str, set[str]]:
    """The arrows of the drawing, in its order: `a --> b & c`."""
    lines = re.findall(r"^    (\w+) --> (.+)$", PAGE, re.MULTILINE)
    return {part: set(used.split(" & ")) for part, used in lines}


FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}


def test_the_domain_imports_nothing_from_a_floor_above() -> None:
    paths = [path for path in modules() if part_of(path) == "domain"]
    assert {path.relative_to(PACKAGE).with_suffix("").parts[1] for path in paths} == {*FLOOR_OF, "__init__"}
    assert {name_of(path): wrong for path in paths if (wrong := _not_from_below(path))} == {}


def _not_from_below(path: Path) -> set[str]:
    """Return the imports of a domain module from floors above its own, or from another part on its own floor."""
    own = path.relative_to(PACKAGE / "domain").parts[0].removesuffix(".py")
    if own not in FLOOR_OF:
        return set()
    used = {name.split(".")[2] for name in imports(path) if name.startswith("simulator.domain.")}
    return {name for name in used & FLOOR_OF.keys() - {own} if FLOOR_OF[name] >= FLOOR_OF[own]}


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("reading", {"reading", "yaml"}),  # messages quote YAML
        ("sections", {"reading", "sections", "yaml"}),
        ("lint", {"reading", "sections", "build", "lint"}),
    ],
)
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


def test_pure_parts_read_no_clock_no_randomness_and_no_network() -> None:
    pure = [path for path in modules() if part_of(path) in PURE]
    assert {name_of(path): names for path in pure if (names := _forbidden_names(path))} == {}
    assert {name_of(path): roots for path in pure if (roots := _forbidden_imports(path))} == {}


def _forbidden_names(path: Path) -> set[tuple[str, str]]:
    named = {
        (node.value.id, node.attr)
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return named & FORBIDDEN_NAMES


def _forbidden_imports(path: Path) -> set[str]:
    imported = imports(path)
    roots = imported | {name.rpartition(".")[0] for name in imported} | {name.split(".")[0] for name in imported}
    return set(roots & FORBIDDEN_MODULES)


@pytest.mark.parametrize("part", STANDARD_AND)
def test_the_core_needs_hardly_more_than_the_standard_library(part: str) -> None:
    import sys

    for path in (PACKAGE / part).rglob("*.py"):
        allowed = {"simulator"} | sys.stdlib_module_names | STANDARD_AND[part]
        foreign = {name.split(".")[0] for name in imports(path)} - allowed
        assert not foreign, f"{path.name} imports {foreign}"


def test_a_module_has_a_single_subject_named_in_its_first_line() -> None:
    assert [name_of(path) for path in modules() if not ast.get_docstring(tree_of(path))] == [], "no docstring"
    lines = {name_of(path): len(path.read_text().splitlines()) for path in modules()}
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}, "two subjects?"


def test_one_place_lets_commands_into_a_sandbox() -> None:
    """Everything goes through `LiveSandbox.apply`, which is where inputs can be written down."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in modules()
        if part_of(path) not in ("domain", "tape")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr == "apply" and _ends_in(node.value, ("core", "_core"))
    ]
    assert len(found) == 1, found


def _ends_in(node: ast.expr, names: tuple[str, ...]) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in names) or (isinstance(node, ast.Name) and node.id in names)


def test_days_and_times_are_parsed_in_a_single_place() -> None:
    """Parsers of ISO 8601 differ slightly in the forms that they accept."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr in ("fromisoformat", "strptime")
    }
    assert len(found) == 1, found


def test_product_codes_do_not_appear_in_python() -> None:
    codes = ("RELOAD", "ELECTRIC", "WATER", "GIFTCARD", "VOUCHER", "RETIRED", "INTERBANK", "STUDENTLOAN")
    found = [
        f"{path.name}: {node.value}"
        for path in modules()
        if part_of(path) not in ("cli",)
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value in codes
    ]
    assert not found


def test_the_misspelt_success_is_written_in_a_single_place() -> None:
    found = {
        name_of(path)
        for path in modules()
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value == "Succesful"
    }
    assert len(found) == 1, found
