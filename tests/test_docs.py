"""Docs, contract and code name the same endpoints."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from simulator.api.routes import RESELLER_ROUTES
from simulator.contract.openapi import CONTROL as CONTROL_API
from simulator.contract.openapi import OPENAPI, load
from simulator.control.control_app import ROUTES
from tools.site.links import outside_code
from tools.site.pages import INDEX, reading_order

ROOT = Path(__file__).parent.parent
CONTROL = (ROOT / "docs" / "control-api.md").read_text()
PAGES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*/README.md")]

RESELLER = sorted((method, path) for path, methods in RESELLER_ROUTES.items() for method in methods)
CONTROLLED = sorted((method, route.path) for route in ROUTES for method in (route.methods or set()) - {"HEAD"})


def operations(document: str) -> set[tuple[str, str]]:
    paths = load(document)["paths"]
    methods = ("get", "put", "post", "delete", "patch")
    return {(method.upper(), path) for path, item in paths.items() for method in item if method in methods}


def test_the_contract_has_exactly_the_endpoints_that_answer() -> None:
    assert operations(OPENAPI) == set(RESELLER)


def test_the_control_contract_has_exactly_the_routes() -> None:
    inbox_address = {(method, path) for method, path in operations(CONTROL_API) if path.startswith("/_sim/inbox/")}
    assert operations(CONTROL_API) - inbox_address == set(CONTROLLED)


def test_docs_list_every_control_route() -> None:
    assert [(method, path) for method, path in CONTROLLED if f"`{method} {path}`" not in CONTROL] == []


@pytest.mark.parametrize("page", ["README.md", *(str(path.relative_to(ROOT)) for path in PAGES)])
def test_links_lead_somewhere(page: str) -> None:
    """To a file of the repository, and to a heading of it as GitHub names it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose((ROOT / page).read_text())):
        path, _, anchor = target.partition("#")
        if not target.startswith("http"):
            found = (ROOT / page).parent / path if path else ROOT / page
            assert found.exists(), target
            assert not anchor or anchor in anchors(found), target


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors of a page: its headings, numbered where they repeat, and the ids that it sets itself."""
    text = prose(path.read_text("utf-8"))
    seen: Counter[str] = Counter()
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for title in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", re.sub(r"\]\([^)]*\)", "", title).lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def prose(text: str) -> str:
    """The lines of a page that are no code."""
    return "\n".join(line for line, is_prose in outside_code(text) if is_prose)


@pytest.mark.parametrize("page", ["README.md", *(str(path.relative_to(ROOT)) for path in PAGES)])
def test_headings_have_an_order(page: str) -> None:
    levels = [len(found) for found in re.findall(r"^(#{1,6}) ", prose((ROOT / page).read_text("utf-8")), re.MULTILINE)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == []


def test_each_page_is_listed_once_in_reading_order() -> None:
    listed = [link for section in reading_order((ROOT / INDEX).read_text("utf-8")) for link in section.links]
    assert sorted(listed) == sorted({*listed})
    written = {path.name for path in (ROOT / "docs").glob("*.md")} - {Path(INDEX).name}
    assert {one for one in listed if not one.startswith("../")} == written, f"list it in {INDEX}"


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_a_block_that_is_a_file_has_its_name_above_it_where_readers_see_it(page: str) -> None:
    """Renderers of the page hide the comment that tests read."""
    parts = re.split(r"<!-- (?:file|append): (\S+) -->", (ROOT / page).read_text())
    paragraphs = [text.rstrip().rpartition("\n\n")[2] for text in parts[:-1:2]]
    names = parts[1::2]
    missing = [name for text, name in zip(paragraphs, names, strict=True) if name not in text or text.endswith("```")]
    assert missing == []


def test_the_recipes_are_listed_with_links_in_their_order() -> None:
    listed, *recipes = (ROOT / "docs" / "recipes.md").read_text().split("\n### ")
    titles = [recipe.partition("\n")[0] for recipe in recipes]
    links = [(title, re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")) for title in titles]
    assert re.findall(r"\[([^]]+)\]\(#([^)]+)\)", listed) == links


def test_the_files_that_the_recipes_for_contributors_name_exist() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    rooms = "simulator|tests|contracts|scenarios|docs"
    named = [path for path in re.findall(rf"`((?:{rooms})/[^`]+)`", page) if "NAME" not in path]
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists()] == []
