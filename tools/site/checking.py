"""Check a built site: broken links, resources from other hosts, and levels of headings."""

import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The references that a browser fetches by itself, without links.
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("video", "src"),
    ("link", "href"),
}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
_FROM_ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//", re.IGNORECASE)
_CSS_ELSEWHERE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)


class _Page(HTMLParser):
    """The ids, links, loaded resources and heading levels of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.levels: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.add(given["id"])
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        for name, value in given.items():
            if (tag, name) in _LOADED:
                self._loaded(tag, value, given.get("rel", ""))
            elif tag == "a" and name == "href":
                self.links.append(value)

    def _loaded(self, tag: str, value: str, rel: str) -> None:
        if tag != "link" or _LOADED_LINKS & set(rel.split()):
            self.loads.append(value)
        self.links.append(value)


class Site:
    """The pages of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def pages(self) -> dict[str, _Page]:
        """The pages by their paths in the folder."""
        paths = sorted(self._folder.rglob("*.html"))
        return {path.relative_to(self._folder).as_posix(): _Page(path.read_text("utf-8")) for path in paths}

    def mistakes(self) -> list[str]:
        """Return the mistakes of all pages, one line each."""
        found = [f"{name}: {said}" for name, page in self.pages.items() for said in self._of(name, page)]
        return found + [
            f"{path.relative_to(self._folder).as_posix()}: it loads {url}"
            for path in sorted(self._folder.rglob("*.css"))
            for url in _CSS_ELSEWHERE.findall(path.read_text("utf-8"))
        ]

    def _of(self, name: str, page: _Page) -> Iterator[str]:
        for target in dict.fromkeys(page.links):
            if not self._leads_somewhere(name, page, target):
                yield f"the link {target} leads nowhere"
        yield from (f"it loads {target}" for target in page.loads if _FROM_ELSEWHERE.match(target))
        if page.levels.count(1) != 1:
            yield f"it has {page.levels.count(1)} headings of the first level"
        for before, level in pairwise(page.levels):
            if level > before + 1:
                yield f"a heading of level {level} follows one of level {before}"

    def _leads_somewhere(self, name: str, page: _Page, target: str) -> bool:
        """Return True for a link that exists, and for every link to another host, which is not checked."""
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            return True
        anchor = unquote(parts.fragment)
        if not parts.path:
            return not anchor or anchor in page.ids
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
        if path in self.pages:
            return not anchor or anchor in self.pages[path].ids
        return not path.startswith("..") and (self._folder / path).is_file()
