"""The versions of the documentation, one for each release tag in git, and the page that lists them."""

import html
import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

WORKING_TREE = "dev"
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)+)")
_GIT_S = 60

_LIST = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>reseller-sim: documentation</title>
<style>
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }}
a {{ color: #0b5f75 }}
@media (prefers-color-scheme: dark) {{ body {{ background: #131416; color: #cfd0d0 }} a {{ color: #6fc7dd }} }}
</style>
</head>
<body>
<main>
<h1>reseller-sim: documentation</h1>
<ul>
{items}
</ul>
</main>
</body>
</html>
"""


def releases(root: Path) -> dict[str, str]:
    """Map each release to its tag, such as `0.2.0` to `v0.2.0`, newest first; empty without a repository."""
    if shutil.which("git") is None or not (root / ".git").exists():
        return {}
    tags = _git(root, "tag", "--list").decode().split()
    found = {match[1]: match[0] for match in map(_RELEASE.fullmatch, tags) if match}
    return dict(sorted(found.items(), key=lambda one: [int(part) for part in one[0].split(".")], reverse=True))


def extract(root: Path, tag: str, folder: Path) -> None:
    """Write the tree of a tag to a folder."""
    with zipfile.ZipFile(io.BytesIO(_git(root, "archive", "--format=zip", tag))) as archive:
        archive.extractall(folder)


def list_page(names: Sequence[str]) -> str:
    """Return the first page of the site, which lists the versions, newest first."""
    newest = next((name for name in names if name != WORKING_TREE), None)
    said = {WORKING_TREE: "what is not released yet", newest: "the newest release"}
    items = (
        f'<li><a href="{html.escape(name)}/index.html">{html.escape(name)}</a>'
        + (f", {said[name]}" if name in said else "")
        + "</li>"
        for name in sorted(names, key=lambda name: name == WORKING_TREE)
    )
    return _LIST.format(items="\n".join(items))


def _git(root: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, timeout=_GIT_S, check=True).stdout
