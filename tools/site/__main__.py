"""`make site`: build the documentation of the working tree and of each release in `site/`; a broken link fails the
build."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.site.building import built
from tools.site.checking import Site
from tools.site.pages import INDEX
from tools.site.versions import WORKING_TREE, extract, list_page, releases

ROOT = Path(__file__).parents[2]
LIST = "index.html"


def main(words: Sequence[str] | None = None) -> int:
    """Build, check and replace the site; return the exit code. After a failure the old site stays."""
    parser = argparse.ArgumentParser(prog="make site", description="The documentation as static pages.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder to write")
    parser.add_argument("--no-releases", action="store_true", help="the working tree alone")
    asked = parser.parse_args(words)
    out: Path = asked.out
    if out.exists() and not (out / WORKING_TREE / LIST).is_file() and (not out.is_dir() or any(out.iterdir())):
        print(f"make site: {out} is not a site that it made; it stays as it is. Give --out another folder.")
        return 2
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site-") as temporary:
        made = Path(temporary) / "site"
        mistakes = _built(asked.root, made, {} if asked.no_releases else releases(asked.root))
        if mistakes:
            print("\n".join([*mistakes, f"make site: {len(mistakes)} mistakes; nothing was written"]))
            return 1
        pages = len(list((made / WORKING_TREE).rglob("*.html")))
        versions = len(list(made.glob(f"*/{LIST}")))
        if out.exists():
            shutil.rmtree(out)
        made.chmod(0o755)
        made.rename(out)
    print(f"{out}: {pages} pages of the working tree, releases beside it: {versions - 1}, broken links: 0. To read it:")
    print(f"  python3 -m http.server --bind 127.0.0.1 --directory {out} 8000")
    return 0


def _built(root: Path, made: Path, tags: dict[str, str]) -> list[str]:
    """Build all versions and return the mistakes of the working tree. Mistakes of released versions are printed and
    not counted, since a tag cannot be changed."""
    if not (root / INDEX).is_file():
        return [f"{INDEX}: it is missing"]
    with tempfile.TemporaryDirectory() as temporary:
        trees = {WORKING_TREE: root}
        for name, tag in tags.items():
            extract(root, tag, Path(temporary) / name)
            if (Path(temporary) / name / INDEX).is_file():
                trees[name] = Path(temporary) / name
            else:
                print(f"{tag}: it has no {INDEX} and is left out")
        found = {name: built(tree, made / name, name, [*trees]) for name, tree in trees.items()}
    (made / LIST).write_text(list_page([*trees]), "utf-8")
    of_pages = Site(made).mistakes()
    mine = [line for line in of_pages if not line.startswith(tuple(f"{name}/" for name in tags))]
    for name in trees.keys() - {WORKING_TREE}:
        print("".join(f"{name}: {line}\n" for line in found[name]), end="")
    print("".join(f"{line}\n" for line in of_pages if line not in mine), end="")
    return [*found[WORKING_TREE], *mine]


if __name__ == "__main__":
    sys.exit(main())
