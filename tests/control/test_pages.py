"""The console's files: open to browsers, one page at each of its addresses, small, nothing from elsewhere."""

import gzip
import re
from pathlib import Path

import pytest

from tests.support.client import running

WEB = Path(__file__).parents[2] / "simulator" / "console" / "web"
FILES = sorted(path for path in WEB.rglob("*") if path.is_file())
PACKED_BYTES_MAX = 150_000


@pytest.mark.parametrize(
    ("address", "root"),
    [
        ("/_sim/", ""),
        ("/_sim/s/default", "../"),
        ("/_sim/s/default/live", "../../"),
        ("/_sim/s/default/payments/2611234510804065847140", "../../../"),
        ("/_sim/ui/scenarios", "../"),
    ],
)
def test_the_page_names_its_files_relative_to_its_address(address: str, root: str) -> None:
    with running(control_token="let-me-in") as client:
        answer = client.send("GET", address)
        assert answer.status == 200
        assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
        named = re.findall(r'(?:href|src)="([^"]+)"', answer.body.decode())
        assert len(named) > 3
        assert all(one.startswith(f"{root}console/") for one in named), named
        for one in named:
            assert client.send("GET", f"/_sim/{one.removeprefix(root)}").status == 200, one


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "v2/balance"), ("POST", "v2/topup"), ("GET", "v1/interbank/billers")]
)
def test_a_path_of_the_service_below_the_console_is_refused(method: str, path: str) -> None:
    with running() as client:
        answer = client.send(method, f"/_sim/s/default/{path}")
        assert answer.status == 404
        assert answer.json["message"].startswith(f"/s/default/{path} is a path of the service: send it without /_sim")
        page = client.send("GET", f"/_sim/s/default/{path}", headers={"Accept": "text/html,*/*;q=0.8"})
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")


@pytest.mark.parametrize("path", ["/" * 8000, "a/" * 4000, "%2f/" * 2000, "../" * 2600])
def test_a_deep_address_gets_no_longer_page(path: str) -> None:
    with running() as client:
        usual = client.send("GET", "/_sim/s/default/payments")
        deep = client.send("GET", f"/_sim/s/{path}")
        assert deep.status in (200, 404)
        named = re.findall(rb'(?:href|src)="((?:[.][.]/)*)', usual.body)
        assert len(deep.body) <= len(usual.body) + len(named) * len("../") * 20


def test_the_address_without_its_slash_redirects_below_any_prefix() -> None:
    with running() as client:
        answer = client.send("GET", "/_sim")
        assert (answer.status, answer.headers["location"]) == (307, "_sim/")


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def test_a_browser_at_the_server_s_address_is_led_to_the_console() -> None:
    with running(control_token="let-me-in") as client:
        answer = client.send("GET", "/", headers={"accept": BROWSER})
        assert (answer.status, answer.headers["location"], answer.headers["vary"]) == (303, "_sim/", "accept")
        assert client.send("GET", "/", "from=mail", headers={"accept": "Text/HTML"}).status == 303
        assert client.sim("GET", "/sandboxes/default/requests", authorization="Bearer let-me-in").json["requests"] == []


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [("GET", "/", "application/json"), ("GET", "/", "*/*"), ("POST", "/", BROWSER), ("GET", "/v2", BROWSER)],
)
def test_everybody_else_there_gets_the_service_s_answer(method: str, path: str, accept: str) -> None:
    with running() as client:
        answer = client.send(method, path, headers={"accept": accept})
        assert answer.status == 404
        hint = " The simulator's own pages are at /_sim/." if path == "/" else ""
        assert answer.json == {"message": f"There is no such path.{hint}", "errors": {}}


def test_a_browser_with_a_cached_file_gets_not_modified() -> None:
    with running() as client:
        tag = client.send("GET", "/_sim/console/app/main.js").headers["etag"]
        again = client.send("GET", "/_sim/console/app/main.js", headers={"if-none-match": tag})
        assert (again.status, again.body) == (304, b"")


def test_files_are_compressed_for_clients_that_accept_it() -> None:
    with running() as client:
        plain = client.send("GET", "/_sim/console/app/api.js")
        packed = client.send("GET", "/_sim/console/app/api.js", headers={"accept-encoding": "br, gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2f__init__.py", "../__init__.py", "app", "app/", "app/main.js/", ""]
)
def test_no_other_file_is_served(name: str) -> None:
    with running() as client:
        answer = client.send("GET", f"/_sim/console/{name}")
        assert answer.status in (401, 404)


def test_the_files_are_small_and_load_nothing_from_elsewhere() -> None:
    with running() as client:
        names = [path.relative_to(WEB) for path in FILES if path.name != "index.html"]
        answers = [client.send("GET", f"/_sim/console/{name}", headers={"accept-encoding": "gzip"}) for name in names]
    assert {answer.status for answer in answers} == {200}
    assert sum(len(answer.body) for answer in answers) + len((WEB / "index.html").read_bytes()) < PACKED_BYTES_MAX
    for path in FILES:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text), f"{path.name} names another host"
