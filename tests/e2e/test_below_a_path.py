"""A simulator below a path of another address, as with a team's gateway: console and verbs stay below it."""

from collections.abc import Iterator

import pytest

from simulator.cli.control import Stream, path_before
from tests.support.console import Console, console
from tests.support.prefixed import prefixed
from tests.support.processes import ask
from tests.support.runner import invoke

pytestmark = pytest.mark.slow

ROOT = "/tools/sim"
TOKEN = "only-below-a-path"


@pytest.fixture(scope="module")
def rooted() -> Iterator[Console]:
    """A server that knows its root, for proxies which pass it on."""
    with console("--root-path", ROOT, "--control-token", TOKEN) as shown:
        yield shown


def at(one: Console) -> str:
    return one.url.removesuffix(ROOT)


def test_the_console_works_through_a_proxy_that_leaves_the_root_in_the_path(rooted: Console) -> None:
    shown = rooted.page
    shown.goto(f"{at(rooted)}{ROOT}/_sim/s/default/payments")
    shown.locator("#control-token").fill(TOKEN)
    shown.get_by_role("button", name="Continue").click()
    shown.locator("sim-payments").wait_for()
    assert shown.url == f"{at(rooted)}{ROOT}/_sim/s/default/payments"
    rooted.forget_refusals()


def test_a_sent_request_is_shown_with_the_root_once(rooted: Console) -> None:
    ask(f"{at(rooted)}{ROOT}/s/default/v2/x%2fy?b=1", "GET", None, {})
    headers = {"Authorization": f"Bearer {TOKEN}"}
    path = f"{at(rooted)}/_sim/sandboxes/default/requests"
    number = ask(f"{path}?limit=1", "GET", None, headers).json["requests"][0]["n"]
    curl = ask(f"{path}/{number}.curl", "GET", None, headers).body.decode()
    assert f"{ROOT}/s/default/v2/x%2fy?b=1" in curl
    assert f"{ROOT}{ROOT}" not in curl


def test_verbs_and_streams_stay_below_the_path_of_their_address(rooted: Console) -> None:
    """Whatever else has that address gets no token."""
    with prefixed(at(rooted), "/gate") as url:
        for given in (url, f"{url}/", f"{url}/_sim", f"{url}/s/default"):
            listed = invoke("sandbox", "list", "--url", given, "--token", TOKEN)
            assert listed.exit_code == 0, listed.stderr
            first = next(Stream({"last": "1"}, given, "default", TOKEN).events())
            assert first["kind"], first


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("http://a", ""),
        ("http://a/", ""),
        ("http://a/s/shop", ""),
        ("http://a/sim", "/sim"),
        ("http://a/sim/s/shop", "/sim"),
        ("http://a/x y/é", "/x%20y/%C3%A9"),
    ],
)
def test_a_proxy_may_add_a_prefix_to_our_paths(base: str, path: str) -> None:
    assert path_before(base) == path


def test_the_page_of_the_contracts_draws_them_and_sends_below_the_path(rooted: Console) -> None:
    shown = rooted.page
    asked: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(f"{at(rooted)}{ROOT}/_sim/docs")
    shown.get_by_text("Enter the control token").wait_for()
    shown.locator("#token").fill(TOKEN)
    shown.keyboard.press("Tab")
    shown.locator("#sandbox option", has_text="default").wait_for(state="attached")
    operation = shown.locator(".opblock", has=shown.locator("[data-path='/v2/balance']")).first
    operation.locator("button").first.click()
    operation.get_by_role("button", name="Try it out").click()
    with shown.expect_response(lambda answer: answer.url.endswith("/v2/balance")) as got:
        operation.get_by_role("button", name="Execute").click()
    assert got.value.status == 200
    assert [url for url in asked if not url.startswith(f"{at(rooted)}{ROOT}/") and not url.startswith("data:")] == []
    rooted.forget_refusals()
