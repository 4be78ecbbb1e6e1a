"""The interactive page of the contracts: how it signs, and what it does in a browser."""

import json
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.browser import page
from tests.support.client import running
from tests.support.processes import ask, serving
from tests.support.signing import KEY, NONCE, NOW, SECRET_TEXT, sign
from tests.support.tools import program

FILES = Path(__file__).parents[2] / "simulator" / "console" / "api_docs"
SIGN = """
import {{ signed }} from {module};
const requests = {requests};
console.log(JSON.stringify(await Promise.all(requests.map(signed))));
"""


@pytest.mark.slow
def test_the_page_signs_as_the_service_demands() -> None:
    targets = ["/v2/balance", "/v2/options?b=2&a=%20&flag&a=1&=x&b=", "/s/mine/v2/catalog?a=1?b=2#top"]
    bodies = ["", '{"account": "é"}']
    requests = [
        {"key": KEY, "secret": SECRET_TEXT, "method": "post", "url": f"http://127.0.0.1{target}", "body": body}
        | {"timestamp": NOW, "nonce": NONCE}
        for target in targets
        for body in bodies
    ]
    script = SIGN.format(module=json.dumps((FILES / "sign.js").as_uri()), requests=json.dumps(requests))
    made = subprocess.run(
        [program("node"), "--input-type=module", "--no-warnings", "-e", script], capture_output=True, check=True
    )
    for request, headers in zip(requests, json.loads(made.stdout), strict=True):
        query = urlsplit(str(request["url"])).query
        expected = sign("POST", query, str(request["body"]).encode())
        assert headers == {
            "X-Api-Key": KEY,
            "X-Timestamp": str(NOW),
            "X-Nonce": NONCE,
            "X-Signature": expected,
        }, request["url"]


@pytest.mark.slow
def test_the_page_draws_both_contracts_and_its_requests_are_signed() -> None:
    with serving("--port", "0", "--json") as server, page() as (browser, mistakes):
        url = server.ready["url"]
        ask(f"{url}/_sim/sandboxes", "POST", b'{"id": "mine", "credentials": "unique"}')
        browser.goto(f"{url}/_sim/docs")
        browser.wait_for_selector(".opblock")
        assert browser.locator(".opblock").count() >= 27
        browser.select_option("#sandbox", "mine")
        operation = browser.locator("#operations-account-getBalance")
        operation.locator(".opblock-summary-control").click()
        operation.locator(".try-out__btn").click()
        operation.locator("button.execute").click()
        answer = operation.locator(".live-responses-table .microlight").first
        answer.wait_for()
        assert '"balance"' in operation.locator(".live-responses-table").inner_text()
        journal = ask(f"{url}/_sim/sandboxes/mine/requests").json["requests"]
        assert [(one["method"], one["path"], one["status"]) for one in journal] == [("GET", "/v2/balance", 200)]
        browser.select_option("#document", "/_sim/openapi.json")
        browser.wait_for_selector("#operations-sandboxes-createSandbox")
        assert mistakes == []


def test_the_files_of_the_page_are_open_and_name_nothing_outside() -> None:
    with running(control_token="let-me-in") as client:
        whole = client.send("GET", "/_sim/docs")
        assert whole.status == 200
        assert "default-src 'none'" in whole.headers["content-security-policy"]
        for name in ("page.js", "page.css", "sign.js", "swagger-ui.css", "swagger-ui-bundle.js"):
            assert client.send("GET", f"/_sim/docs/{name}").status == 200, name
        for name in ("index.html", "..", "swagger-ui.js", "__init__.py", "..%2fapp.py"):
            assert client.send("GET", f"/_sim/docs/{name}").status == 404, name
    for path in FILES.iterdir():
        assert "https://" not in path.read_text(), f"{path.name} loads nothing from elsewhere"
