"""The client for JavaScript: packed and installed as docs/javascript.md says, its tests and the page's run with it."""

import json
import re
import shutil
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from release.version import RELEASE
from tests.support import durations
from tests.support.certificates import pair
from tests.support.javascript_page import PAGE, README, STEPS, javascript_project, output_of
from tests.support.npm_package import CLIENT, ran
from tests.support.pages import assert_shown, blocks
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

SIGNING = (ROOT / "docs" / "signing.md").read_text("utf-8")
PACKAGE = json.loads((CLIENT / "package.json").read_text())

SETUP_LINES_MAX = 12
SOURCE_LINES_MAX = 350


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has the package, and the page's files."""
    return javascript_project(tmp_path_factory)


@pytest.fixture(scope="module")
def simulator() -> Iterator[dict[str, str]]:
    """A simulator for the tests that do not start their own, as the variable that names it."""
    with serving("--port", "0", "--json") as server:
        yield {"RESELLER_SIM_URL": server.ready["url"]}


def test_the_package_has_code_and_types_of_every_entry_and_depends_on_nothing(project: Path) -> None:
    (path,) = project.parent.glob("*.tgz")
    assert path.name == f"reseller-sim-{RELEASE}.tgz"
    with tarfile.open(path) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    entries = [entry for entry in PACKAGE["exports"].values() if isinstance(entry, dict)]
    wanted = {file.removeprefix("./") for entry in entries for file in entry.values()}
    assert len(wanted) == 6
    assert wanted <= names
    assert {name for name in names if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}
    assert "dependencies" not in PACKAGE


def test_version_licence_and_tools_match_the_project() -> None:
    pinned = json.loads((ROOT / "tests" / "interop" / "package.json").read_text())["devDependencies"]
    assert PACKAGE["version"] == RELEASE
    for page in (PAGE, README):
        assert f"dist/reseller-sim-{RELEASE}.tgz" in page
        assert "pip install FOLDER-OF-THE-CLONE\n" in page
    assert (CLIENT / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert PACKAGE["devDependencies"] == {"typescript": pinned["typescript"]}
    assert f"typescript@{pinned['typescript']} " in PACKAGE["scripts"]["prepare"]


def test_the_oldest_vitest_is_one_that_takes_a_chosen_scenario() -> None:
    """Versions before 4.1 give a fixture the values of the extended `test`, not of the extending `test`."""
    assert PACKAGE["peerDependencies"] == {"vitest": ">=4.1"}
    for page in (PAGE, README):
        assert "needs Vitest 4.1 or later" in page
    assert "vitest@4 FOLDER" in PAGE


PAGE_TESTS = ["shop.test.js", "callbacks.test.js", "webhooks.test.js", "frozen.test.js"]
OWN_TESTS = sorted(f"test/{path.name}" for path in (CLIENT / "test").iterdir())


RUN_ELSEWHERE = ("node --test mistaken.test.js", "npx vitest run shop.spec.js", "npx jest shop.test.cjs")


def test_every_command_of_the_page_is_run_by_a_test() -> None:
    commands = [step.text.strip() for step in STEPS if step.language == "sh"]
    assert sorted(commands) == sorted(["node --test shop.test.js", *RUN_ELSEWHERE])
    assert output_of("node --test shop.test.js").text == "# tests 11\n# pass 11\n"


@pytest.mark.parametrize("name", [*OWN_TESTS, *PAGE_TESTS, "readme.test.js"])
def test_its_own_tests_and_the_tests_of_the_page_and_of_the_readme_pass(
    project: Path, simulator: dict[str, str], name: str
) -> None:
    count = len(re.findall(r"^ *(?:test|it|await context\.test)\(", (project / name).read_text(), re.MULTILINE))
    assert count > 0
    printed = ran(project, "node", "--test", "--test-reporter", "tap", name, variables=simulator)
    found = re.search(rf"^# tests {count}\n# suites \d\n# pass {count}\n", printed, re.MULTILINE)
    assert found, printed


def test_the_bounds_on_the_page_match_the_code(project: Path) -> None:
    """By what the package was compiled to; the messages of its own tests show that the code keeps to them."""
    said = [[number(one) for one in re.findall(NUMBER, text)] for text in BOUNDED.findall(PAGE)]
    receiver, arguments = constants(project, "receiver"), constants(project, "arguments")
    assert said == [
        [constants(project, "control")["TIMEOUT_S"]],
        [arguments["STATUS_MIN"], arguments["STATUS_MAX"]],
        [receiver["MESSAGES_MAX"]],
        [receiver["TOO_LARGE"]],
        [receiver["REQUEST_MS"] // 1000],
        [receiver["CONNECTIONS_MAX"]],
    ]
    assert receiver["BODY_BYTES_MAX"] == 1 << 20, "one MiB"
    assert arguments["DAY_S"] == 24 * 60 * 60


NUMBER = r"\d[\d,]*"
BOUNDED = re.compile(
    r"An answer may take \d+ s in all|a status from \d+ to \d+|the latest [\d,]+ requests"
    r"|more than one MiB is answered \d+|a request has \d+ s|\d+ connections may be"
)
CONSTANT = re.compile(r"^(?:const |exports\.)([A-Z_]+) = (\d[\d_]*)(?: << (\d+))?;", re.MULTILINE)


def number(text: str) -> int:
    """The number of `1,000`."""
    return int(text.replace(",", ""))


def constants(project: Path, module: str) -> dict[str, int]:
    """The whole numbers that a module of the installed package names."""
    source = (project / "node_modules" / "reseller-sim" / "dist" / f"{module}.js").read_text()
    return {name: int(value) << int(bits or 0) for name, value, bits in CONSTANT.findall(source)}


READ_DURATIONS = """
import { readFileSync } from "node:fs";
import { seconds } from "./node_modules/reseller-sim/dist/arguments.js";

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


def test_durations_match_the_durations_of_scenarios(project: Path) -> None:
    (project / "durations.mjs").write_text(READ_DURATIONS)
    found = json.loads(ran(project, "node", "durations.mjs", str(durations.CASES_FILE)))
    assert found["good"] == [seconds for _, seconds in durations.GOOD]
    assert len(found["bad"]) == len(durations.BAD) + len(durations.BELOW_ZERO)
    assert len(found["too_long"]) == len(durations.TOO_LONG)
    for text in found["bad"] + found["too_long"]:
        said = 'RangeError: ".*" is no duration such as "90s", "1h30m", "1.5d" or "500ms", from 0 to 3660 days'
        assert re.fullmatch(said, text)


SINNER = """
import { Simulator } from "reseller-sim";

const simulator = new Simulator();
const scenarios = [undefined, "default", "extends: default\\npayments: []"];
const made = scenarios.map((scenario) => ({ scenario, audit: false }));
for (const options of process.argv[2] ? [{ audit: true }, ...made] : made) {
  const sandbox = await simulator.sandbox(options);
  const order = { refid: "order-7", product: "RELOAD", account: "0123456789", amount: 10 };
  for (const amount of [10, 20]) await sandbox.call("POST", "/v2/topup", { ...order, amount });
}
"""


def test_exec_passes_over_sandboxes_that_are_made_without_an_audit(project: Path) -> None:
    (project / "sinner.mjs").write_text(SINNER)
    command = (sys.executable, "-m", "simulator", "exec", "--audit", "--", "node", "sinner.mjs")
    said = "nothing was judged: no request reached an endpoint of a judged sandbox, 3 passed over (audit: false)"
    assert said in ran(project, *command, status=1)
    assert "1 sandbox, 3 passed over (audit: false)" in ran(project, *command, "judged", status=1)


def test_the_client_of_the_page_about_signatures_pays(project: Path, simulator: dict[str, str]) -> None:
    (block,) = [block for block in blocks(SIGNING) if block.language == "js"]
    (project / "signed.mjs").write_text(block.text)
    url = {"RESELLER_BASE_URL": simulator["RESELLER_SIM_URL"]}
    catalog, payment = ran(project, "node", "signed.mjs", variables=url).splitlines()
    assert catalog.startswith("200  {")
    assert '"status":"Accepted"' in payment


def test_the_page_s_vitest_suite_passes(project: Path, simulator: dict[str, str]) -> None:
    command = "npx vitest run shop.spec.js"
    assert_shown(output_of(command).text, ran(project, *command.split(), variables=simulator))


def test_the_page_s_jest_suite_passes(project: Path, simulator: dict[str, str]) -> None:
    command = "npx jest shop.test.cjs"
    assert_shown(output_of(command).text, ran(project, *command.split(), variables=simulator))


NOTED_START = f"""#!{sys.executable}
import os, sys
open(os.path.join(os.path.dirname(sys.argv[0]), f"{{os.getpid()}}.pid"), "w").close()
os.execv(sys.executable, [sys.executable, "-m", "simulator", *sys.argv[1:]])
"""


def test_a_failed_test_shows_what_happened_to_its_payments_with_node(project: Path, tmp_path: Path) -> None:
    """With a simulator that the test starts and ends."""
    noted = tmp_path / "reseller-sim"
    noted.write_text(NOTED_START)
    noted.chmod(0o700)
    command = "node --test mistaken.test.js"
    printed = ran(project, *command.split(), status=1, variables={"RESELLER_SIM_COMMAND": str(noted)})
    assert_shown(output_of(command).text, printed)
    (pid,) = (path.stem for path in tmp_path.glob("*.pid"))
    assert not Path(f"/proc/{pid}").exists()


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
    story = re.findall(r"^# (.*)$", output_of("node --test mistaken.test.js").text, re.MULTILINE)
    assert len(story) > 5
    assert_shown("\n".join(story).replace("\\#", "#"), printed)  # Node's runner escapes it


def test_tests_that_use_it_are_typed(project: Path) -> None:
    """The client's own and the page's, strictly, with the declarations of the package."""
    assert ran(project, "tsc", "-p", "tsconfig.test.json") == ""


def test_the_sources_are_typed_though_a_build_does_not_check_them(project: Path) -> None:
    """A build has no types of Node or Vitest beside it, and writes equal types."""
    checked = project.parent / "checked"
    assert ran(project.parent / "js", "tsc", "--outDir", str(checked)) == ""
    built = project / "node_modules" / "reseller-sim" / "dist"
    assert {path.name: path.read_text() for path in checked.iterdir()} == {
        path.name: path.read_text() for path in built.iterdir()
    }


def test_a_folder_of_the_sources_is_installed_by_npm_and_required(project: Path, tmp_path: Path) -> None:
    """As CommonJS has it, which Jest's own loader reads, too."""
    shutil.copytree(project.parent / "js", tmp_path / "js", symlinks=True)
    shutil.rmtree(tmp_path / "js" / "dist")
    (tmp_path / "shop").mkdir()
    ran(tmp_path / "shop", "npm", "init", "-y")
    ran(tmp_path / "shop", "npm", "install", "--offline", "--no-audit", "--no-fund", "../js")
    code = 'const { Simulator } = require("reseller-sim"); console.log(typeof Simulator.start, typeof Simulator);'
    assert ran(tmp_path / "shop", "node", "-e", code) == "function function\n"


@pytest.mark.parametrize("name", ["shop.test.js", "shop.spec.js"])
def test_setting_up_takes_few_lines(name: str) -> None:
    (text,) = [step.text for step in STEPS if step.name == name]
    setup = [line for line in text.partition("\ntest")[0].splitlines() if line]
    assert 0 < len(setup) <= SETUP_LINES_MAX


def test_eleven_tests_are_shown() -> None:
    (text,) = [step.text for step in STEPS if step.name == "shop.test.js"]
    assert text.count("\ntest(") == 11


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
    for path in (CLIENT / "src").glob("*.*ts"):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("/// ")]
        assert lines[0].startswith("/** "), path.name
        assert len(lines) <= SOURCE_LINES_MAX, path.name


ASKER = """
import { Simulator } from "reseller-sim";

try {
  const sandbox = await new Simulator().sandbox();
  console.log(`made ${sandbox.url}`);
} catch (error) {
  console.log(`${error}`);
}
"""


def test_an_https_simulator_is_trusted_when_node_knows_its_authority(project: Path) -> None:
    (project / "asker.mjs").write_text(ASKER)
    certificate, key = map(str, pair("first"))
    flags = ("--tls-cert", certificate, "--tls-key", key, "--control-token", "let-me-in")
    with serving("--port", "0", "--json", *flags) as server:
        known = {"RESELLER_SIM_URL": server.ready["url"], "RESELLER_SIM_TOKEN": "let-me-in"}
        asked = ("node", "asker.mjs")
        refused = ran(project, *asked, variables=known | {"NODE_EXTRA_CA_CERTS": ""})
        assert "name the file of its authority, or of itself, in NODE_EXTRA_CA_CERTS" in refused
        believed = ran(project, *asked, variables=known | {"NODE_EXTRA_CA_CERTS": certificate})
        assert believed.startswith(f"made {server.ready['url']}/s/")
