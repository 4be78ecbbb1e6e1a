"""`make release`: the version everywhere, the changelog with its date, and packages that install."""

import json
import re
import shutil
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest

from release import artifacts
from release.commands import ROOT, CannotMake
from release.version import GIVEN, RELEASE
from tests.support.environments import copy_of_the_checkout, run
from tests.support.programs import NODE_COMMANDS, program, required

NEXT = f"{RELEASE.partition('.')[0]}.{int(RELEASE.split('.')[1]) + 1}.0"
DAY = date(2026, 12, 24)
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that state a version, and the changelog."""
    for name in {place[0] for place in artifacts.PLACES} | {"CHANGELOG.md"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def committed(folder: Path) -> None:
    """Commit all files of a folder."""
    for command in ("init --quiet", "add --all", "commit --quiet --message first"):
        run([program("git"), *IDENTITY, *command.split()], folder)


def test_a_release_sets_the_version_everywhere(tree: Path) -> None:
    artifacts.set_version(tree, "7.8.9")
    text = {place[0]: (tree / place[0]).read_text() for place in artifacts.PLACES}
    assert '\nRELEASE = "7.8.9"\n' in text["release/version.py"]
    assert json.loads(text["clients/js/package.json"])["version"] == "7.8.9"
    assert re.findall("ARG VERSION=(.*)", text["Dockerfile"]) == ["7.8.9", "7.8.9"], "the build and the label"
    assert 'org.opencontainers.image.version="$VERSION"' in text["Dockerfile"]
    assert '__version__ = "7.8.9.dev0"' in text["simulator/__init__.py"], "without an installation"
    for page in ("docs/javascript.md", "clients/js/README.md"):
        assert set(re.findall(r"reseller-sim-(\d.*?)\.tgz", text[page])) == {"7.8.9"}


def test_development_after_a_release_builds_images_below_the_next_release(tree: Path) -> None:
    artifacts.set_version(tree, "7.8.9")
    artifacts.set_version(tree, "7.9.0", is_release=False)
    assert re.findall("ARG VERSION=(.*)", (tree / "Dockerfile").read_text()) == ["7.9.0.dev0", "7.9.0.dev0"]
    assert json.loads((tree / "clients/js/package.json").read_text())["version"] == "7.9.0"


def test_a_file_without_its_version_is_named(tree: Path) -> None:
    (tree / "Dockerfile").write_text("FROM scratch\n")
    with pytest.raises(CannotMake, match=r"^Dockerfile states no version after 'ARG VERSION='$"):
        artifacts.set_version(tree, "7.8.9")


def test_the_unreleased_entries_get_a_heading_with_version_and_date(tree: Path) -> None:
    before = (tree / "CHANGELOG.md").read_text()
    artifacts.date_changelog(tree, "7.8.9", DAY)
    after = (tree / "CHANGELOG.md").read_text()
    assert "## [Unreleased]\n\n## [7.8.9] - 2026-12-24\n\n" in after
    assert after.replace("## [7.8.9] - 2026-12-24\n\n", "") == before


def test_a_changelog_without_new_entries_is_refused(tree: Path) -> None:
    artifacts.date_changelog(tree, "7.8.9", DAY)
    with pytest.raises(CannotMake, match=r"^CHANGELOG.md has no entries below \[Unreleased\]"):
        artifacts.date_changelog(tree, "7.9.0", DAY)
    with pytest.raises(CannotMake, match=r"^CHANGELOG.md already has the version 7.8.9"):
        artifacts.date_changelog(tree, "7.8.9", DAY)


@pytest.mark.needs("git")
@pytest.mark.parametrize(
    ("version", "message"),
    [("", "'' is no version"), ("1.2", "'1.2' is no version"), ("v1.2.3", "is no version"), ("0.0.1", "is below")],
)
def test_a_wrong_version_changes_nothing(
    version: str, message: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    committed(tree)
    assert artifacts.main([version], tree) == 1
    assert message in capsys.readouterr().err
    assert run([program("git"), "status", "--porcelain"], tree) == ""


@pytest.mark.needs("git")
def test_uncommitted_changes_are_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    committed(tree)
    (tree / "Dockerfile").write_text("FROM scratch\n")
    assert artifacts.main([NEXT], tree) == 1
    assert capsys.readouterr().err == "make release: commit or undo these changes first:\n M Dockerfile\n"


@pytest.mark.slow
@pytest.mark.needs("git", "node", "npm", "interop-tools", "release-tools", "wheelhouse")
def test_a_release_is_built_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("git", "node", "npm"):
        program(name)
    required("interop-tools", NODE_COMMANDS.exists())
    required("release-tools", find_spec("twine") is not None)
    required("wheelhouse", any((ROOT / "wheelhouse").glob("hatchling-*.whl")))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(ROOT / "wheelhouse"))
    monkeypatch.setenv(GIVEN, "")
    copy = copy_of_the_checkout(tmp_path / "copy")
    committed(copy)
    (copy / "clients" / "js" / "node_modules").symlink_to(NODE_COMMANDS.parent)
    assert artifacts.main([NEXT], copy) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.splitlines()[:3] == [
        f"dist/reseller-sim-{NEXT}.tgz",
        f"dist/reseller_sim-{NEXT}-py3-none-any.whl",
        f"dist/reseller_sim-{NEXT}.tar.gz",
    ]
    changed = run([program("git"), "status", "--porcelain"], copy).split()[1::2]
    assert sorted(changed) == sorted({place[0] for place in artifacts.PLACES} | {"CHANGELOG.md"})
