"""https of the client and of the verbs: whose certificate is believed, and what is said where it is not."""

import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from reseller_sim import NotRunning, Simulator
from tests.support.certificates import Pair, pair
from tests.support.processes import serving
from tests.support.runner import invoke

HEALTHY = b'{"status": "ok", "version": "9"}'


class Healthy(BaseHTTPRequestHandler):
    """Answers as a simulator that is asked for its health."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # its name
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(HEALTHY)))
        self.end_headers()
        self.wfile.write(HEALTHY)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Pair]]:
    """An address of https, and the pair of its server."""
    own = pair("staging")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*own)
    server = HTTPServer(("127.0.0.1", 0), Healthy)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client without trust leaves in the middle
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}", own
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("variable", ["RESELLER_SIM_CA", "SSL_CERT_FILE"])
def test_the_client_believes_the_authority_that_a_variable_names(
    served: tuple[str, Pair], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, own = served
    monkeypatch.setenv(variable, str(own.certificate))
    from reseller_sim import exchange

    exchange._usual_trust.cache_clear()
    assert Simulator(url).control.ask("GET", "/health")["version"] == "9"
    exchange._usual_trust.cache_clear()


def test_a_health_check_beside_the_server_believes_its_certificate_alone(
    served: tuple[str, Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, own = served
    other = pair("another")
    asked = ("health", "--json", "--url", url, "--tls-cert")
    assert invoke(*asked, str(own.certificate)).exit_code == 0
    monkeypatch.setenv("RESELLER_SIM_CA", str(own.certificate))
    refused = invoke(*asked, str(other.certificate))
    assert (refused.exit_code, "its certificate is not trusted: self" in refused.stderr) == (3, True)
    assert "RESELLER_SIM_CA" not in refused.stderr, "that is not asked here"
    absent = invoke(*asked, "no-such-file")
    assert "no-such-file cannot be used: No such file" in absent.stderr


def test_a_certificate_of_another_name_passes_where_it_is_the_file_of_the_server() -> None:
    named = pair("staging", "DNS:sim.example.com")
    flags = ("--tls-cert", str(named.certificate), "--tls-key", str(named.key))
    with serving("--port", "0", "--json", *flags) as server:
        url = server.ready["url"]
        assert url.startswith("https://127.0.0.1:")
        assert invoke("health", "--url", url, RESELLER_SIM_TLS_CERT=str(named.certificate)).exit_code == 0
        refused = invoke("health", "--url", url, RESELLER_SIM_CA=str(named.certificate))
        assert (refused.exit_code, "IP address mismatch" in refused.stderr) == (3, True)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("", "its certificate is not trusted: self"),
        ("no-such-file", "no-such-file cannot be used: No such file or directory; name the file of its authority"),
        ("no.pem", "cannot be used: no certificate in PEM is in it"),
    ],
)
def test_an_untrusted_certificate_is_refused(
    served: tuple[str, Pair], file: str, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("no.pem").write_text("nothing")
    monkeypatch.setenv("RESELLER_SIM_CA", file)
    with pytest.raises(NotRunning) as caught:
        Simulator(served[0]).control.ask("GET", "/health")
    assert why in str(caught.value)
    done = invoke("health", "--url", served[0], RESELLER_SIM_CA=file)
    assert done.exit_code == 3
    assert why in done.stderr
    for verb in (("tail",), ("call", "GET", "/v2/balance")):
        done = invoke(*verb, "--url", served[0], RESELLER_SIM_CA=file)
        assert done.exit_code == 3
        assert why in done.stderr
        assert "reseller-sim serve" not in done.stderr


def test_the_verbs_trust_it_too(served: tuple[str, Pair]) -> None:
    url, own = served
    done = invoke("health", "--json", "--url", url, RESELLER_SIM_CA=str(own.certificate))
    assert (done.exit_code, '"version":"9"' in done.stdout.replace(" ", "")) == (0, True)
    assert invoke("call", "GET", "/v2/balance", "--url", url, RESELLER_SIM_CA=str(own.certificate)).exit_code == 0
