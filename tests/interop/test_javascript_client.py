"""The client for JavaScript: packed and installed as docs/javascript.md says, its tests and the page's run with it."""

import json
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import durations
from tests.support.generated_clients import once
from tests.support.npm_package import CLIENT, install, ran
from tests.support.pages import Block, assert_shown, blocks
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "javascript.md").read_text("utf-8")
README = (CLIENT / "README.md").read_text("utf-8")
SIGNING = (ROOT / "docs" / "signing.md").read_text("utf-8")
STEPS = [block for block in blocks(PAGE) if block.language != "console"]
PACKAGE = json.loads((CLIENT / "package.json").read_text())

SETUP_LINES_MAX = 12
SOURCE_LINES_MAX = 300


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has the package, and the page's files."""
    return once(tmp_path_factory, "javascript-client", made) / "project"


def made(folder: Path) -> None:
    """The project, and the README's two examples as tests."""
    install(folder)
    for step in STEPS:
        if step.action:
            (folder / "project" / step.name).write_text(step.text)
    node, vitest = (block.text for block in blocks(README) if block.language == "js")
    (folder / "project" / "readme.test.js").write_text(node)
    (folder / "project" / "readme.spec.js").write_text(vitest)


@pytest.fixture(scope="module")
def simulator() -> Iterator[dict[str, str]]:
    """A simulator for the tests that do not start their own, as the variable that names it."""
    with serving("--port", "0", "--json") as server:
        yield {"RESELLER_SIM_URL": server.ready["url"]}


def shown_by(command: str) -> Block:
    """The page's block of what a command prints."""
    (at,) = [number for number, step in enumerate(STEPS) if step.text == f"{command}\n"]
    return STEPS[at + 1]


def test_the_package_has_code_and_types_of_every_entry_and_depends_on_nothing(project: Path) -> None:
    (path,) = project.parent.glob("*.tgz")
    assert path.name == f"reseller-sim-{version()}.tgz"
    with tarfile.open(path) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    entries = [entry for entry in PACKAGE["exports"].values() if isinstance(entry, dict)]
    wanted = {file.removeprefix("./") for entry in entries for file in entry.values()}
    assert len(wanted) == 6
    assert wanted <= names
    assert {name for name in names if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}
    assert "dependencies" not in PACKAGE


def version() -> str:
    """The project's version."""
    found: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return found


def test_version_licence_and_tools_are_those_of_the_project() -> None:
    pinned = json.loads((ROOT / "tests" / "interop" / "package.json").read_text())["devDependencies"]
    assert PACKAGE["version"] == version()
    for page in (PAGE, README):
        assert f"dist/reseller-sim-{version()}.tgz" in page
        assert "pip install FOLDER-OF-THE-CLONE\n" in page
    assert (CLIENT / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert PACKAGE["devDependencies"].items() <= pinned.items()


def test_the_oldest_vitest_is_one_that_takes_a_chosen_scenario() -> None:
    """Older ones than 4.1 give a fixture the values of the `test` that was extended, not of the one that extends."""
    assert PACKAGE["peerDependencies"] == {"vitest": ">=4.1"}
    for page in (PAGE, README):
        assert "wants Vitest 4.1 or later" in page
    assert "vitest@4 FOLDER" in PAGE


def test_its_own_tests_and_those_of_the_page_and_of_the_readme_pass(project: Path, simulator: dict[str, str]) -> None:
    files = [*sorted((project / "test").iterdir()), project / "shop.test.js", project / "readme.test.js"]
    printed = ran(project, "node", "--test", "--test-reporter", "tap", *map(str, files), variables=simulator)
    count = sum(
        len(re.findall(r"^ *(?:test|it|await context\.test)\(", path.read_text(), re.MULTILINE)) for path in files
    )
    assert count > 35
    assert f"# tests {count}\n# suites 1\n# pass {count}\n" in printed, printed


READ_DURATIONS = """
import { readFileSync } from "node:fs";
import { seconds } from "./node_modules/reseller-sim/dist/time.js";

function read(text) {
  try {
    return seconds(text);
  } catch (error) {
    return `${error}`;
  }
}

const { good, below_zero, bad, too_long } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const refused = { bad: [...bad, ...below_zero.map(([text]) => text)].map(read), too_long: too_long.map(read) };
console.log(JSON.stringify({ good: good.map(([text]) => read(text)), ...refused }));
"""


def test_durations_are_those_of_scenarios(project: Path) -> None:
    (project / "durations.mjs").write_text(READ_DURATIONS)
    found = json.loads(ran(project, "node", "durations.mjs", str(durations.CASES_FILE)))
    assert found["good"] == [seconds for _, seconds in durations.GOOD]
    assert len(found["bad"]) == len(durations.BAD) + len(durations.BELOW_ZERO)
    for text in found["bad"]:
        assert re.fullmatch('RangeError: ".*" is no duration such as "90s", "1h30m", "1.5d" or "500ms"', text)
    assert len(found["too_long"]) == len(durations.TOO_LONG)
    for text in found["too_long"]:
        assert re.fullmatch('RangeError: ".*" is longer than 3660 days', text)


BAD_START = """
import { Simulator } from "reseller-sim";

const command = [process.argv[2], "-c", process.argv[3]];
await Simulator.start({ command, timeoutS: 2 }).catch((error) => console.log(`${error}`));
"""
NOTED = "import os, sys, time, signal; print('it is broken', os.getpid(), file=sys.stderr, flush=True); "


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit(7)", r"did not start: it ended with 7\nit is broken (\d+)"),
        ("time.sleep(600)", r"did not start: it said nothing in 2 s\nit is broken (\d+)"),
        ("print('no', os.getpid(), flush=True); time.sleep(600)", r'is no reseller-sim: it printed "no (\d+)"'),
        ("signal.signal(15, signal.SIG_IGN); time.sleep(600)", r"said nothing in 2 s\nit is broken (\d+)"),
    ],
)
def test_a_command_that_is_no_simulator_says_what_it_did_and_is_ended(project: Path, code: str, said: str) -> None:
    (project / "bad-start.mjs").write_text(BAD_START)
    printed = ran(project, "node", "bad-start.mjs", sys.executable, NOTED + code)
    found = re.search(said, printed)
    assert found, printed
    assert printed.startswith("NotStarted: ")
    assert not Path(f"/proc/{found[1]}").exists()


def test_the_client_of_the_page_about_signatures_pays(project: Path, simulator: dict[str, str]) -> None:
    (block,) = [block for block in blocks(SIGNING) if block.language == "js"]
    (project / "signed.mjs").write_text(block.text)
    url = {"RESELLER_BASE_URL": simulator["RESELLER_SIM_URL"]}
    catalog, payment = ran(project, "node", "signed.mjs", variables=url).splitlines()
    assert catalog.startswith("200  {")
    assert '"status":"Accepted"' in payment


def test_the_page_s_vitest_suite_passes(project: Path, simulator: dict[str, str]) -> None:
    command = "npx vitest run shop.spec.js"
    assert_shown(shown_by(command).text, ran(project, *command.split(), variables=simulator))


def test_a_failed_test_shows_what_happened_to_its_payments_with_node(project: Path) -> None:
    """With a simulator that the test starts and ends."""
    command = "node --test mistaken.test.js"
    assert_shown(shown_by(command).text, ran(project, *command.split(), status=1))


def test_a_failed_test_shows_what_happened_to_its_payments_with_vitest(
    project: Path, simulator: dict[str, str]
) -> None:
    mistaken = next(step.text for step in STEPS if step.name == "mistaken.test.js")
    for old, new in (("node:test", "vitest"), ("reseller-sim/node-test", "reseller-sim/vitest")):
        assert old in mistaken
        mistaken = mistaken.replace(old, new)
    (project / "mistaken.spec.js").write_text(mistaken)
    printed = ran(project, "npx", "vitest", "run", "mistaken", "readme.spec.js", status=1, variables=simulator)
    assert "1 failed | 1 passed (2)" in printed
    story = re.findall(r"^# (.*)$", shown_by("node --test mistaken.test.js").text, re.MULTILINE)
    assert len(story) > 5
    assert_shown("\n".join(story).replace("\\#", "#"), printed)  # Node's runner escapes it


def test_tests_that_use_it_are_typed(project: Path) -> None:
    """The client's own and the page's, strictly, with the declarations of the package."""
    assert ran(project, "tsc", "-p", "tsconfig.test.json") == ""


@pytest.mark.parametrize("name", ["shop.test.js", "shop.spec.js"])
def test_setting_up_takes_few_lines(name: str) -> None:
    (text,) = [step.text for step in STEPS if step.name == name]
    setup = [line for line in text.partition("\ntest")[0].splitlines() if line]
    assert 0 < len(setup) <= SETUP_LINES_MAX


def test_ten_tests_are_shown() -> None:
    (text,) = [step.text for step in STEPS if step.name == "shop.test.js"]
    assert text.count("\ntest(") == 10


def test_the_page_has_every_name_that_the_package_exports_and_every_method() -> None:
    index = (CLIENT / "src" / "index.ts").read_text()
    names = {
        name for names in re.findall(r"^export \{ (.*) \} from", index, re.MULTILINE) for name in names.split(", ")
    }
    for module in ("simulator", "sandbox", "receiver"):
        source = (CLIENT / "src" / f"{module}.ts").read_text()
        names |= set(re.findall(r"^  (?:static |async |get )*([a-z]\w*)(?:<T = unknown>)?\(", source, re.MULTILINE))
    wanted = {name for name in names if not name.startswith("type ")} - {"constructor"}
    assert len(wanted) > 45
    listed = PAGE.partition("\n## All names\n")[2]
    assert sorted(name for name in wanted if not re.search(rf"\b{name}\b", listed)) == []


def test_modules_are_short_and_say_what_they_are_for() -> None:
    for path in (CLIENT / "src").glob("*.ts"):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("/// ")]
        assert lines[0].startswith("/** "), path.name
        assert len(lines) <= SOURCE_LINES_MAX, path.name
