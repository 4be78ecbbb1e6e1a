"""Build one version of the site: assemble a tree and run Sphinx on it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.site.assembly import Assembly
from tools.site.llms import write_llms_files

HERE = Path(__file__).parent
BUILD_S = 600

# Corrections of the theme for screen readers and keyboards: levels, names of landmarks, and scrolling by keys.
_ACCESS = (
    ('role="heading">', 'role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
)


def built(tree: Path, out: Path, version: str, versions: Sequence[str]) -> list[str]:
    """Build a tree into a folder. Return Sphinx's warnings, one line each, with paths of the repository."""
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "pages"
        names = Assembly(tree, source).names
        extra = source / "extra"
        extra.mkdir(exist_ok=True)
        variables = {"SITE_VERSION": version, "SITE_VERSIONS": " ".join(versions), "SITE_EXTRA": str(extra)}
        flags = ["-q", "--keep-going", "-W", "-b", "html", "-c", str(HERE), "-d", f"{temporary}/read"]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "sphinx", *flags, str(source), str(out)],
            env=os.environ | variables | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=BUILD_S,
            check=False,
        )
    _finish(out)
    write_llms_files(tree, out)
    return [_placed(line, f"{source}/", names) for line in done.stderr.splitlines() if line] if done.returncode else []


def _finish(out: Path) -> None:
    """Fix the built pages, and remove files that no reader needs."""
    for path in out.rglob("*.html"):
        text = path.read_text("utf-8")
        for before, after in _ACCESS:
            text = text.replace(before, after)
        path.write_text(text, "utf-8")
    for name in (".buildinfo", "objects.inv"):
        (out / name).unlink(missing_ok=True)
    if (out / "_sources").is_dir():
        (out / "_sources").rmdir()


def _placed(line: str, source: str, names: dict[str, str]) -> str:
    """Replace the temporary path in a line of Sphinx by the path in the repository."""
    if not line.startswith(source):
        return line
    name, colon, rest = line.removeprefix(source).partition(":")
    return names.get(name, name) + colon + rest
