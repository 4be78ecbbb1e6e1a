"""Proxy variables of an environment do not lead requests away from the simulator."""

import os

import pytest

from reseller_sim.exchange import BYPASSES, bypass, proxy_hint
from tests.support.runner import invoke


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "127.0.0.1"),
        ({"NO_PROXY": ""}, "127.0.0.1"),
        ({"NO_PROXY": "corp.example"}, "corp.example,127.0.0.1"),
        ({"no_proxy": "corp.example, .local"}, "corp.example,.local,127.0.0.1"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "a,b,127.0.0.1"),
        ({"NO_PROXY": "127.0.0.1,a"}, "127.0.0.1,a"),
        ({"NO_PROXY": "*"}, "*"),
        ({"no_proxy": " * ", "NO_PROXY": "a"}, "*"),
    ],
)
def test_the_host_is_added_to_both_spellings_and_nothing_is_lost(environment: dict[str, str], wanted: str) -> None:
    assert bypass(environment, "http://127.0.0.1:8080/s/x") == {"NO_PROXY": wanted, "no_proxy": wanted}


def test_an_address_of_ipv6_is_written_in_both_ways() -> None:
    assert bypass({}, "http://[::1]:80")["NO_PROXY"] == "::1,[::1]"


def test_the_hint_names_the_variables_that_are_set() -> None:
    assert proxy_hint({"NO_PROXY": "x", "HTTP_PROXY": ""}) == ""
    assert proxy_hint({"http_proxy": "http://127.0.0.1:1"}) == " http_proxy is set: does the HTTP client heed NO_PROXY?"
    assert proxy_hint({"HTTP_PROXY": "a", "ALL_PROXY": "b"}).startswith(" HTTP_PROXY, ALL_PROXY are set: ")


@pytest.mark.parametrize(("listens", "wanted"), [("0.0.0.0", "127.0.0.1"), ("::", "::1,[::1]"), ("::1", "::1,[::1]")])
def test_explore_adds_the_host_of_its_own_server(listens: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BYPASSES:
        monkeypatch.setenv(name, "")
    assert invoke("explore", "--host", listens, "--", "no-such-command").exit_code == 3
    assert [os.environ[name] for name in BYPASSES] == [wanted, wanted]
