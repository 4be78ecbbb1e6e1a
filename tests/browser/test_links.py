"""Every link of the console keeps the sandbox that is shown, also on the pages of the whole server."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

VIEWS = ("live", "payments", "wallet", "wallet/ledger", "rules", "inbox", "webhooks", "webhooks/configuration")
MORE_VIEWS = ("catalog", "catalog/FP?show=magic", "coverage", "audit", "sign", "no-such-view")
SERVER_VIEWS = ("sandboxes", "scenarios", "scenarios/default", "no-such-view")


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    return shared


def strays(page: Console) -> list[str]:
    """The links of the page that lead neither to its sandbox nor to a page of the server that names it."""
    page.page.locator("nav.tabs a").first.wait_for()
    page.page.locator("main > *").first.wait_for()
    page.page.wait_for_load_state("networkidle" if "/ui/" in page.page.url else "load")
    links: list[str] = page.page.locator("sim-frame a[href]").evaluate_all(
        "all => all.map(link => link.getAttribute('href'))"
    )
    assert len(links) > 12
    others = {f"/_sim/s/{one['id']}/live" for one in page.control("GET", "sandboxes")["sandboxes"]}
    return [
        link
        for link in links
        if not link.startswith((f"/_sim/s/{page.sandbox}/", "#"))
        and not (link.startswith("/_sim/ui/") and f"sandbox={page.sandbox}" in link)
        and not (link in others and "/ui/" in page.page.url)
    ]


def test_every_link_of_a_sandbox_keeps_it(page: Console) -> None:
    trxid = page.pay("order-7")
    page.mine("POST", "clock/advance", {"until": "idle"})
    for view in (*VIEWS, *MORE_VIEWS, f"payments/{trxid}"):
        page.open(view)
        assert strays(page) == [], view


def test_every_link_of_the_server_keeps_the_sandbox(page: Console) -> None:
    for view in SERVER_VIEWS:
        page.page.goto(f"{page.url}/_sim/ui/{view}?sandbox={page.sandbox}")
        assert strays(page) == [], view


def test_sandboxes_and_scenarios_lead_back_by_tabs_keys_and_reloads(page: Console) -> None:
    shown = page.open("rules")
    shown.get_by_role("link", name="Sandboxes", exact=True).click()
    shown.wait_for_url(f"**/_sim/ui/sandboxes?sandbox={page.sandbox}")
    shown.reload()
    page.until(f"document.querySelector('sim-bar select')?.value === '{page.sandbox}'")
    shown.get_by_role("link", name="Live", exact=True).click()
    shown.wait_for_url(f"**/_sim/s/{page.sandbox}/live")
    shown.locator("a.name").click()
    shown.wait_for_url(f"**/_sim/ui/sandboxes?sandbox={page.sandbox}")
    shown.locator("main > sim-sandboxes").wait_for()
    for keys, address in (("gy", f"ui/scenarios?sandbox={page.sandbox}"), ("gp", f"s/{page.sandbox}/payments")):
        for key in keys:
            shown.keyboard.press(key)
        shown.wait_for_url(f"**/_sim/{address}")


def test_a_sandbox_that_was_deleted_is_not_led_back_to(page: Console) -> None:
    shown = page.page
    shown.goto(f"{page.url}/_sim/ui/sandboxes?sandbox={page.sandbox}")
    shown.get_by_role("button", name=f"Delete {page.sandbox}").click()
    shown.get_by_role("dialog").get_by_label("Type").fill(page.sandbox)
    shown.keyboard.press("Enter")
    shown.wait_for_url("**/_sim/ui/sandboxes")
    assert shown.get_by_role("link", name="Live", exact=True).get_attribute("href") == "/_sim/s/default/live"
