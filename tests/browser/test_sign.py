"""The signing bench: what is pasted is explained piece by piece, by the same autopsy as the journal's."""

import base64
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.support.console import Console, console
from tests.support.signing import sign

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
    compared = page.page.locator("sim-sign .compared", has_text="in your string")
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
def test_unreadable_input_is_reported_next_to_it(page: Console, pasted: str, said: str) -> None:
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


def signed(page: Console, method: str = "GET", target: str = "/v2/balance", body: bytes = b"", **changes: str) -> str:
    """A request as HTTP writes it, signed rightly for the sandbox but for `changes`."""
    key = changes.get("key", page.reseller["api_key"])
    secret = base64.b64decode(changes.get("secret", page.reseller["api_secret"]))
    moment = str(int(datetime.fromisoformat(page.mine("GET", "clock")["now"]).timestamp()))
    signature = sign(method, target.partition("?")[2], body, timestamp=moment, nonce=NONCE, secret=secret)
    lines = [f"{method} {target}", f"X-Api-Key: {key}", f"X-Timestamp: {moment}", f"X-Nonce: {NONCE}"]
    return "\n".join([*lines, f"X-Signature: {signature}"]) + (f"\n\n{body.decode()}" if body else "")


def paste(page: Console, text: str) -> None:
    """Paste as a person does, with the line ends that the text has."""
    page.page.get_by_label("A curl command").fill("")
    page.page.get_by_label("A curl command").evaluate(
        "(area, text) => { const data = new DataTransfer(); data.setData('text/plain', text);"
        " area.focus(); area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));"
        " area.value = text; }",
        text,
    )
    page.page.get_by_role("button", name="Explain").click()


def verdict(page: Console, text: str) -> None:
    page.page.get_by_role("heading", level=2, name=text).wait_for()


def test_a_valid_signature_is_confirmed_with_each_piece(page: Console) -> None:
    explain(page, signed(page, "POST", "/v2/topup?b=2&a=1", b'{"refid":"order-1"}'))
    verdict(page, "● valid")
    rows = page.page.get_by_role("table", name="The pieces").get_by_role("row").all_inner_texts()
    names = ["version", "timestamp", "nonce", "method", "query", "body hash"]
    assert [one.split("\t")[0] for one in rows[1:]] == names
    values = [one.split("\t")[1] for one in rows[1:]]
    assert page.page.get_by_label("string to sign").inner_text() == ":".join(values)
    page.page.get_by_role("button", name="copy the string").click()
    page.page.get_by_text("copied the string to sign").or_(
        page.page.get_by_text("here is the string to sign")
    ).wait_for()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_pasted_body_keeps_its_line_ends(page: Console, end: str) -> None:
    body = f'{{{end}"refid": "order-1"{end}{end}}}{end}'.encode()
    paste(page, signed(page, "POST", "/v2/topup", body))
    verdict(page, "● valid")
    page.page.get_by_text(f"the body has {len(body)} bytes").wait_for()


def test_a_command_with_a_tail_is_read(page: Console) -> None:
    lines = signed(page).split("\n")[1:]
    explain(
        page,
        f"$ curl -sS {page.url}/s/{page.sandbox}/v2/balance \\\n "
        + " ".join(f"-H '{one}'" for one in lines)
        + " | jq .",
    )
    verdict(page, "● valid")


def test_a_key_is_selected_among_several_and_revoked_keys_are_marked(page: Console) -> None:
    made = page.mine("POST", "resellers/RS001/api-keys", {})
    page.page.reload()
    key = page.page.get_by_label("Check with the key")
    old = page.reseller["api_key"]
    explain(page, signed(page, secret=made["api_secret"]))
    verdict(page, "invalid_signature")
    page.page.get_by_text(made["api_key"]).first.wait_for(state="attached")
    key.select_option(made["api_key"])
    page.page.get_by_role("button", name="Explain").click()
    verdict(page, "● valid")
    page.mine("DELETE", f"resellers/RS001/api-keys/{old}")
    page.page.reload()
    key.locator("option", has_text=f"{old} of RS001, revoked").wait_for(state="attached")
    explain(page, signed(page))
    verdict(page, "✕ ")
    page.page.get_by_text("RS001, revoked", exact=False).first.wait_for(state="attached")
    assert "valid" not in page.page.get_by_role("heading", level=2).first.inner_text().split()


def test_a_key_of_another_sandbox_is_unknown_until_its_secret_is_given(page: Console) -> None:
    secret = base64.b64encode(b"of another sandbox, of 32 bytes.").decode()
    explain(page, signed(page, key="key_of_another", secret=secret))
    page.page.get_by_text("which the sandbox does not know").wait_for()
    page.page.get_by_label("Its secret").fill("no Base64!")
    page.page.get_by_role("button", name="Explain").click()
    page.page.locator("sim-sign .mistake", has_text="secret must be Base64").wait_for()
    page.forget_refusals()
    page.page.get_by_label("Its secret").fill(secret)
    page.page.get_by_role("button", name="Explain").click()
    verdict(page, "● valid")
    assert secret not in page.page.url + page.page.locator("sim-sign").inner_text()


def test_a_wrong_secret_is_named(page: Console) -> None:
    explain(page, signed(page, secret=base64.b64encode(b"wrong").decode()))
    verdict(page, "✕ invalid_signature")
    page.page.get_by_role("region", name="autopsy of the signature").wait_for()


def test_a_megabyte_is_explained_and_the_page_lives(page: Console) -> None:
    paste(page, signed(page, "POST", "/v2/topup", b"x" * 1_000_000))
    page.page.get_by_text("the body has 1,000,000 bytes").wait_for()
    explain(page, signed(page))
    verdict(page, "● valid")


def test_control_characters_are_made_visible(page: Console) -> None:
    explain(page, "GET /v2/x?a=\x1b[31m\u200fb\nX-Api-Key: test_key_RS001")
    shown = page.page.get_by_label("string to sign")
    shown.wait_for()
    assert "\x1b" not in shown.inner_text()
    assert "⟨" in shown.inner_text()
