"""Render the files for assistants: `llms.txt`, which lists the pages, and all pages as one Markdown file."""

import re
from pathlib import Path, PurePosixPath

from tools.site.links import outside_code
from tools.site.pages import INDEX, Section, reading_order, site_names

INDEX_NAME = "llms.txt"
WHOLE_NAME = "documentation.md"
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def write_llms_files(tree: Path, out: Path) -> None:
    """Write both files of a tree into the folder of its site."""
    (out / INDEX_NAME).write_text(llms_index(tree), "utf-8")
    (out / WHOLE_NAME).write_text(whole_documentation(tree), "utf-8")


def llms_index(tree: Path) -> str:
    """Return the list of pages, in the form of https://llmstxt.org: title, summary, and a linked line for each page."""
    title, summary = _opening(_read(tree, "README.md") or _read(tree, INDEX))
    names = site_names(tree)
    parts = [f"# {title}\n\n> {summary}\n\nAll pages as one file: [{WHOLE_NAME}]({WHOLE_NAME})\n"]
    for section in _sections(tree):
        lines = [_line(tree, page, names[page]) for page in map(_page, section.links) if page in names]
        parts.append("\n".join([f"## {section.title}\n", *lines, ""]))
    return "\n".join(parts)


def whole_documentation(tree: Path) -> str:
    """Return all pages in reading order, each after a comment with its path."""
    pages = ["README.md", *(_page(link) for section in _sections(tree) for link in section.links)]
    texts = [(page, _read(tree, page)) for page in pages]
    return "\n".join(f"<!-- {page} -->\n\n{text.strip()}\n" for page, text in texts if text)


def _sections(tree: Path) -> list[Section]:
    return reading_order(_read(tree, INDEX))


def _page(link: str) -> str:
    return f"docs/{link}" if not link.startswith("../") else link.removeprefix("../")


def _read(tree: Path, page: str) -> str:
    return (tree / page).read_text("utf-8") if (tree / page).is_file() else ""


def _line(tree: Path, page: str, name: str) -> str:
    title, summary = _opening(_read(tree, page))
    return f"- [{title}]({PurePosixPath(name).with_suffix('.html')}): {summary}"


def _opening(text: str) -> tuple[str, str]:
    """Return the title of a page and its first sentence, as plain text."""
    prose = "\n".join(line for line, is_prose in outside_code(text) if is_prose)
    title, _, rest = re.sub(r"<!--.*?-->|<[^>]+>", "", prose, flags=re.DOTALL).strip().partition("\n")
    first = rest.strip().partition("\n\n")[0]
    sentence = re.split(r"(?<=\.)\s", " ".join(_LINK.sub(r"\1", first).split()), maxsplit=1)[0]
    return title.removeprefix("# "), sentence
