"""The page reports a simulator that does not answer, a restarted simulator, and missing views or sandboxes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.browser import page as opened_page
from tests.support.console import Console
from tests.support.processes import Serving, free_port, serving

pytestmark = pytest.mark.slow


class Restarted:
    """A page, and a real server process that is ended and started again on the same port."""

    def __init__(self, page: object, mistakes: list[str]) -> None:
        self.page, self.mistakes = page, mistakes
        self.port = free_port()

    @contextmanager
    def life(self) -> Iterator[Console]:
        """One life of the server, which shows the default sandbox."""
        with serving("--port", str(self.port), "--json", "--clock", "manual") as server:
            shown = self.console(server)
            yield shown
            server.stop(signal.SIGTERM)

    def console(self, server: Serving) -> Console:
        """The page with this life of the server."""
        shown = Console(server, self.page, self.mistakes)  # type: ignore[arg-type]  # Playwright's types are not loaded here
        shown.sandbox = "default"
        shown.reseller = shown.mine("GET", "")["resellers"][0]
        return shown


@pytest.fixture
def restarted() -> Iterator[Restarted]:
    with opened_page() as (page, mistakes):
        yield Restarted(page, mistakes)
        unexpected = [one for one in mistakes if "net::ERR_" not in one and "dynamically imported" not in one]
        assert unexpected == []


def test_a_list_restarts_with_a_restarted_server(restarted: Restarted) -> None:
    with restarted.life() as first:
        for number in range(3):
            first.pay(f"old-{number}")
        shown = first.open()
        first.row("old-2").first.click()
        shown.locator("sim-live sim-detail h2").wait_for()
        shown.get_by_text("● live", exact=True).wait_for()
        shown.evaluate("window.isSamePage = true")
    shown.get_by_text("✕ the simulator does not answer", exact=True).wait_for()
    shown.keyboard.press("a")
    shown.locator("sim-clock .mistake", has_text="does not answer").wait_for()
    with restarted.life() as second:
        second.pay("new-1")
        second.row("new-1").first.wait_for()
        assert second.row("old-").count() == 0
        shown.get_by_text("● live", exact=True).wait_for()
        second.until("document.body.innerText.includes('does not answer') === false")
        assert shown.locator("sim-live sim-detail").is_hidden()
        numbers = shown.evaluate("[...document.querySelectorAll('sim-list .rows .row')].map(row => row.id)")
        assert len(numbers) == len(set(numbers)) == 4
        assert shown.evaluate("window.isSamePage")


def test_a_view_that_cannot_be_loaded_is_reported_and_returns_with_the_server(restarted: Restarted) -> None:
    with restarted.life() as first:
        shown = first.open()
        first.row("created").wait_for()
    shown.keyboard.press("g")
    shown.keyboard.press("a")
    shown.get_by_role("heading", name="Audit could not be loaded").wait_for()
    assert shown.locator("sim-live").count() == 0
    with restarted.life():
        shown.locator("main > sim-audit").wait_for()
        shown.get_by_text("● live", exact=True).wait_for()


def test_missing_views_and_sandboxes_are_reported_with_the_existing_ones(restarted: Restarted) -> None:
    with restarted.life() as console:
        console.new_sandbox()
        shown = console.open("nonsense")
        shown.get_by_role("heading", name="There is no such view").wait_for()
        shown.locator("main").get_by_text("nonsense").wait_for()
        shown.locator("main").get_by_role("link", name="Live").click()
        console.row("created").wait_for()
        console.control("DELETE", f"sandboxes/{console.sandbox}")
        shown.get_by_role("heading", name="There is no such sandbox").wait_for()
        shown.get_by_text("✕ no such sandbox", exact=True).wait_for()
        assert shown.locator("sim-live").count() == 0
        console.control("POST", "sandboxes", {"id": console.sandbox})
        console.row("created").wait_for()
        shown.goto(f"{console.url}/_sim/s/never-made/rules")
        shown.get_by_role("heading", name="There is no such sandbox").wait_for()
        shown.get_by_label("Sandbox", exact=True).select_option("default")
        shown.locator("main > sim-rules").wait_for()
        console.forget_refusals()
