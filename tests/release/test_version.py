"""The version of a build carries the commit, so that a later one is an upgrade."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from release.version import GIVEN, RELEASE, UNKNOWN, build_version, git_version, write_module
from tests.support.environments import built, copy_of_the_checkout, run
from tests.support.processes import ROOT
from tests.support.programs import program

pytestmark = pytest.mark.needs("git")

IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false")
ASK = "import importlib.metadata, simulator; print(simulator.__version__, importlib.metadata.version('reseller-sim'))"


def git(folder: Path, *arguments: str) -> str:
    return run([program("git"), *IDENTITY, *arguments], folder).strip()


def commit(folder: Path) -> str:
    """Commit everything; the version of the commit's build without its release."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a change")
    return f"+g{git(folder, 'rev-parse', '--short=8', 'HEAD')}"


def test_a_folder_without_a_history_has_the_lowest_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GIVEN, raising=False)
    assert build_version(tmp_path) == UNKNOWN


def test_so_has_any_folder_where_git_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GIVEN, raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert build_version(ROOT) == UNKNOWN


def test_the_environment_gives_the_version_of_a_build_without_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GIVEN, "0.1.0.dev7+g1a2b3c4d.dirty")
    assert build_version(tmp_path) == "0.1.0.dev7+g1a2b3c4d.dirty"


@pytest.mark.parametrize("given", ["latest", "0.1.0-7", '0.1"\nprint()', "v1", "0.1.0 "])
def test_an_invalid_version_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, given)
    with pytest.raises(ValueError, match=f"^{GIVEN} is .*, which is no version: give one like {UNKNOWN} or unset it$"):
        build_version()


def test_a_module_with_the_same_version_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "version.py"
    write_module(path, "1.0")
    first = path.stat().st_ino
    write_module(path, "1.0")
    assert path.stat().st_ino == first
    write_module(path, "1.1")
    assert ast.literal_eval(path.read_text().rpartition("= ")[2]) == "1.1"
    assert [each.name for each in tmp_path.iterdir()] == ["version.py"]


def test_a_checkout_without_an_installation_has_the_lowest_version() -> None:
    texts = [
        node.value
        for node in ast.walk(ast.parse((ROOT / "simulator" / "__init__.py").read_text("utf-8")))
        if isinstance(node, ast.Constant)
    ]
    assert UNKNOWN in texts


@pytest.mark.slow
def test_each_commit_has_a_higher_number_and_changes_that_are_not_committed_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    first = commit(tmp_path)
    assert git_version(tmp_path) == f"{RELEASE}.dev1{first}"
    second = commit(tmp_path)
    assert git_version(tmp_path) == f"{RELEASE}.dev2{second}"
    (tmp_path / "file").write_text("2")
    assert git_version(tmp_path) == f"{RELEASE}.dev2{second}.dirty"


@pytest.mark.slow
def test_the_tagged_commit_has_the_version_of_the_release(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    first = commit(tmp_path)
    git(tmp_path, "tag", "v0.0.1")
    assert git_version(tmp_path) == f"{RELEASE}.dev1{first}", "the tag of another release"
    git(tmp_path, "tag", f"v{RELEASE}")
    assert git_version(tmp_path) == RELEASE
    (tmp_path / "file").write_text("2")
    assert git_version(tmp_path) == f"{RELEASE}.dev1{first}.dirty"


@pytest.mark.slow
def test_a_folder_inside_of_another_checkout_has_not_its_history(tmp_path: Path) -> None:
    """As an archive of the sources has it that was unpacked there."""
    commit(tmp_path)
    (tmp_path / "inside").mkdir()
    assert git_version(tmp_path / "inside") == ""


@pytest.mark.slow
def test_a_shallow_clone_does_not_pretend_to_know_the_number(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    commit(tmp_path / "whole")
    last = commit(tmp_path / "whole")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{tmp_path / 'whole'}", "shallow")
    assert git_version(tmp_path / "shallow") == f"{RELEASE}.dev0{last}"


@pytest.mark.slow
def test_pip_upgrades_to_the_wheel_of_a_later_commit(tmp_path: Path) -> None:
    source = copy_of_the_checkout(tmp_path / "source")
    run([sys.executable, "-m", "venv", "--without-pip", "venv"], tmp_path)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    for number in ("1", "2"):
        (source / "simulator" / "change.py").write_text(f"NUMBER = {number}\n")
        version = f"{RELEASE}.dev{number}{commit(source)}"
        wheel = built("wheel", source, tmp_path / number)
        assert f"-{version}-" in wheel.name
        run([*pip, "--upgrade", str(wheel)], tmp_path)
        assert run([python, "-c", ASK], tmp_path).split() == [version, version]
        assert run([python, "-c", "import simulator.change as c; print(c.NUMBER)"], tmp_path).strip() == number


@pytest.mark.slow
def test_a_checkout_that_make_installed_knows_its_commit_without_git(tmp_path: Path) -> None:
    source = copy_of_the_checkout(tmp_path / "source")
    version = f"{RELEASE}.dev1{commit(source)}"
    (source / "README.md").write_text("changed")
    run([sys.executable, "-m", "venv", "--without-pip", "venv"], tmp_path)
    python = str(tmp_path / "venv" / "bin" / "python")
    hatchling = [sys.executable, "-m", "hatchling", "build", "--target", "wheel:editable"]
    run([*hatchling, "--directory", str(tmp_path / "made")], source)  # as pip does for `--editable`
    (wheel,) = (tmp_path / "made").iterdir()
    run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", str(wheel)], tmp_path)
    shown = run([python, "-c", ASK], tmp_path, PATH="/nonexistent").split()
    assert shown == [version, f"{version}.dirty"], "a checkout may change after it was installed"
    assert git(source, "status", "--porcelain", "--untracked-files=all") == "M README.md"
    later = commit(source)
    subprocess.run([python, "release/version.py", "simulator/_version.py"], cwd=source, check=True)
    assert run([python, "-c", ASK], tmp_path).split()[0] == f"{RELEASE}.dev2{later}"
