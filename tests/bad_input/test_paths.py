"""Unknown methods of a path, and unknown paths."""

import pytest

from tests.support.bad_requests import (
    ask,
    control_operations,
    ids,
    operations,
    said,
)
from tests.support.client import Client
from tests.support.contract_check import is_of_control

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY")


def by_template() -> dict[str, tuple[str, set[str]]]:
    found: dict[str, tuple[str, set[str]]] = {}
    for one in [*operations(), *control_operations()]:
        found.setdefault(one.template, (one.path, set()))[1].add(one.method)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("template", by_template())
def test_every_path_refuses_every_other_method_and_names_its_own(client: Client, template: str) -> None:
    path, own = by_template()[template]
    is_control = is_of_control(path)
    for method in METHODS:
        if method in own or (is_control and method == "HEAD" and "GET" in own):
            continue
        for body in (b"", b'{"refid": "a"}'):
            answer = ask(client, method, path, body)
            assert answer.status == 405, method
            assert own <= {one.strip() for one in answer.headers["allow"].split(",")} <= own | {"HEAD"}
    assert ask(client, "TRACE", path, signed=False).status == 405


UNKNOWN: list[tuple[str, str]] = [
    ("the root", "/"),
    ("nothing", ""),
    ("two slashes", "//"),
    ("a slash behind", "/v2/balance/"),
    ("a slash in front", "//v2/balance"),
    ("a slash within", "/v2//balance"),
    ("a dot", "/v2/./balance"),
    ("two dots", "/v2/../v2/balance"),
    ("out of the root", "/../../etc/passwd"),
    ("a semicolon", "/v2/balance;jsessionid=1"),
    ("a suffix", "/v2/balance.json"),
    ("upper case", "/V2/BALANCE"),
    ("another version", "/v3/balance"),
    ("no version", "/balance"),
    ("a blank behind", "/v2/balance "),
    ("NUL", "/v2/balance\x00"),
    ("a line feed", "/v2/balance\n"),
    ("a backslash", "/v2\\balance"),
    ("a wildcard", "/v2/*"),
    ("a template", "/v2/{name}"),
    ("Cyrillic", "/v2/bal\u0430nce"),
    ("emoji", "/\U0001f600"),
    ("a favicon", "/favicon.ico"),
    ("a Git folder", "/.git/config"),
    ("an environment", "/.env"),
    ("PHP", "/index.php"),
    ("a page of Spring", "/actuator/env"),
    ("50,000 characters", "/" + "a" * 50_000),
    ("10,000 parts", "/a" * 10_000),
    ("10,000 slashes", "/" * 10_000),
    ("what looks like the control API", "/_simulator"),
    ("what looks like a sandbox", "/sandbox/default/v2/balance"),
]


@pytest.mark.parametrize(("what", "path"), UNKNOWN, ids=ids(UNKNOWN))
def test_a_path_that_does_not_exist_is_not_found_at_any_address(client: Client, what: str, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = ask(client, method, path)
        assert (answer.status, answer.json["errors"]) == (404, {})
        assert len(answer.body) < 500
    within = ask(client, "GET", f"/s/default{path}")
    assert within.status == 404


SANDBOXES: list[tuple[str, str]] = [
    ("none", ""),
    ("unknown", "nobody"),
    ("another case", "Default"),
    ("a blank", " "),
    ("a blank behind", "default "),
    ("two dots", ".."),
    ("a wildcard", "*"),
    ("NUL", "default\x00"),
    ("markup", "<b>"),
    ("Cyrillic", "def\u0430ult"),
    ("a template", "{sandbox}"),
    ("of a dictionary's own", "__class__"),
    ("50,000 characters", "s" * 50_000),
]


@pytest.mark.parametrize(("what", "sandbox"), SANDBOXES, ids=ids(SANDBOXES))
def test_the_address_of_no_sandbox(client: Client, what: str, sandbox: str) -> None:
    answer = ask(client, "GET", f"/s/{sandbox}/v2/balance")
    assert said(answer) == "404 unknown_sandbox"
    assert len(answer.body) < 1000


def test_an_address_that_ends_early(client: Client) -> None:
    assert said(ask(client, "GET", "/s/")) == "404 unknown_sandbox"
    assert said(ask(client, "GET", "/s")) == "404"
    assert said(ask(client, "GET", "/s/default")) == "404"
    assert said(ask(client, "GET", "/s/default/s/default/v2/balance")) == "404"


CONTROL: list[tuple[str, str]] = [
    ("two slashes", "/_sim//sandboxes"),
    ("a slash behind", "/_sim/sandboxes/"),
    ("upper case", "/_sim/Sandboxes"),
    ("two dots", "/_sim/../_sim/health"),
    ("a dot", "/_sim/./health"),
    ("NUL", "/_sim/health\x00"),
    ("a suffix", "/_sim/health.json"),
    ("no such resource", "/_sim/sandboxes/default/nothing"),
    ("a path below a leaf", "/_sim/sandboxes/default/clock/advance/now"),
    ("50,000 characters", "/_sim/" + "a" * 50_000),
    ("10,000 parts", "/_sim" + "/a" * 10_000),
]


@pytest.mark.parametrize(("what", "path"), CONTROL, ids=ids(CONTROL))
def test_a_control_path_that_does_not_exist(client: Client, what: str, path: str) -> None:
    answer = ask(client, "GET", path)
    assert said(answer) == "404 unknown_path"
    assert len(answer.body) < 800
