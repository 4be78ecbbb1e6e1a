"""Downloaded rules: `check` accepts the file for every style of rules and every origin of the sandbox."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.console import Console, console
from tests.support.processes import run

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.slow

MINE = """extends: default
timelines:
  mine: [{ status: Accepted }, { after: 1m, status: Succesful }]
"""
FLOWN = {
    "payments": "[{ then: [{ status: Accepted }] }]",
    "faults": "[{ then: { status: 504 } }]",
    "voids": "[{ then: { status: Success } }]",
    "disputes": "[{ then: { status: Failed } }]",
    "bills": "[{ then: { error: invalid_account } }]",
}
STYLES = [
    "{section}: {rules}\n",
    "  {section}:\n    {rules}\n",
    "{{ {section}: {rules} }}\n",
    "{{\n  {section}: {rules},\n}}\n",
    '{{"{section}": {rules}}}',
    "extends: default\n{section}: {rules}\n",
    '"extends": lost-answers\n{section}: {rules}\n',
    " extends : default\n {section}: {rules}\n",
    "{section}: {rules}\nextends: [default]\n",
    "{{ {section}: {rules}, 'extends': default }}\n",
    "{section}: {rules}\r\n",
    "? {section}\n: {rules}\n",
    "# mine\n---\n\n{section}: {rules}\n...\n",
    "%YAML 1.1\n--- # mine\n {section}: {rules}\n",
    "--- {{ {section}: {rules} }}\n",
    "\ufeff{section}: {rules}\n",
    "\r\n# mine\r\n  {{ {section}: {rules} }}\r\n",
]
# Chromium asks before a page's eleventh download, without an answer when headless; a reopened page starts at zero.
DOWNLOADS_MAX = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("scenarios")
    (found / "my own.yaml").write_text(MINE)
    return found


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Console]:
    with console("--scenarios", str(folder)) as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    return rules_of(shared, "default")


def rules_of(shown: Console, scenario: object) -> Console:
    shown.new_sandbox(scenario)
    shown.open("rules")
    shown.page.locator(".member").first.wait_for()
    return shown


def yaml(page: Console) -> "Locator":
    return page.page.get_by_role("combobox", name="The rule as YAML")


def taken(page: Console, file: Path, within: "Locator | None" = None) -> Path:
    """The file that a download makes."""
    with page.page.expect_download() as got:
        (within or page.page.locator("sim-rule-maker")).get_by_role("button", name="download").click()
    got.value.save_as(file)
    return file


def check(*files: Path) -> None:
    assert (done := run("check", *map(str, files))).status == 0, (done, [one.read_text() for one in files])


def test_a_ready_rule_that_is_taken_home_passes_check_alone(page: Console, tmp_path: Path) -> None:
    shown, files = page.page, []
    for n, preset in enumerate(shown.get_by_role("group", name="Ready rules").get_by_role("button").all()):
        preset.click()
        files.append(taken(page, tmp_path / f"{n}.yaml"))
        assert files[-1].read_text().startswith("extends: default\n")
        yaml(page).fill(files[-1].read_text())
        shown.get_by_text("● no problems").wait_for()
        assert shown.locator("sim-rule-maker").get_by_text("The form cannot show this text").count() == 0
    check(*files)


def test_a_rule_of_the_table_that_is_taken_home_passes_check_alone(page: Console, tmp_path: Path) -> None:
    row = page.page.get_by_role("row", name="ordinary")
    row.locator("summary").click()
    check(taken(page, tmp_path / "rule.yaml", row))


@pytest.mark.parametrize("section", FLOWN)
def test_the_draft_that_a_section_begins_with_passes_check(page: Console, section: str, tmp_path: Path) -> None:
    page.page.get_by_label("What the rule decides").select_option(section)
    page.until(f"document.querySelector('sim-rule-maker textarea').value.includes('{section}:')")
    page.page.get_by_text("● no problems").wait_for()
    check(taken(page, tmp_path / "rule.yaml"))


@pytest.mark.parametrize("section", FLOWN)
def test_a_rule_in_any_style_passes_check_when_it_is_taken_home(page: Console, section: str, tmp_path: Path) -> None:
    files = []
    for n, style in enumerate(STYLES):
        if n % DOWNLOADS_MAX == 0:
            page.open("rules")
        yaml(page).fill(style.format(section=section, rules=FLOWN[section]))
        files.append(taken(page, tmp_path / f"{n}.yaml"))
    check(*files)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("payments:\n  - then: [{ status: Done }]\n", "line 2, column 22"),
        ("{ payments: [{ then: [{ status: Done }] }] }\n", "line 1, column 33"),
        ("# mine\n\n {payments: [{ then: [{ status: Done }] }] }\n", "line 3, column 33"),
        ("---\n payments:\n  - then: [{ status: Done }]\n", "line 3, column 22"),
        ("payments: [", "line 1, column 1"),
        ("extends: default\npayments:\n  - then: [{ status: Done }]\n", "line 3, column 22"),
    ],
)
def test_a_problem_is_shown_where_it_stands_in_the_draft(page: Console, text: str, where: str) -> None:
    yaml(page).fill(text)
    page.page.locator("sim-editor .problems").get_by_role("button", name=where).wait_for()


def test_a_rule_of_a_sandbox_of_an_own_file_extends_that_file(shared: Console, folder: Path) -> None:
    page = rules_of(shared, {"file": "my own.yaml"})
    yaml(page).fill("payments:\n  - { when: { account: 0123456789 }, then: mine }\n")
    page.page.get_by_text("● no problems").wait_for()
    file = taken(page, folder / "taken.yaml")
    assert file.read_text().startswith("extends: my own.yaml\n")
    check(file)
    file.unlink()


def test_a_rule_of_a_sandbox_that_came_in_a_request_says_what_may_be_missing(shared: Console, tmp_path: Path) -> None:
    page = rules_of(shared, {"extends": "default"})
    for n, text in enumerate(("payments: [{ then: mine }]\n", "{ faults: [{ then: { status: 504 } }] }")):
        yaml(page).fill(text)
        file = taken(page, tmp_path / f"{n}.yaml")
        assert "extends: default" in file.read_text()
        assert "# this sandbox's scenario came in a request" in file.read_text()
    check(file)
