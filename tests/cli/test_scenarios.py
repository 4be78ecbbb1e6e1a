"""Every verb reports problems of scenario files alike."""

import gc
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.library import load_scenario, scenario_from_object
from tests.support.runner import invoke

MINE = "# mine\nscenario: mine\nextends: [default, ./slow.yaml]\npayments: [{ name: ordinary, remove: true }]\n"
SLOW = "payments: [{ name: slow, then: [{ status: Processing }] }]\n"
LONG = f"{'n' * 300}.yaml"


@pytest.fixture(autouse=True)
def _left_as_it_was() -> Iterator[None]:
    """`serve` and `exec` prepare the whole process for themselves before they read their file."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    gc.enable()
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(MINE)
    (tmp_path / "slow.yaml").write_text(SLOW)
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "latin.yaml").write_bytes(b"seed: 1 # \xe4\n")
    os.mkfifo(tmp_path / "pipe.yaml")
    return tmp_path


def test_show_prints_a_file_unchanged(folder: Path) -> None:
    result = invoke("scenarios", "show", str(folder / "mine.yaml"))
    assert (result.exit_code, result.stdout, result.stderr) == (0, MINE, "")
    (folder / "no-suffix").write_text("sed: 1\n")
    assert invoke("scenarios", "show", str(folder / "no-suffix")).stdout == "sed: 1\n", "mistakes included"


def test_show_as_json_prints_a_file_with_its_bases_merged(folder: Path) -> None:
    path = folder / "mine.yaml"
    result = invoke("scenarios", "show", str(path), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)
    assert [rule["name"] for rule in shown["payments"]] == ["slow"]
    assert "extends" not in shown
    again, mine = scenario_from_object(shown), load_scenario(path)
    assert again.document == mine.document
    assert (again.resellers, again.catalog.products.keys()) == (mine.resellers, mine.catalog.products.keys())


def test_show_as_json_says_what_is_wrong_as_check_does(folder: Path) -> None:
    path = folder / "mine.yaml"
    path.write_text(MINE + "sed: 1\nclock: sideways\n")
    checked, shown = invoke("check", str(path)), invoke("scenarios", "show", str(path), "--json")
    assert (shown.exit_code, shown.stdout) == (checked.exit_code, "") == (1, "")
    assert shown.stderr == checked.stdout
    assert len(shown.stderr.splitlines()) == 2


# file; what is said about it
UNUSABLE = [
    ("loop.yaml", "no_file cannot be read: Too many levels of symbolic links"),
    (LONG, "no_file cannot be read: File name too long"),
    ("folder.yaml", "no_file this is a folder; name a file in it"),
    ("pipe.yaml", "no_file this is not an ordinary file"),
    ("absent.yaml", "no_file there is no such file"),
    ("latin.yaml", "encoding this is not UTF-8 text; save the file as UTF-8"),
]
VERBS = {
    "check": ("check", "{}"),
    "show": ("scenarios", "show", "{}"),
    "show as JSON": ("scenarios", "show", "{}", "--json"),
    "serve": ("serve", "{}", "--port", "0"),
    "exec": ("exec", "{}", "--", "true"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("name", "said"), [*UNUSABLE, ("empty.yaml", "empty this file is empty")])
def test_a_file_that_cannot_be_used_is_a_problem_with_its_place(folder: Path, verb: str, name: str, said: str) -> None:
    path = str(folder / name)
    result = invoke(*(path if word == "{}" else word for word in VERBS[verb]))
    if (name, verb) == ("empty.yaml", "show"):
        assert result.stdout == "# nothing\n"
        return
    [line] = (result.stdout if verb == "check" else result.stderr).splitlines()
    assert result.exit_code == (3 if verb in ("serve", "exec") else 1)
    assert said in line
    assert line.removeprefix("Error: ").startswith(f"{path}:1:" if name != LONG else "…")
    assert len(line) <= 310
    assert verb == "check" or result.stdout == ""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", [".", "..", "mine", "mine/"])
def test_a_folder_instead_of_a_file_is_named_as_a_folder(
    tmp_path: Path, verb: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    result = invoke(*(name if word == "{}" else word for word in VERBS[verb]))
    printed = result.stdout if verb == "check" else result.stderr
    assert printed.removeprefix("Error: ") == f"{Path(name)}:1:1: no_file this is a folder; name a file in it\n"
    assert result.exit_code == (3 if verb in ("serve", "exec") else 1)


@pytest.mark.parametrize("verb", VERBS)
def test_an_unreadable_file_is_a_problem_for_each_verb(
    folder: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def denied(path: str, *more: Any, **named: Any) -> int:
        if str(path).endswith("mine.yaml"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *more, **named)  # shutil names `dir_fd`

    monkeypatch.setattr(os, "open", denied)
    path = str(folder / "mine.yaml")
    result = invoke(*(path if word == "{}" else word for word in VERBS[verb]))
    printed = result.stdout if verb == "check" else result.stderr
    assert printed.removeprefix("Error: ") == f"{path}:1:1: no_file cannot be read: Permission denied\n"
    assert result.exit_code == (3 if verb in ("serve", "exec") else 1)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "show"])
@pytest.mark.parametrize("key", ["extends", "catalog"])
@pytest.mark.parametrize("name", [name for name, _ in UNUSABLE])
def test_an_unusable_reference_of_a_file_is_a_problem_for_each_verb(
    folder: Path, verb: str, key: str, name: str
) -> None:
    path = folder / "asks.yaml"
    path.write_text(f"scenario: asks\n{key}: ./{name}\n")
    result = invoke(*(str(path) if word == "{}" else word for word in VERBS[verb]))
    [line] = (result.stdout if verb == "check" else result.stderr).splitlines()
    where = folder / "latin.yaml:1:11:" if name == "latin.yaml" else f"{path}:2:10: no_file"
    assert line.removeprefix("Error: ").startswith(str(where))
    assert result.exit_code == (3 if verb in ("serve", "exec") else 1)


@pytest.mark.parametrize("verb", [("serve",), ("exec", "--", "true")])
@pytest.mark.parametrize("name", ["mine.yaml", "absent", "loop.yaml"])
def test_a_missing_folder_of_scenarios_is_wrong_usage(folder: Path, verb: tuple[str, ...], name: str) -> None:
    result = invoke(verb[0], "--scenarios", str(folder / name), *verb[1:])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--scenarios" in result.stderr
    by_variable = invoke(*verb, RESELLER_SIM_SCENARIOS=str(folder / name))
    assert by_variable.exit_code == 2


def test_check_prints_json_when_the_flag_or_the_variable_says_so(folder: Path) -> None:
    (folder / "wrong.yaml").write_text("extends: default\nseed: abc\n")
    files = [str(folder / name) for name in ("mine.yaml", "wrong.yaml")]
    by_flag = invoke("check", "--output", "json", *files)
    by_variable = invoke("check", *files, RESELLER_SIM_OUTPUT="json")
    assert (by_flag.exit_code, by_flag.stdout) == (by_variable.exit_code, by_variable.stdout)
    shown = json.loads(by_flag.stdout)
    assert (by_flag.exit_code, shown["ok"], [suite["ok"] for suite in shown["suites"]]) == (1, False, [True, False])
    assert shown["suites"][1]["cases"][0]["code"] == "type"
    text = invoke("check", "--output", "text", *files, RESELLER_SIM_OUTPUT="json").stdout
    assert text.splitlines()[0] == f"{files[0]}: ok"
