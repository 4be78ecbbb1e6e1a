"""The documentation's site in a real Chromium, from a file server that knows nothing: search, themes, a phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import page as opened_page
from tests.support.local_server import local_server
from tests.support.programs import site_tools
from tests.support.shared_work import once
from tools.site.__main__ import ROOT, main
from tools.site.pages import INDEX, reading_order

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, and no line for each."""

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder."""
    with local_server(partial(Quiet, directory=str(folder))) as url:
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site_tools()
    return once(tmp_path_factory, "site", build) / "site"


def build(folder: Path) -> None:
    assert main(["--out", str(folder / "site"), "--no-releases"]) == 0


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[tuple["Page", str]]:
    with served(folder) as url, opened_page() as (page, mistakes):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        yield page, url
        # From the disk a page may not read another, and so results have no excerpts.
        assert [said for said in mistakes if "file:///" not in said and said != "Failed to fetch"] == []
        assert [one for one in asked if not one.startswith((url, "data:", "file:"))] == []


def search(page: "Page", word: str, title: str) -> None:
    """Type a word and follow the result with this title."""
    page.get_by_placeholder("Search").fill(word)
    page.get_by_placeholder("Search").press("Enter")
    page.locator("#search-results li a", has_text=title).first.click()
    page.locator("h1", has_text=title).wait_for()


def test_a_word_that_is_typed_finds_its_page(shared: tuple["Page", str]) -> None:
    page, url = shared
    page.goto(f"{url}/")
    page.get_by_role("link", name="dev", exact=True).click()
    page.locator("h1", has_text="Documentation").wait_for()
    search(page, "magic accounts", "Bundled scenarios and magic accounts")
    assert "/dev/bundled-scenarios.html" in page.url


def test_search_works_from_the_disk_as_well(shared: tuple["Page", str], folder: Path) -> None:
    page, _ = shared
    page.goto((folder / "dev" / "index.html").as_uri())
    search(page, "idempotent refid", "The service")


def test_the_next_page_is_the_next_of_the_reading_order(shared: tuple["Page", str]) -> None:
    page, url = shared
    page.goto(f"{url}/dev/index.html")
    for link in [link for section in reading_order((ROOT / INDEX).read_text("utf-8")) for link in section.links][:9]:
        page.locator("a.next-page").click()
        page.wait_for_url(f"**/dev/{link.removesuffix('.md')}.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_has_the_colours_and_the_picture_of_the_readers_system(shared: tuple["Page", str], scheme: str) -> None:
    page, url = shared
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{url}/dev/console.html")
    is_dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every(one => one < 60)")
    assert is_dark == (scheme == "dark")
    shown = page.locator("article img:visible")
    assert [one.get_attribute("src") for one in shown.all()] == [f"images/console-live-{scheme}.png"]
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize(
    "name", ["index", "overview", "quickstart", "service", "scenario-reference", "speed", "search"]
)
def test_a_page_fits_a_phone(shared: tuple["Page", str], name: str) -> None:
    page, url = shared
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{url}/dev/{name}.html")
    page.locator("h1").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1280, "height": 720})
