"""`make site` as a whole: for a small repository with releases and mistakes, and for this repository."""

import subprocess
from pathlib import Path

import pytest

from tests.support.programs import program, site_tools
from tests.support.shared_work import once
from tools.site.__main__ import main
from tools.site.checking import Site

pytestmark = [pytest.mark.slow, pytest.mark.needs("git", "site-tools")]

GOOD = {
    "docs/README.md": "# Pages\n\n## All\n\n1. [Time](time.md)\n",
    "docs/time.md": "# Time\n\n## Manual\n\n[itself](#manual), [all](README.md#all)\n",
}
BAD = {
    "docs/README.md": "# Pages\n\n## All\n\n1. [Time](time.md)\n",
    "docs/time.md": "# Time\n\n[a](time.md#gone)\n\n[b](gone.md)\n\n[c](gone.py)\n\n"
    '<img alt="" src="images/gone.png">\n\n<script src="https://x.example/x.js"></script>\n\n#### Deep\n\n# Again\n',
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def git(root: Path, *words: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run([program("git"), *settings, *words], cwd=root, check=True, capture_output=True, timeout=60)


def release(root: Path, tag: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", tag)
    git(root, "tag", tag)


def test_a_mistake_fails_the_build_says_where_it_is_and_leaves_the_old_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site_tools()
    root, out = write(tmp_path / "root", BAD), write(tmp_path / "out", {"dev/index.html": "old"})
    assert main(["--root", str(root), "--out", str(out)]) == 1
    said = capsys.readouterr().out
    for line in (
        "docs/time.md:3: WARNING: local id not found in doc 'time': 'gone'",
        "docs/time.md:5: WARNING: 'myst' cross-reference target not found: 'gone.md'",
        "docs/time.md:7: WARNING: 'myst' cross-reference target not found: 'gone.py'",
        "docs/time.md:13: WARNING: Non-consecutive header level increase; H1 to H4",
        "dev/time.html: the link images/gone.png leads nowhere",
        "dev/time.html: it loads https://x.example/x.js",
        "dev/time.html: it has 2 headings of the first level",
    ):
        assert line in said
    assert said.endswith(" mistakes; nothing was written\n")
    assert (out / "dev/index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".site")] == []


def test_each_release_has_a_folder_beside_the_working_tree_and_old_mistakes_fail_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site_tools()
    root, out = tmp_path / "root", tmp_path / "out"
    root.mkdir()
    git(root, "init", "-q")
    release_files = [("v0.1.0", {"docs/a.md": "# A\n"}), ("v0.9.0", BAD), ("v0.10.0", GOOD)]
    for tag, files in release_files:
        release(write(root, files), tag)
    git(root, "tag", "not-a-release")
    write(root, {"docs/time.md": GOOD["docs/time.md"] + "\n## Uncommitted\n"})
    assert main(["--root", str(root), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "v0.1.0: it has no docs/README.md and is left out" in said
    assert "0.9.0: docs/time.md:5: WARNING: " in said
    assert " pages of the working tree, releases beside it: 2, broken links: 0. " in said
    assert sorted(path.parent.name for path in out.glob("*/index.html")) == ["0.10.0", "0.9.0", "dev"]
    page = (out / "dev/time.html").read_text()
    assert "Uncommitted" in page
    assert "Uncommitted" not in (out / "0.10.0/time.html").read_text()
    assert [page.index(f'href="./../{name}/index.html"') > 0 for name in ("0.10.0", "0.9.0")] == [True, True]
    assert main(["--root", str(root), "--out", str(out), "--no-releases"]) == 0
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["dev"]


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = write(tmp_path / "mine", {"kept.txt": "mine"})
    assert main(["--root", str(tmp_path), "--out", str(out)]) == 2
    assert "is not a site that it made" in capsys.readouterr().out
    assert main(["--root", str(tmp_path), "--out", str(out / "kept.txt")]) == 2
    assert (out / "kept.txt").read_text() == "mine"


def test_a_tree_without_an_index_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "docs/README.md: it is missing" in capsys.readouterr().out


def test_the_pages_of_this_repository_are_a_site_without_mistakes(tmp_path_factory: pytest.TempPathFactory) -> None:
    site_tools()
    folder = once(tmp_path_factory, "site", lambda made: build(made))
    pages = Site(folder / "site").pages
    assert {"index.html", "dev/index.html", "dev/service.html", "dev/overview.html", "dev/search.html"} <= pages.keys()
    assert "dev/source/examples/go/signing.go.html" in pages
    page = (folder / "site/dev/speed.html").read_text()
    assert "<pre>" not in page  # what scrolls can be scrolled by keys
    assert [page.count(f'aria-label="{name}"') for name in ("All pages", "On this page")] == [1, 1]
    assert page.count('role="heading"') == page.count('role="heading" aria-level="2"') > 5


def build(folder: Path) -> None:
    assert main(["--out", str(folder / "site"), "--no-releases"]) == 0
