"""Every unusable file: a problem with its place, on one line, and no traceback."""

import os
import tempfile
from pathlib import Path

import pytest

from reseller_sim.formats import LINE_CHARS_MAX
from simulator.scenario.library import load_scenario, problems
from simulator.scenario.reading.nodes import Problem, ScenarioError
from simulator.scenario.reading.sources import files_behind
from tests.support.runner import invoke

LONG = "n" * 300

# The target of `extends` or `catalog`, created in the same folder; its message.
NAMED: list[tuple[str, str, str]] = [
    ("absent.yaml", "no_file there is no file 'absent.yaml' beside this file", ""),
    ("./folder", "no_file this is a folder; name a file in it: './folder' beside this file", ""),
    ("./loop.yaml", "no_file cannot be read: Too many levels of symbolic links: './loop.yaml' beside this file", ""),
    (f"./{LONG}.yaml", "no_file cannot be read: File name too long: './nnn", ""),
    ("/proc/self/mem", "no_file cannot be read: Input/output error: '/proc/self/mem' beside this file", ""),
    ("/dev/zero", "no_file this is not an ordinary file: '/dev/zero' beside this file", ""),
    ("./text.yaml", "no_file './text.yaml' holds text, not a {}", "root:x:0:0:root:/root:/bin/bash\n"),
    ("./list.yaml", "no_file './list.yaml' holds a list, not a {}", "- a\n- b\n"),
    ("./number.yaml", "no_file './number.yaml' holds a number, not a {}", "7\n"),
    ("./empty.yaml", "no_file './empty.yaml' holds nothing, not a {}", "# only a comment\n"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    for name, _, text in NAMED:
        if text:
            (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("key", "what"), [("extends", "scenario"), ("catalog", "catalog")])
@pytest.mark.parametrize(("name", "said"), [row[:2] for row in NAMED], ids=[row[0][:20] for row in NAMED])
def test_an_unusable_reference_of_a_file_is_reported_at_the_name(
    folder: Path, key: str, what: str, name: str, said: str
) -> None:
    path = folder / "mine.yaml"
    path.write_text(f"scenario: mine\n{key}: {name}\n")
    [found] = problems(path)
    assert str(found).startswith(f"{path}:2:10: {said.format(what)}")
    with pytest.raises(ScenarioError):
        load_scenario(path)
    assert path in files_behind(str(path))


@pytest.mark.parametrize(
    "name", ["loop.yaml", f"{LONG}.yaml", LONG, "folder", "absent.yaml", "text.yaml", "list.yaml", "empty.yaml"]
)
def test_a_file_that_cannot_be_used_is_a_problem_and_the_others_are_checked(folder: Path, name: str) -> None:
    (folder / "good.yaml").write_text("extends: default\n")
    wrong, good = str(folder / name), str(folder / "good.yaml")
    result = invoke("check", good, wrong, good)
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (1, "")
    assert (len(lines), lines[0], lines[2]) == (3, f"{good}: ok", f"{good}: ok")
    assert ":1:1: " in lines[1]
    with pytest.raises(ScenarioError):
        load_scenario(wrong)


def test_the_reason_is_the_systems_own(folder: Path) -> None:
    said = {name: problems(folder / name)[0].message for name in ("loop.yaml", LONG)}
    assert said == {
        "loop.yaml": "cannot be read: Too many levels of symbolic links",
        LONG: "cannot be read: File name too long",
    }
    assert problems(Path("/proc/self/mem"))[0].message == "cannot be read: Input/output error"


def test_an_unreadable_file_is_a_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert [str(one) for one in problems(folder / "text.yaml")] == [
        f"{folder / 'text.yaml'}:1:1: no_file cannot be read: Permission denied"
    ]


def test_an_empty_file_is_refused(folder: Path) -> None:
    for text in ("", "# a comment\n", "---\n", "\ufeff", "null\n", "{}\n"):
        path = folder / "mine.yaml"
        path.write_text(text)
        [found] = problems(path)
        assert (found.line, found.column, found.code) == (1, 1, "empty")
        with pytest.raises(ScenarioError, match=r"this file is empty; write 'extends: default'"):
            load_scenario(path)


# base, file over it that covers the mistake; what is reported, in the base
LAYERS: list[tuple[str, str, list[str]]] = [
    ("clock: sideways\n", "clock: manual\n", ["1:8: bad_clock"]),
    ("seed: x\n", "seed: 1\n", ["1:7: type"]),
    ("limits: {journal: lots}\n", "limits: {journal: 7}\n", ["1:19: type"]),
    ("catalog: [a]\n", "catalog: {products: []}\n", ["1:10: type"]),
    ("webhooks: {retry_limit: x}\n", "webhooks: {retry_limit: 3}\n", ["1:25: type"]),
    ("sed: 7\n", "seed: 7\n", ["1:1: unknown_key"]),
    ("payments: [{then: 7}]\n", "payments: [{then: [{status: Failed}]}]\n", ["1:19: type"]),
    ("extends: nobody\n", "seed: 1\n", ["1:10: unknown_scenario"]),
]


@pytest.mark.parametrize(("below", "above", "expected"), LAYERS, ids=[row[0].strip() for row in LAYERS])
def test_a_base_is_checked_before_it_is_covered(tmp_path: Path, below: str, above: str, expected: list[str]) -> None:
    base, middle, path = (tmp_path / f"{name}.yaml" for name in ("base", "middle", "mine"))
    base.write_text(below)
    middle.write_text("extends: base.yaml\n")
    path.write_text(f"extends: middle.yaml\n{above}resellers: []\n")
    found = [" ".join(str(one).removeprefix(f"{base}:").split(" ")[:2]) for one in problems(path)]
    assert found == expected
    with pytest.raises(ScenarioError):
        load_scenario(path)


def test_a_base_may_leave_missing_parts_to_other_bases(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("payments: [{then: [{status: Failed}]}]\n")
    path = tmp_path / "mine.yaml"
    path.write_text("extends: rules.yaml\nresellers: [{code: A}]\n")
    assert problems(path) == []


FORGED = "evil.yaml:1:1: ok"
ESCAPES = ["\n", "\u0085", "\u2028", "\u202e", "\x9b2J", "\x1b[2J", "\t", "\x7f", "\r"]


@pytest.mark.parametrize("sequence", ESCAPES, ids=[repr(one) for one in ESCAPES])
def test_no_content_of_a_file_can_forge_a_problem_or_reach_a_terminal(tmp_path: Path, sequence: str) -> None:
    written = f"x{sequence}{FORGED}".encode("unicode_escape").decode().replace('"', '\\"')
    path = tmp_path / "mine.yaml"
    path.write_text(
        f'resellers: []\nclock: "{written}"\n"{written}": 1\nextends: "{written}"\n'
        f'faults: [{{when: {{path: "{written}"}}, then: {{status: 500}}}}]\n'
    )
    found = [str(one) for one in problems(path)]
    assert found
    for line in found:
        assert line.isprintable()
        assert line.startswith(f"{path}:")
        assert len(line) <= LINE_CHARS_MAX


def test_a_name_of_a_file_can_forge_nothing_either() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a\n\x1b[2Jb.yaml"
        path.write_text("sed: 1\n")
        [_, found] = problems(path)
        assert str(found).startswith(f"{folder}{os.sep}a\\n\\x1b[2Jb.yaml:1:1: unknown_key")


@pytest.mark.parametrize("text", ["clock: {}\n", "{}: 1\n", "extends: {}\n", "payments: [{{name: a, {}: 1}}]\n"])
def test_a_problem_has_at_most_300_characters_for_any_file(tmp_path: Path, text: str) -> None:
    folder = tmp_path / ("d" * 200)
    folder.mkdir()
    path = folder / "mine.yaml"
    path.write_text(text.format("y" * 900))
    found = problems(path)
    assert found
    assert all(
        len(str(one)) <= LINE_CHARS_MAX and f"mine.yaml:{one.line}:{one.column}: {one.code}" in str(one)
        for one in found
    )


def test_a_long_list_of_keys_is_cut_in_the_line() -> None:
    assert str(Problem("f", 1, 1, "", "code", "k" * 500)).endswith("k…")
