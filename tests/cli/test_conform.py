"""`conform`: its input, its output and files, and its state after a signal."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from simulator import __version__
from simulator.cli.reports.conform_report import write_files
from simulator.staging.conform.findings import ConformReport, Departure, LearnedKnob, Result
from simulator.staging.conform.run import known_names
from simulator.staging.service import Session, SessionClock
from simulator.staging.signed_requests import Credentials
from tests.support.client import running
from tests.support.conforming import InProcess
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import DEADLINE_S, PROGRAM, Serving, environment, serving
from tests.support.runner import invoke, refusal

KEY, SECRET = "a-key", "c2VjcmV0LXNlY3JldC1zZWNyZXQ="
NOBODY = "http://127.0.0.1:9"
HOSTILE = "<script>alert(1)</script>\x1b[2J\ud800&\x00]]>"


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving("--port", "0", "--json") as made:
        yield made


def test_an_invalid_catalog_is_no_plan() -> None:
    with answering(200, b'{"products":{"RELOAD":{}},"data":{}}', **{"Content-Type": "application/json"}) as (url, _):
        flags = ("--allow-payments", "--pay", "RELOAD:0123456789:10", "--spend-at-most", "99", "--rate", "1000")
        assert "the catalog cannot be read" in refusal(invoke("conform", "--base-url", url, *flags), 3)


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list[str]]]:
    """A server that answers everything alike: its address, and the paths that were asked for."""
    paths: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # named by http.server
            paths.append(self.path)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.respond(status, body, headers)

        do_POST = do_GET  # named by http.server

    with local_server(Handler) as url:
        yield url, paths


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--base-url", "ftp://x"), "is not a base URL"),
        (("--key", "k"), "--secret is missing"),
        (("--key", "k", "--secret", "?"), "the secret is not Base64"),
        (("--username", "u"), "give both --username and --password"),
        (("--pay", "RELOAD:0123456789"), "is not PRODUCT:ACCOUNT:AMOUNT"),
        (("--bill", "ELECTRIC"), "is not PRODUCT:ACCOUNT"),
        (("--spend-at-most", "-1"), "is not an amount of money above 0"),
        (("--only", "nothing"), "there is no check or question 'nothing'"),
        (("--only", "auth-kee"), "there is no check or question 'auth-kee'; --list prints all"),
        (("--rate", "0"), "0"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_sent(arguments: tuple[str, ...], text: str) -> None:
    assert text in refusal(invoke("conform", "--base-url", NOBODY, *arguments), 2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--pay", "RELOAD:0123456789:10"), "need --allow-payments"),
        (("--allow-payments",), "needs at least one --pay, and --spend-at-most"),
        (("--allow-payments", "--pay", "RELOAD:0123456789:10"), "--spend-at-most"),
        (("--allow-payments", "--pay", "RELOAD:0123456789:10", "--spend-at-most", "10"), "the plan may cost 20.02 MYR"),
        (("--allow-payments", "--pay", "GHOST:0123456789:10", "--spend-at-most", "10"), "no product 'GHOST'"),
    ],
)
def test_a_plan_that_is_not_allowed_pays_nothing(arguments: tuple[str, ...], text: str, server: Serving) -> None:
    assert text in refusal(invoke("conform", "--base-url", server.ready["url"], *arguments), 2)


def test_an_address_without_a_server_is_no_list_of_departures() -> None:
    assert "does not answer" in refusal(invoke("conform", "--base-url", NOBODY), 3)


@pytest.mark.parametrize(("status", "code"), [(401, "invalid_api_key"), (403, "ip_not_allowed")])
def test_a_key_that_is_refused_is_no_list_of_departures(status: int, code: str) -> None:
    with answering(status, b'{"error":"%s","message":"No"}' % code.encode()) as (url, paths):
        shown = refusal(invoke("conform", "--base-url", url), 3)
    assert f"refused the first signed request with {status} {code}" in shown
    assert len(paths) == 1


def test_the_list_has_every_name_with_its_section_and_nothing_is_sent() -> None:
    done = invoke("conform", "--base-url", NOBODY, "--list")
    assert done.exit_code == 0
    rows = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line.startswith("  ")]
    assert {name.removesuffix(":") for _, name, _ in rows} == known_names()
    assert ["5.2", "auth-key:"] in [row[:2] for row in rows]
    assert ["2.1", "tree-products:"] in [row[:2] for row in rows]


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "x.json"
    assert "cannot be written" in refusal(invoke("conform", "--base-url", NOBODY, "--json-report", str(path)), 3)


def test_checks_that_did_not_begin_keep_an_earlier_file_and_leave_new_ones_empty(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text("{}")
    flags = [text for name in ("junit", "html") for text in (f"--{name}", str(tmp_path / name))]
    refusal(invoke("conform", "--base-url", NOBODY, "--json-report", str(earlier), *flags), 3)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"earlier.json": "{}", "junit": "", "html": ""}


FLAGS = {"junit": "--junit", "json": "--json-report", "html": "--html"}


def test_everything_passes_and_is_written(server: Serving, tmp_path: Path) -> None:
    files = {name: tmp_path / f"result.{name}" for name in ("junit", "json", "html")}
    flags = [text for name, path in files.items() for text in (FLAGS[name], str(path))]
    done = invoke("conform", "--base-url", server.ready["url"], "--rate", "1000", *flags)
    assert done.exit_code == 0, done.output
    assert "DIFFERS" not in done.stdout
    assert "  balance-record: wrapped\n" in done.stdout
    written = json.loads(files["json"].read_text())
    root = ElementTree.parse(files["junit"]).getroot()  # noqa: S314  # ours
    assert root.attrib["failures"] == "0" == str(written["counts"]["departs"])
    assert int(root.attrib["tests"]) == len(written["results"])
    assert int(root.attrib["skipped"]) == written["counts"]["not_exercised"] == len(root.findall(".//skipped"))
    assert written["assume"]["balance-record"]["value"] == "wrapped"
    secret = server.ready["resellers"][0]["api_secret"]
    for text in (done.output, *(path.read_text() for path in files.values())):
        assert secret not in text


def test_the_address_and_the_credentials_come_from_the_environment_as_for_call(server: Serving) -> None:
    account = server.ready["resellers"][0]
    variables = {"RESELLER_SIM_KEY": account["api_key"], "RESELLER_SIM_SECRET": account["api_secret"]}
    for url in (server.ready["url"] + "/_sim", server.ready["url"]):
        done = invoke("conform", "--only", "auth-key", RESELLER_SIM_URL=url, **variables)
        assert done.exit_code == 0, done.output
        assert "1 passed" in done.stdout


def test_a_departure_sets_the_exit_code_and_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "result.xml"
    with answering(200, b'{"data":[]}', **{"Content-Type": "application/json"}) as (url, _):
        flags = ("--only", "billers-answer", "--only", "auth-key", "--junit", str(path), "--rate", "1000")
        done = invoke("conform", "--base-url", url, *flags)
    assert done.exit_code == 1
    assert "DIFFERS  4.6   billers-answer" in done.stdout
    assert "links: expected what the contract says: is required, got absent" in done.stdout
    root = ElementTree.parse(path).getroot()  # noqa: S314  # ours
    assert [one.attrib["name"].partition(":")[0] for one in root.iter("testcase")] == ["billers-answer", "auth-key"]
    assert len(root.findall(".//failure")) == 2


def test_redirects_are_not_followed() -> None:
    with answering(302, b"", Location="/elsewhere") as (url, paths):
        done = invoke("conform", "--base-url", url, "--only", "balance-answer", "--rate", "1000")
    assert done.exit_code == 1
    assert "302" in done.stdout
    assert set(paths) == {"/v2/balance"}


class Stopped(SessionClock):
    """A clock that stands still but for waits, which it keeps."""

    def __init__(self) -> None:
        self.at, self.waits = 1_800_000_000.0, list[float]()

    def now(self) -> float:
        return self.at

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += seconds


def test_requests_keep_their_pace() -> None:
    clock = Stopped()
    with running({}) as client:
        session = Session(InProcess(client), Credentials(KEY, SECRET), clock, per_second=4, requests_max=100)
        for _ in range(5):
            session.call("GET", "/v2/balance")
        assert clock.waits == pytest.approx([0.25] * 4)
        clock.at += 60
        session.call("GET", "/v2/balance")
        assert len(clock.waits) == 4, "who was late need not wait"
        clock.at -= 3600
        session.call("GET", "/v2/balance")
        assert clock.waits[4:] == [0.25], "nor longer when the clock is set back"


def test_answers_of_a_service_are_escaped_in_every_file(tmp_path: Path) -> None:
    departure = Departure(HOSTILE, HOSTILE, HOSTILE)
    result = Result(HOSTILE, "2.1", HOSTILE, "departs", (departure,), notes=(HOSTILE,))
    made = ConformReport(HOSTILE, (result,), (LearnedKnob("history-limit", "cap", HOSTILE),))
    paths = [tmp_path / name for name in ("xml", "json", "html")]
    assert write_files(made, *paths)
    for path in paths:
        assert "\x1b" not in path.read_text("utf-8")
        assert __version__ in path.read_text("utf-8")
    assert "<script" not in paths[2].read_text("utf-8")
    assert json.loads(paths[1].read_text())["results"][0]["departures"][0]["field"] == HOSTILE
    (failure,) = ElementTree.parse(paths[0]).getroot().iter("failure")  # noqa: S314  # ours
    assert "alert(1)" in failure.attrib["message"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_when_the_callback_url_is_as_before(number: int) -> None:
    methods = ["POST"]
    started = threading.Event()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            shown = {"CallbackUrl": "https://own.example/callback", "Method": methods[-1]}
            self._answer({"data": shown | {"balance": 5000}})

        def do_POST(self) -> None:
            methods.append(parse_qs(urlsplit(self.path).query)["method"][0])
            if len(methods) == 2:
                assert started.wait(DEADLINE_S)
                process.send_signal(number)
            self._answer({"data": {}})

        def _answer(self, value: object) -> None:
            self.respond(200, json.dumps(value).encode())

    with local_server(Handler) as address:
        arguments = ["conform", "--base-url", address, "--allow-configuration", "--rate", "100"]
        process = subprocess.Popen([*PROGRAM, *arguments, "--only", "callback-url-set"], env=environment())
        started.set()
        try:
            assert process.wait(DEADLINE_S) == 128 + number
        finally:
            process.kill()
            process.wait()
    assert methods == ["POST", "GET", "POST"]
