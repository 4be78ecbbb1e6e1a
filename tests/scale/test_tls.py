"""HAProxy with TLS before the servers: clients only see the addresses that they used."""

import json
from collections.abc import Iterator
from http.client import HTTPSConnection
from typing import Any

import pytest

from tests.support.certificates import pair
from tests.support.processes import DEADLINE_S, free_port
from tests.support.sharded import Sharded, sharded

pytestmark = [pytest.mark.slow, pytest.mark.needs("haproxy", "openssl")]


@pytest.fixture
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharded]:
    folder = tmp_path_factory.mktemp("tls")
    with sharded(("a", "b"), folder, "--trusted-forwarders", "127.0.0.1") as running:
        yield running


def with_tls(servers: Sharded) -> str:
    """Let the proxy take https, too; host and port for that."""
    certificate = servers.folder / "proxy.pem"
    certificate.write_text(pair("localhost").certificate.read_text() + pair("localhost").key.read_text())
    file, secure = servers.folder / "haproxy.cfg", f"127.0.0.1:{free_port()}"
    plain = f"    bind {servers.url.removeprefix('http://')}\n"
    assert plain in file.read_text()
    file.write_text(file.read_text().replace(plain, f"{plain}    bind {secure} ssl crt {certificate}\n"))
    servers.proxy.reload()
    return secure


def asked(secure: str, method: str, path: str, body: Any = None) -> Any:
    connection = HTTPSConnection(secure, timeout=DEADLINE_S, context=pair("localhost").client)
    try:
        connection.request(method, path, json.dumps(body), {"content-type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_requests_by_https_are_known_as_https_to_every_server(servers: Sharded) -> None:
    secure = with_tls(servers)
    made = [asked(secure, "POST", "/_sim/sandboxes", {"id": f"shop-{n}"}) for n in range(6)]
    assert [one["url"] for one in made] == [f"https://{secure}/s/shop-{n}" for n in range(6)]
    listed = asked(secure, "GET", "/_sim/sandboxes")["sandboxes"]
    assert {one["url"] for one in listed} == {f"https://{secure}/s/{one['id']}" for one in listed}


def test_forwarded_headers_of_a_client_are_ignored(servers: Sharded) -> None:
    said = {"x-forwarded-proto": "https", "x-forwarded-host": "example.com"}
    for n in range(4):
        made = servers.ask("POST", "/_sim/sandboxes", {"id": f"shop-{n}"}, **said)
        assert made.json["url"] == f"{servers.url}/s/shop-{n}"
