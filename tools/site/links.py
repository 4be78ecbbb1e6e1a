"""Rewrite markdown of the repository for the site: links lead to pages of the site, and line numbers stay the same."""

import posixpath
import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_TARGET = re.compile(r'(\]\(|\b(?:src|srcset|href)=")([^)\s"#:]+)((?:#[^)\s"]*)?[)"])')
_ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
_TO_ANCHOR = re.compile(r"\[([^\[\]]+)\]\(([\w.-]+\.md)?#([^)\s]+)\)")
_PICTURE = re.compile(
    r'<picture>(\s*)<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">(\s*)'
    r'<img alt="([^"]*)" src="([^"]+)">(\s*)</picture>'
)


def for_site(text: str, page: str, elsewhere: Callable[[str], str | None], anchors: dict[str, set[str]]) -> str:
    """Return a page for the site.

    `elsewhere` maps a path of the repository to the site, or returns None to keep the link. `anchors` has the ids that
    pages set by themselves, in addition to their headings.
    """
    return _PICTURE.sub(_by_theme, "\n".join(_lines(text, page, elsewhere, anchors)))


def own_anchors(text: str) -> set[str]:
    """Return the ids that a page sets by `<a id="..."></a>`."""
    return set(_ANCHOR.findall(text))


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is prose rather than part of a code block."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            fence = found[1]
            yield line, False
        elif fence:
            yield line, False
            if found and found[1].startswith(fence) and line.strip() == found[1]:
                fence = ""
        else:
            yield line, True


def _lines(text: str, page: str, elsewhere: Callable[[str], str | None], anchors: dict[str, set[str]]) -> Iterator[str]:
    folder = posixpath.dirname(page)
    here = elsewhere(page) or page

    def target(found: re.Match[str]) -> str:
        before, path, after = found.groups()
        name = elsewhere(posixpath.normpath(posixpath.join(folder, path)))
        return f"{before}{name or path}{after}"

    def anchor(found: re.Match[str]) -> str:
        words, other, name = found.groups()
        if name not in anchors.get(other or here, ()):
            return found[0]
        return f'<a href="{(other or "").removesuffix(".md") + ".html" if other else ""}#{name}">{words}</a>'

    for line, is_prose in outside_code(text):
        if is_prose:
            yield _TO_ANCHOR.sub(anchor, _TARGET.sub(target, line))
        else:
            yield line.replace("```mermaid", "```text")


def _by_theme(found: re.Match[str]) -> str:
    """Replace a `<picture>` by two images; the page shows the image for its theme."""
    first, dark, second, alt, light, third = found.groups()
    images = (f'<img class="only-{name}" alt="{alt}" src="{src}">' for name, src in (("dark", dark), ("light", light)))
    return f"<div>{first}{next(images)}{second}{next(images)}{third}</div>"
