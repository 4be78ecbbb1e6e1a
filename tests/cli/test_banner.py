"""The lines that `serve` prints can be pasted: they name the token and the certificate, and show the service's time."""

from types import SimpleNamespace
from typing import Any

import pytest

from simulator.cli import server as server_module
from simulator.cli.banner import page
from simulator.cli.server import Running
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import CannotStart
from tests.support.client import running
from tests.support.runner import invoke

HTTPS: Any = SimpleNamespace(url="https://127.0.0.1:8443")


def test_verbs_and_curl_trust_the_certificate_and_have_the_token() -> None:
    with running(control_token="t0ken") as client:
        lines = page(Running(HTTPS, client.app, certificate="my cert.pem")).splitlines()
    verbs = [line for line in lines if " --url " in line]
    assert len(verbs) == 3
    assert all("RESELLER_SIM_CA='my cert.pem' " in line for line in verbs)
    assert [line for line in verbs if "advance" in line or "inbox" in line] == [
        line for line in verbs if "--token t0ken" in line
    ]
    assert any(line.startswith("curl --cacert 'my cert.pem' ") for line in lines)


def test_without_tls_nothing_is_trusted_and_the_clock_has_its_offset() -> None:
    with running() as client:
        text = page(Running(SimpleNamespace(url="http://127.0.0.1:8080"), client.app))  # type: ignore[arg-type]
    assert "RESELLER_SIM_CA" not in text
    assert "--cacert" not in text
    assert "manual, 2026-11-21 12:00:00.000+08:00" in text


@pytest.mark.parametrize("host", ["[::1]", "::1"])
def test_an_address_of_ipv6_may_have_its_brackets(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ServerFlags] = []

    def prepare(flags: ServerFlags, *_: Any) -> None:
        seen.append(flags)
        raise CannotStart("seen")

    monkeypatch.setattr(server_module, "prepare", prepare)
    assert invoke("serve", "--host", host).stderr == "seen\n"
    assert seen[0].host == "::1"
