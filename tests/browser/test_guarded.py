"""The page of a server that wants its control token, and below a prefix that a proxy puts before it."""

import signal
from collections.abc import Iterator

import pytest

from tests.support.console import Console, console
from tests.support.prefixed import prefixed
from tests.support.processes import free_port, serving

pytestmark = pytest.mark.slow

TOKEN = "let-me-in-please"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Console]:
    """A server that wants its control token."""
    with console("--control-token", TOKEN) as shown:
        shown.new_sandbox()
        yield shown


@pytest.fixture
def new_tab(guarded: Console) -> Iterator[Console]:
    """A tab of its own, which keeps no token yet."""
    browser = guarded.page.context.browser
    assert browser is not None
    with browser.new_page() as tab:
        page = Console(guarded.server, tab, [])
        page.sandbox = guarded.sandbox
        yield page


def enter(page: Console, token: str = TOKEN) -> None:
    """Answer the page's question for the control token."""
    page.page.locator("#control-token").fill(token)
    page.page.get_by_role("button", name="Continue").click()


def test_the_token_is_asked_for_once_and_kept_in_the_tab(guarded: Console) -> None:
    page = guarded
    shown = page.open()
    enter(page, "a wrong one")
    shown.get_by_text("That is not this simulator's token.").wait_for()
    enter(page)
    page.row("created").first.wait_for()
    page.open("payments")
    shown.get_by_role("navigation").get_by_text("Payments").wait_for()
    page.open()
    page.row("created").first.wait_for()
    assert shown.locator("dialog[open]").count() == 0
    assert shown.evaluate("Object.keys(localStorage).length + document.cookie.length") == 0
    page.mistakes[:] = [one for one in page.mistakes if "401" not in one]


@pytest.mark.parametrize(
    ("pasted", "refusal"),
    [
        ("   ", "A token has at least one character."),
        (f"{TOKEN}\u200b", "A token has only ASCII letters, digits and signs; character 17 is ⟨200B⟩."),
    ],
)
def test_a_token_that_no_header_can_carry_is_refused_where_it_was_typed(
    new_tab: Console, pasted: str, refusal: str
) -> None:
    page = new_tab
    shown = page.open()
    enter(page, pasted)
    shown.locator("dialog .mistake", has_text=refusal).wait_for()
    shown.get_by_text("○ waits for the control token", exact=True).wait_for()
    assert shown.evaluate("sessionStorage.length") == 0
    enter(page, f" {TOKEN} ")
    page.row("created").first.wait_for()
    assert shown.evaluate("Object.values(sessionStorage)") == [TOKEN]


def test_only_a_token_that_the_server_took_is_kept(new_tab: Console) -> None:
    page = new_tab
    shown = page.open()
    shown.evaluate("sessionStorage.setItem('reseller-sim control token', 'kept\u200b')")
    page.open()
    enter(page, "a wrong one")
    shown.get_by_text("That is not this simulator's token.").wait_for()
    assert "a wrong one" not in shown.evaluate("Object.values(sessionStorage)")
    enter(page, "a" * 100_000)
    shown.get_by_text("That is not this simulator's token.").wait_for()
    assert shown.evaluate("Object.values(sessionStorage)") == []
    enter(page)
    page.row("created").first.wait_for()
    assert shown.evaluate("Object.values(sessionStorage)") == [TOKEN]


def test_the_page_works_below_a_prefix(guarded: Console) -> None:
    page = guarded
    with prefixed(page.url, "/tools/sim") as url:
        page.page.goto(f"{url}/_sim")
        enter(page)
        page.page.wait_for_url(f"{url}/_sim/s/default/live")
        page.page.goto(f"{url}/_sim/s/{page.sandbox}/live")
        page.row("created").first.wait_for()
        page.pay("order-7")
        page.row("order-7").first.locator("a").click()
        page.page.locator("main > sim-payments").wait_for()
        assert page.page.url.startswith(f"{url}/_sim/s/{page.sandbox}/payments/")
        page.page.goto("about:blank")
    page.mistakes[:] = [one for one in page.mistakes if "401" not in one]


def test_a_token_that_was_changed_by_a_restart_is_asked_for_again(guarded: Console) -> None:
    port = str(free_port())
    browser = guarded.page.context.browser
    assert browser is not None
    with serving("--port", port, "--json", "--control-token", TOKEN) as first, browser.new_page() as shown:
        page = Console(first, shown, [])
        shown.goto(f"{page.url}/_sim/ui/sandboxes")
        enter(page)
        shown.get_by_role("link", name="default", exact=True).wait_for()
        first.stop(signal.SIGTERM)
        with serving("--port", port, "--json", "--control-token", "another-token") as second:
            page.server = second
            shown.get_by_role("form", name="Create a sandbox").get_by_role("button").click()
            shown.get_by_text("The simulator's token has changed.").wait_for()
            enter(page, TOKEN)
            shown.get_by_text("That is not this simulator's token.").wait_for()
            enter(page, "another-token")
            shown.wait_for_url("**/live")
            shown.get_by_role("button", name="copy as curl").wait_for()
            line = shown.get_by_role("button", name="copy as curl").get_attribute("title") or ""
            assert '-H "Authorization: Bearer $RESELLER_SIM_CONTROL_TOKEN"' in line
            assert "another-token" not in shown.content() + shown.url
