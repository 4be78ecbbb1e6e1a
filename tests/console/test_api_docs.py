"""The interactive page of the contracts: how it signs, and what it does in a browser."""

import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from tests.support.browser import page
from tests.support.client import running
from tests.support.processes import ask, serving
from tests.support.programs import program
from tests.support.signing import KEY, NONCE, NOW, SECRET_TEXT, sign

FILES = Path(__file__).parents[2] / "simulator" / "console" / "api_docs"
SIGN = """
import {{ webcrypto }} from "node:crypto";
import {{ signed }} from {module};
globalThis.crypto ??= webcrypto;  // which Node 18 has under another name
const requests = {requests};
console.log(JSON.stringify(await Promise.all(requests.map(signed))));
"""


def test_the_page_signs_as_the_service_demands(tmp_path: Path) -> None:
    module = tmp_path / "sign.mjs"  # the extension of modules for every Node
    module.write_bytes((FILES / "sign.js").read_bytes())
    targets = ["/v2/balance", "/v2/options?b=2&a=%20&flag&a=1&=x&b=", "/s/mine/v2/catalog?a=1?b=2#top"]
    bodies = ["", '{"account": "é"}']
    requests = [
        {"key": KEY, "secret": SECRET_TEXT, "method": "post", "url": f"http://127.0.0.1{target}", "body": body}
        | {"timestamp": NOW, "nonce": NONCE}
        for target in targets
        for body in bodies
    ]
    script = SIGN.format(module=json.dumps(module.as_uri()), requests=json.dumps(requests))
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
        browser.select_option("#document", "_sim/openapi.json")
        browser.wait_for_selector("#operations-sandboxes-createSandbox")
        assert mistakes == []


FAINT = """() => {
    const channel = (value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const light = (color) => {
        const [red, green, blue] = color.match(/[\\d.]+/g).map(Number).map(channel);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    return [...document.querySelectorAll(".opblock-summary-method, .version")].filter((shown) => {
        const behind = shown.matches(".version") ? shown.parentElement : shown;
        const colors = [getComputedStyle(shown).color, getComputedStyle(behind).backgroundColor];
        const [dark, bright] = colors.map(light).sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05) < 4.5;
    }).map((shown) => shown.textContent);
}"""


@pytest.mark.slow
def test_the_page_says_what_it_lacks_without_swagger_ui_and_has_legible_badges_with_it() -> None:
    with serving("--port", "0", "--json") as server, page() as (browser, mistakes):
        url = f"{server.ready['url']}/_sim/docs"
        browser.goto(url)
        browser.wait_for_selector(".opblock")
        assert browser.evaluate(FAINT) == []
        assert mistakes == []
        browser.route("**/swagger-ui-bundle.js", lambda route: route.abort())
        browser.goto(url)
        browser.wait_for_selector("#without-assets")
        assert browser.locator("#caller").count() == 0


# Look-ups by an id that the simulator has created: a new sandbox has none.
NOT_THERE_YET = {"getDelivery", "getSandboxDelivery", "getTransaction"}


def filled_in(document: dict[str, Any], parameter: dict[str, Any]) -> str | None:
    """Return the value that "Try it out" of Swagger UI fills in: the example of parameter or schema, or the default."""
    schema = parameter["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] | schema
    values = [parameter.get("example"), schema.get("example"), schema.get("default")]
    return next((str(value) for value in values if value is not None), None)


def test_the_values_that_the_page_fills_in_are_accepted() -> None:
    failed, done = {}, 0
    with running() as client:
        for name in (OPENAPI, CONTROL):
            document = bundled(name)
            shared = document["components"]["parameters"]
            for path, item in document["paths"].items():
                if "get" not in item:
                    continue
                sent: dict[str, dict[str, str]] = {"path": {}, "query": {}, "header": {}}
                for one in [*item.get("parameters", ()), *item["get"].get("parameters", ())]:
                    parameter = shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
                    value = filled_in(document, parameter)
                    assert value is not None or not parameter.get("required"), f"{path} {parameter['name']} is empty"
                    if value is not None:
                        sent[parameter["in"]][parameter["name"]] = value
                target = path.format_map({key: quote(value, safe="") for key, value in sent["path"].items()})
                query = urlencode(sent["query"])
                signature = client.signature("GET", query, b"") if name == OPENAPI else {}
                status = client.send("GET", target, query, b"", signature | sent["header"]).status
                done += 1
                if not 200 <= status < 300:
                    failed[item["get"]["operationId"]] = status
    assert failed == dict.fromkeys(NOT_THERE_YET, 404)
    assert done > 30


def test_the_files_of_the_page_are_open_and_name_nothing_outside() -> None:
    with running(control_token="let-me-in") as client:
        whole = client.send("GET", "/_sim/docs")
        assert whole.status == 200
        assert "default-src 'none'" in whole.headers["content-security-policy"]
        for name in ("page.js", "page.css", "sign.js", "swagger-ui.css", "swagger-ui-bundle.js"):
            assert client.send("GET", f"/_sim/docs/{name}").status == 200, name
        for name in ("..", "swagger-ui.js", "__init__.py", "..%2fapp.py"):
            assert client.send("GET", f"/_sim/docs/{name}").status == 404, name
    for path in FILES.iterdir():
        assert "https://" not in path.read_text(), f"{path.name} loads nothing from elsewhere"
