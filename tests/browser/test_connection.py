"""What the page says while the simulator does not answer, after it was started again, and of addresses of nothing."""

import signal
from collections.abc import Iterator

import pytest

from tests.support.browser import page as opened_page
from tests.support.console import Console, console
from tests.support.processes import free_port, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def test_a_server_that_was_started_again_shows_its_own_life_only() -> None:
    flags = ("--port", str(free_port()), "--json")
    with opened_page() as (shown, _):
        with serving(*flags) as server:
            before = Console(server, shown, [])
            before.sandbox, before.reseller = "default", server.ready["resellers"][0]
            before.pay("order-before")
            before.open()
            before.row("order-before").first.wait_for()
            shown.get_by_text("● live").wait_for()
            server.stop(signal.SIGTERM)
            shown.get_by_text("✕ the simulator does not answer").wait_for()
            assert shown.get_by_text("● live").count() == 0
            shown.get_by_role("link", name="Coverage").click()
            shown.locator(".notice", has_text="The simulator does not answer").wait_for()
        with serving(*flags) as server:
            after = Console(server, shown, [])
            after.sandbox, after.reseller = "default", server.ready["resellers"][0]
            shown.locator("main > sim-coverage").wait_for()
            after.pay("order-after")
            shown.get_by_role("link", name="Live").click()
            after.row("order-after").first.wait_for()
            assert after.row("order-before").count() == 0


def test_live_begins_anew_with_a_server_that_was_started_again() -> None:
    flags = ("--port", str(free_port()), "--json")
    with opened_page() as (shown, _):
        with serving(*flags) as server:
            before = Console(server, shown, [])
            before.sandbox, before.reseller = "default", server.ready["resellers"][0]
            before.pay("order-before")
            before.open()
            before.row("order-before").first.wait_for()
            server.stop(signal.SIGTERM)
        with serving(*flags) as server:
            after = Console(server, shown, [])
            after.sandbox, after.reseller = "default", server.ready["resellers"][0]
            shown.get_by_text("● live").wait_for()
            after.pay("order-after")
            after.row("order-after").first.wait_for()
            assert after.row("order-before").count() == 0


def test_a_sandbox_that_is_not_there_is_said_and_others_are_offered(page: Console) -> None:
    gone = page.sandbox
    shown = page.open()
    page.row("created").first.wait_for()
    page.mine("DELETE", "")
    shown.locator(".notice", has_text=f"There is no sandbox {gone}").wait_for()
    shown.get_by_text("✕ no such sandbox").wait_for()
    shown.locator(".notice").get_by_role("link", name="default", exact=True).click()
    page.row("created").first.wait_for()
    shown.get_by_text("● live").wait_for()
    page.forget_refusals()


def test_an_unknown_view_is_said(page: Console) -> None:
    shown = page.open("nonsense")
    shown.locator(".notice", has_text="There is no view nonsense").wait_for()
    shown.get_by_role("link", name="Live").click()
    page.row("created").first.wait_for()
