"""The pages of a tree: which pages the site has, their names, and their reading order."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

INDEX = "docs/README.md"
_NAMED = {
    INDEX: "index.md",
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "bench/RESULTS.md": "bench-results.md",
    "clients/js/README.md": "javascript-package.md",
}
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ITEM = re.compile(r"^(?:\d+\.|-) \[[^\]]+\]\(([^)#]+\.md)\)", re.MULTILINE)


class Section(NamedTuple):
    """A part of the reading order: its title, and its pages as the index links them, such as `time.md`."""

    title: str
    links: tuple[str, ...]


def site_names(tree: Path) -> dict[str, str]:
    """Map each page of a tree to its name on the site, such as `example-go.md` for `examples/go/README.md`."""
    names = {page: name for page, name in _NAMED.items() if (tree / page).is_file()}
    for path in sorted((tree / "docs").glob("*.md")):
        names.setdefault(f"docs/{path.name}", path.name)
    for path in sorted((tree / "examples").glob("*/README.md")):
        names[str(path.relative_to(tree))] = f"example-{path.parent.name}.md"
    return names


def reading_order(index: str) -> list[Section]:
    """Return the sections of the index that list pages. A line that begins with a link lists the page."""
    _, *parts = _SECTION.split(index)
    sections = [Section(title, tuple(_ITEM.findall(text))) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    return [section for section in sections if section.links]


def contents(index: str, names: Mapping[str, str]) -> str:
    """Return the table of contents that is appended to the index: each section, then the pages that no section
    lists."""
    order = [(section.title, [_linked(link, names) for link in section.links]) for section in reading_order(index)]
    listed = {name for _, pages in order for name in pages}
    others = [name for page, name in names.items() if name not in listed and page != INDEX]
    blocks = [*order, ("More pages", others)] if others else order
    return "".join(_block(title, pages) for title, pages in blocks)


def _linked(link: str, names: Mapping[str, str]) -> str:
    page = f"docs/{link}" if not link.startswith("../") else link.removeprefix("../")
    return names.get(page, link)


def _block(title: str, pages: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""])
