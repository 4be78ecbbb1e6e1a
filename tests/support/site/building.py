"""One version of the site: a tree, assembled and given to Sphinx."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.site.assembly import Assembly

HERE = Path(__file__).parent
BUILD_S = 600


def built(tree: Path, out: Path, version: str, versions: Sequence[str]) -> list[str]:
    """Build a tree into a folder. What Sphinx warned of, one line each, with the paths of the repository."""
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
    return [_placed(line, f"{source}/", names) for line in done.stderr.splitlines() if line] if done.returncode else []


def _placed(line: str, source: str, names: dict[str, str]) -> str:
    """A line of Sphinx's, with the path of the repository in place of the temporary one."""
    if not line.startswith(source):
        return line
    name, colon, rest = line.removeprefix(source).partition(":")
    return names.get(name, name) + colon + rest
