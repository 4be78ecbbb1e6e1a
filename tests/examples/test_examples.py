"""The integrations of examples/, each run as its README says: in a copy of the folder, by `exec --audit`."""

import re
import shutil
import sys
from collections.abc import Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.support.edited_answers import Edit, editing
from tests.support.pages import blocks, empty_folder, printed
from tests.support.processes import ROOT, run, serving
from tests.support.programs import program

pytestmark = [pytest.mark.slow, pytest.mark.needs("curl", "go", "java", "javac", "node", "php")]

EXAMPLES = ROOT / "examples"
NEEDS = {"python": (), "node": ("node",), "php": ("php",), "java": ("java", "javac"), "go": ("go",)}
DEADLINE_S = 120  # for a compiler on a busy machine
EXEC = "reseller-sim exec --audit ../scenario.yaml -- "

# A history that has lost what it had.
FORGETFUL = {
    "extends": "scenario.yaml",
    "faults": [
        {
            "when": {"path": "/v2/transactions"},
            "then": {"status": 200, "body": {"data": [], "meta": {"transaction_count": "0"}}},
        }
    ],
}


class Example(NamedTuple):
    """An example in a folder of its own, built: the command of its README that runs it, and what that prints."""

    folder: Path
    command: str
    shown: str

    def play(self, scenario: str = "scenario.yaml", **variables: str) -> tuple[str, int]:
        """Return its output and exit code, with another scenario, and with these variables for the program alone."""
        changes = "".join(f"env {name}={value} " for name, value in variables.items())
        return _done(self.folder, self.command.replace(EXEC, EXEC.replace("scenario.yaml", scenario) + changes))

    def play_against(self, edits: Mapping[str, Edit]) -> tuple[str, int]:
        """Do so with a service whose answers are changed on the way."""
        with (
            serving("--port", "0", "--json", str(EXAMPLES / "scenario.yaml")) as server,
            editing(server.ready["url"], edits) as url,
        ):
            (reseller,) = server.ready["resellers"]
            variables = {
                "RESELLER_BASE_URL": url,
                "RESELLER_API_KEY": reseller["api_key"],
                "RESELLER_API_SECRET": reseller["api_secret"],
                "RESELLER_SIM_URL": server.ready["url"] + "/_sim",
            }
            changes = "".join(f"{name}={value} " for name, value in variables.items())
            return _done(self.folder, self.command.replace(EXEC, f"env {changes}"))


def _done(folder: Path, commands: str) -> tuple[str, int]:
    """Return the output of some commands, and the exit code of the last."""
    variables = f'PATH="{Path(sys.executable).parent}:$PATH" GOCACHE="{folder.parent}/go" GOPROXY=off'
    text = printed(f"export {variables}\n{commands}\necho exit code $?", folder, "", DEADLINE_S)
    output, _, code = text.rpartition("exit code ")
    return output, int(code)


@pytest.fixture(scope="module", params=NEEDS)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Example:
    language = request.param
    for name in NEEDS[language]:
        program(name)
    folder = empty_folder(tmp_path_factory.mktemp(language))
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("build", "__pycache__"))
    (folder / "examples" / "forgetful.yaml").write_text(yaml.safe_dump(FORGETFUL))
    commands, shown = blocks((EXAMPLES / language / "README.md").read_text("utf-8"))
    enter, *build, command = commands.text.splitlines()
    if build:
        assert _done(folder, "\n".join((enter, *build))) == ("", 0)
    return Example(folder, f"{enter}\n{command}", shown.text)


def test_an_example_prints_what_its_readme_says_and_is_a_good_client(example: Example) -> None:
    assert example.play() == (example.shown, 0)


def test_an_example_whose_secret_is_wrong_says_so_and_fails(example: Example) -> None:
    output, code = example.play(RESELLER_API_SECRET="bm90LXRoZS1zZWNyZXQtb2YtdGhpcy1rZXk=")
    assert code == 1
    assert output.startswith('demo: PUT /v2/balance-webhook was answered 401: {"error":"invalid_signature"')


def test_an_example_reports_payments_that_the_history_lacks(example: Example) -> None:
    output, code = example.play("forgetful.yaml")
    assert code == 1
    assert "\nreconciled 0 payments and 7 entries: 6 differences\n" in output
    *payments, total = [line for line in output.splitlines() if line.startswith("difference: ")]
    assert [line.endswith(" in our records, and not in the history") for line in payments] == [True] * 5
    assert total == "difference: the statement's payments come to 124.03, those of the history to 0.00"


def first_reload_costs_more(answer: Any) -> None:
    """The payment of 10.00 is one of 11.00 in the history, the plan 0.30 dearer."""
    for one in answer["data"]:
        if one["product_code"] == "RELOAD" and Decimal(one["amount"]) == 10:
            one["amount"] = "11"
        if one["product_code"] == "DATA":
            one["price"] = str(Decimal(one["price"]) + Decimal("0.30"))


def deposit_is_a_sen_less(answer: Any) -> None:
    for one in answer["data"]:
        if one["type"] == "DEPOSIT":
            one["amount"] = 249.99


def deposit_stands_twice(answer: Any) -> None:
    answer["data"] += [one | {"id": one["id"] + 1000} for one in answer["data"] if one["type"] == "DEPOSIT"]


def test_an_example_reports_amounts_and_deposits_that_are_others_in_the_service(example: Example) -> None:
    edits = {"/v2/transactions": first_reload_costs_more, "/v2/balance-statement": deposit_is_a_sen_less}
    output, code = example.play_against(edits)
    assert code == 1
    assert "\nreconciled 5 payments and 7 entries: 5 differences\n" in output
    refid = r"\S+"
    for wanted in (
        f"{refid}: amount is 10.00, in the history 11(.00)?",
        f"{refid}: cost is 9.70?, in the history 10.00?",
        "the statement's payments come to 124.03, those of the history to 124.33",
        "a deposit of 250.00 is not in the statement",
        "a deposit of 249.99 is in the statement, and not in our records",
    ):
        assert len(re.findall(f"^difference: {wanted}$", output, re.MULTILINE)) == 1, (wanted, output)


def test_an_example_reports_a_deposit_that_stands_twice_in_the_statement(example: Example) -> None:
    output, code = example.play_against({"/v2/balance-statement": deposit_stands_twice})
    assert code == 1
    assert "\nreconciled 5 payments and 8 entries: 1 differences\n" in output
    assert "\ndifference: a deposit of 250.00 is in the statement, and not in our records\n" in output


def test_the_page_shows_the_example_in_python() -> None:
    page = blocks((ROOT / "docs" / "examples.md").read_text("utf-8"))
    assert page == blocks((EXAMPLES / "python" / "README.md").read_text("utf-8"))


@pytest.mark.parametrize("language", NEEDS)
def test_a_readme_lists_every_file(language: str) -> None:
    readme = (EXAMPLES / language / "README.md").read_text("utf-8")
    sources = [path.name for path in (EXAMPLES / language).iterdir() if path.suffix not in {".md", ".mod", ".json", ""}]
    assert [name for name in sources if f"| `{name}` |" not in readme] == []


def test_the_scenario_has_no_problems() -> None:
    assert run("check", str(EXAMPLES / "scenario.yaml")).out.endswith("scenario.yaml: ok\n")


@pytest.mark.parametrize("sent", ["9" * 400, "9" * 5000, "-1", "1e9", "\u0661", ""])
def test_the_python_verifier_refuses_every_invalid_timestamp(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))
    verifier = import_module("webhooks")
    try:
        assert not verifier.is_genuine("00", {"webhook-timestamp": sent}, b"")
    finally:
        sys.modules.pop("webhooks")
