"""Libraries that forbid the network: the client passes, and lines of the page let the code under test through."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
import requests

from reseller_sim import Receiver, Sandbox
from tests.support.processes import ROOT

PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8").partition("## Other mock libraries")[2].partition("\n## ")[0]
LINES = dict(re.findall(r"^\| (\S+) \| `(.+?)`", PAGE, re.MULTILINE))
ORDER: dict[str, str | int] = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
HOST = "127.0.0.1"


def pay(sandbox: Sandbox) -> int:
    """The code under test."""
    return requests.post(f"{sandbox.url}/v2/topup", json=ORDER, auth=sandbox.auth, timeout=30).status_code


def drive(sandbox: Sandbox) -> None:
    """Drive the simulator, with a receiver that is made and called meanwhile."""
    with Receiver() as receiver:
        sandbox.set_callback(receiver.url)
        sandbox.call("POST", "/v2/topup", ORDER | {"refid": "order-2"})
        sandbox.run_until_idle()
        assert [message.data["status"] for message in receiver.wait_for(2)] == ["Processing", "Succesful"]


@contextmanager
def httpretty() -> Iterator[None]:
    library = pytest.importorskip("httpretty")
    library.enable(allow_net_connect=False)
    try:
        yield
    finally:
        library.disable()


def mocket() -> AbstractContextManager[object]:
    found: AbstractContextManager[object] = pytest.importorskip("mocket").Mocketizer(strict_mode=True)
    return found


@contextmanager
def pytest_socket() -> Iterator[None]:
    library = pytest.importorskip("pytest_socket")
    library.disable_socket()
    try:
        yield
    finally:
        library.enable_socket()


def responses() -> AbstractContextManager[object]:
    found: AbstractContextManager[object] = pytest.importorskip("responses").RequestsMock()
    return found


def respx() -> AbstractContextManager[object]:
    found: AbstractContextManager[object] = pytest.importorskip("respx").mock
    return found


@pytest.fixture
def vcr(tmp_path: Path) -> AbstractContextManager[object]:
    recorder = pytest.importorskip("vcr").VCR(record_mode="none")
    found: AbstractContextManager[object] = recorder.use_cassette(str(tmp_path / "none.yaml"))
    return found


@pytest.mark.parametrize("forbid", [httpretty, mocket, pytest_socket, responses, respx])
def test_the_simulator_is_driven_where_the_network_is_forbidden(
    own: Sandbox, forbid: Callable[[], AbstractContextManager[object]]
) -> None:
    with forbid():
        drive(own)


def test_the_simulator_is_driven_beside_a_cassette(own: Sandbox, vcr: AbstractContextManager[object]) -> None:
    with vcr:
        drive(own)


def test_responses_lets_the_code_under_test_through(own: Sandbox) -> None:
    library = pytest.importorskip("responses")
    with library.RequestsMock() as mock:
        eval(LINES["responses"], {"responses": mock})  # noqa: S307  # of the page
        assert pay(own) == 200


def test_respx_lets_the_code_under_test_through(own: Sandbox) -> None:
    library = pytest.importorskip("respx")
    with library.mock:
        eval(LINES["respx"], {"respx": library})  # noqa: S307  # of the page
        assert httpx.post(f"{own.url}/v2/topup", json=ORDER, auth=own.auth).status_code == 200


def test_vcrpy_lets_the_code_under_test_through(own: Sandbox, tmp_path: Path) -> None:
    vcr = pytest.importorskip("vcr")
    recorder = eval(LINES["vcrpy"], {"vcr": vcr})  # noqa: S307  # of the page
    recorder.record_mode = "none"
    with recorder.use_cassette(str(tmp_path / "none.yaml")):
        assert pay(own) == 200


def test_pytest_socket_lets_the_code_under_test_through(own: Sandbox) -> None:
    library = pytest.importorskip("pytest_socket")
    library.socket_allow_hosts(LINES["pytest-socket"].partition("=")[2].split(","))
    try:
        assert pay(own) == 200
    finally:
        library._remove_restrictions()


def test_mocket_lets_requests_without_a_body_through(own: Sandbox) -> None:
    Mocketizer = pytest.importorskip("mocket").Mocketizer  # noqa: N806  # a class
    with eval(LINES["mocket"], {"Mocketizer": Mocketizer}):  # noqa: S307  # of the page
        assert requests.get(f"{own.url}/v2/balance", auth=own.auth, timeout=30).status_code == 200


def test_httpretty_lets_the_code_under_test_through_once_it_is_disabled(own: Sandbox) -> None:
    library = pytest.importorskip("httpretty")
    library.enable(allow_net_connect=False)
    eval(LINES["httpretty"], {"httpretty": library})  # noqa: S307  # of the page
    assert pay(own) == 200
