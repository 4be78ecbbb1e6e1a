"""Copy a tree of the repository into the folder that Sphinx reads: pages, linked files and pictures."""

import shutil
from pathlib import Path, PurePosixPath

from tools.site.links import for_site, own_anchors
from tools.site.pages import INDEX, contents, site_names

SOURCES = "source"  # the folder of the site with the files that pages link
SOURCE_BYTES_MAX = 200_000
IMAGES = "docs/images"
_LANGUAGES = {
    ".py": "python",
    ".js": "javascript",
    ".php": "php",
    ".java": "java",
    ".go": "go",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
}


class Assembly:
    """The pages of `tree` in `folder`. `names` maps each page of the folder to its path in the repository."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self._tree, self._folder = tree.resolve(), folder
        self._names = site_names(tree)
        self._texts = {page: (tree / page).read_text("utf-8") for page in self._names}
        self.names = {name: page for page, name in self._names.items()}
        self._write()

    def _write(self) -> None:
        anchors = {self._names[page]: own_anchors(text) for page, text in self._texts.items()}
        folder = self._folder
        folder.mkdir(parents=True)
        for page, text in self._texts.items():
            shown = for_site(text, page, self._elsewhere, anchors)
            end = contents(text, self._names) if page == INDEX else ""
            (folder / self._names[page]).write_text(shown + end, "utf-8")
        if (self._tree / IMAGES).is_dir():
            shutil.copytree(self._tree / IMAGES, folder / "extra" / "images")
            shutil.copytree(self._tree / IMAGES, folder / "images")

    def _elsewhere(self, path: str) -> str | None:
        """Return the site's path for a path of the repository. A linked file that is no page gets a page with its
        text."""
        if path in self._names:
            return self._names[path]
        if path.startswith(f"{IMAGES}/"):
            return path.removeprefix("docs/")
        found = (self._tree / path).resolve()
        if not found.is_relative_to(self._tree) or not found.is_file() or found.suffix == ".md":
            return None
        return self._source(path, found)

    def _source(self, path: str, file: Path) -> str | None:
        """Write a page that shows a file. Search and tables of contents leave it out."""
        name = f"{SOURCES}/{path}.md"
        if name not in self.names:
            if file.stat().st_size > SOURCE_BYTES_MAX:
                return None
            page = self._folder / name
            page.parent.mkdir(parents=True, exist_ok=True)
            language = _LANGUAGES.get(PurePosixPath(path).suffix, "text")
            text = file.read_text("utf-8").rstrip("\n")
            page.write_text(
                f"---\norphan: true\nnosearch: true\n---\n# {path}\n\n~~~~~~~~{language}\n{text}\n~~~~~~~~\n", "utf-8"
            )
            self.names[name] = path
        return name
