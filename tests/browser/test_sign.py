"""The signing bench: what is pasted is explained piece by piece, by the same autopsy as the journal's."""

from collections.abc import Iterator

import pytest

from tests.support.console import Console, console

pytestmark = pytest.mark.slow

NONCE = "abcdefghijklmnop1"
REQUEST = f"""GET /v2/balance?b=1&a=2
X-Api-Key: test_key_RS001
X-Timestamp: 1795233600
X-Nonce: {NONCE}
X-Signature: v1=d3Jvbmc="""


@pytest.fixture(scope="module")
def shared() -> Iterator[Console]:
    with console() as shown:
        yield shown


@pytest.fixture
def page(shared: Console) -> Console:
    shared.new_sandbox()
    shared.open("sign")
    return shared


def explain(page: Console, pasted: str, own: str = "") -> None:
    page.page.get_by_label("A curl command").fill(pasted)
    page.page.get_by_label("The string that your client signed").fill(own)
    page.page.get_by_role("button", name="Explain").click()


def test_a_request_is_explained_piece_by_piece(page: Console) -> None:
    explain(page, REQUEST)
    shown = page.page
    shown.get_by_label("string to sign").wait_for()
    assert shown.get_by_label("string to sign").inner_text().startswith(f"v1:1795233600:{NONCE}:GET:a=2&b=1:47DEQpj8")
    pieces = shown.get_by_role("table", name="The pieces")
    assert "sorted by key" in pieces.inner_text()
    assert "timestamp_expired" in shown.get_by_role("heading", level=2).first.inner_text()


def test_a_curl_command_and_an_own_string_are_compared(page: Console) -> None:
    headers = {"X-Api-Key": page.reseller["api_key"], "X-Timestamp": "1795233600", "X-Nonce": NONCE}
    signed = " ".join(f"-H '{name}: {value}'" for name, value in (headers | {"X-Signature": "v1=d3Jvbmc="}).items())
    explain(page, f"curl {page.url}/s/{page.sandbox}/v2/balance?b=1 {signed}", f"v1:1795233600:{NONCE}:get:b=1:")
    compared = page.page.locator("sim-sign .compared", has_text="in your string the whole string is signed")
    compared.wait_for()
    assert page.page.url.endswith("/sign"), "what was pasted may be a real request"


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("", "paste a curl command, or begin with a method and a path"),
        ("GET /v2/balance\nno header", "is no header: write Name: value"),
        ("curl", "the command has no URL"),
        ("GET /v2/balance", ""),
    ],
)
def test_what_cannot_be_read_is_said_in_place(page: Console, pasted: str, said: str) -> None:
    explain(page, pasted)
    if said:
        page.page.locator("sim-sign .mistake", has_text=said).wait_for()
        page.mistakes[:] = [one for one in page.mistakes if "400" not in one]
    else:
        page.page.get_by_role("heading", level=2).first.wait_for()


def test_hostile_text_is_text(page: Console) -> None:
    explain(page, "GET /v2/x?a=<img/src=x/onerror=alert(1)>\u202eb\nX-Api-Key: <b>k</b>")
    page.page.get_by_role("heading", level=2).first.wait_for()
    assert page.page.locator("sim-sign img, sim-sign b").count() == 0
