"""Docs, contract and code name the same endpoints."""

import re
from pathlib import Path

import pytest

from simulator.api.routes import routes
from simulator.contract.openapi import CONTROL as CONTROL_API
from simulator.contract.openapi import OPENAPI, load
from simulator.control.app import ROUTES

ROOT = Path(__file__).parent.parent
CONTROL = (ROOT / "docs" / "control-api.md").read_text()
PAGES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*/README.md")]

RESELLER = sorted((method, path) for path, methods in routes().items() for method in methods)
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
    import re

    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if not target.startswith("http"):
            assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_a_block_that_is_a_file_has_its_name_above_it_where_readers_see_it(page: str) -> None:
    """The comment that tests read is not shown by whatever renders the page."""
    parts = re.split(r"<!-- (?:file|append): (\S+) -->", (ROOT / page).read_text())
    paragraphs = [text.rstrip().rpartition("\n\n")[2] for text in parts[:-1:2]]
    names = parts[1::2]
    missing = [name for text, name in zip(paragraphs, names, strict=True) if name not in text or text.endswith("```")]
    assert missing == []


def test_the_recipes_are_listed_with_links_in_their_order() -> None:
    page = (ROOT / "docs" / "scenarios.md").read_text()
    listed, *recipes = page.partition("\n## Recipes\n")[2].partition("\n## ")[0].split("\n#### ")
    titles = [recipe.partition("\n")[0] for recipe in recipes]
    links = [(title, re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")) for title in titles]
    assert re.findall(r"\[([^]]+)\]\(#([^)]+)\)", listed) == links
