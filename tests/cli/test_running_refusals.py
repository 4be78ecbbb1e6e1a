"""The verbs that ask a running simulator: wrong usage, other servers, and hostile servers."""

import json
import threading
from contextlib import suppress
from io import BufferedIOBase
from itertools import count
from typing import Any

import pytest

from reseller_sim import exchange
from simulator.cli import control
from tests.support.answers_by_path import answering_by_path, sends
from tests.support.runner import invoke, refusal

ASKING = {
    "advance": ("advance", "1s"),
    "clock": ("clock",),
    "clock mode": ("clock", "manual"),
    "clock stop": ("clock", "stop"),
    "network": ("network", "RELOAD", "off"),
    "product": ("product", "RELOAD", "on"),
    "requests": ("requests",),
    "a request": ("requests", "1"),
    "story": ("story", "order-1"),
    "inbox": ("inbox",),
    "replies": ("inbox", "--reply", "500"),
    "deposit": ("deposit", "5"),
    "balance.added": ("trigger", "balance.added"),
    "product.updated": ("trigger", "product.updated", "RELOAD"),
    "callback": ("trigger", "callback", "order-1"),
    "probes": ("trigger", "probes"),
    "rule add": ("rule", "add", "payments", "--status", "Failed"),
    "rule list": ("rule", "list"),
    "rule rm": ("rule", "rm", "payments-1"),
    "sandbox new": ("sandbox", "new"),
    "exported": ("sandbox", "new", "--export"),
    "sandbox list": ("sandbox", "list"),
    "sandbox rm": ("sandbox", "rm", "mine"),
    "mark add": ("mark", "add", "ordered"),
    "mark list": ("mark", "list"),
    "mark rm": ("mark", "rm", "ordered"),
    "rewind": ("rewind", "ordered"),
    "fork": ("fork", "ordered"),
    "expectations": ("expectations",),
    "server file": ("sandbox", "new", "--server-file", "mine.yaml"),
    "health": ("health",),
}
UNREAD = ("replies", "rule rm", "mark rm", "sandbox rm")  # whose answers say nothing
USELESS = [b"", b"<html>", b"[]", b"{}", b'"\x1b"', b"[" * 100_000, b'{"rules": [{}], "sandboxes": 1}', b"\xff\xfe"]


@pytest.mark.parametrize("arguments", ASKING.values(), ids=ASKING)
def test_where_no_simulator_is_the_line_says_how_to_start_one(arguments: tuple[str, ...]) -> None:
    line = refusal(invoke(*arguments, "--url", "http://127.0.0.1:1"), 3)
    assert "http://127.0.0.1:1 does not answer" in line
    assert "reseller-sim serve" in line


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        *((words, b"{}") for name, words in ASKING.items() if name not in UNREAD),
        *((ASKING["rule list"], body) for body in USELESS),
    ],
)
def test_an_answer_that_no_simulator_gives_ends_in_a_line(arguments: tuple[str, ...], body: bytes) -> None:
    with answering_by_path({"*": sends(body)}) as url:
        line = refusal(invoke(*arguments, "--url", url), 3)
    assert line.count(url) == 1
    assert "stdout" not in line


@pytest.mark.parametrize(
    ("status", "body", "code", "said"),
    [
        (401, b'{"error": "unauthorized", "message": "a token is needed"}', 3, "--token"),
        (403, b'{"error": "forbidden", "message": "not from there"}', 3, "not from there"),
        (404, b'{"error": "unknown_sandbox", "message": "x"}', 3, "no sandbox 'default': `reseller-sim sandbox list`"),
        (404, b'{"error": "unknown_path", "message": "there is no such path"}', 1, "there is no such path"),
        (404, b'{"message": "Not Found"}', 3, "answered with 404"),
        (409, b'{"error": "conflict", "message": "it is busy"}', 1, "it is busy"),
        (400, b'{"error": "x", "message": "m", "problems": [{"path": "a", "message": "b"}]}', 1, "a: b"),
        (400, b'{"error": 7, "message": ["\\u001b"]}', 1, "\\x1b"),
        (500, b'{"error": "unexpected", "message": "a mistake"}', 3, "a mistake"),
        (302, b"{}", 3, "answered with 302"),
    ],
)
def test_a_refusal_is_reported_on_one_line(status: int, body: bytes, code: int, said: str) -> None:
    with answering_by_path({"*": sends(body, status)}) as url:
        line = refusal(invoke("advance", "1s", "--url", url), code)
    assert said in line
    assert "\x1b" not in line


def test_a_missing_sandbox_is_reported_with_its_name() -> None:
    with answering_by_path({"*": sends(b'{"error": "unknown_sandbox", "message": "x"}', 404)}) as url:
        by_flag = refusal(invoke("requests", "--sandbox", "gone", "--url", url), 3)
        by_variable = refusal(invoke("requests", "--url", url, RESELLER_SIM_SANDBOX="gone"), 3)
        removed = refusal(invoke("sandbox", "rm", "gone", "--url", url, RESELLER_SIM_SANDBOX="mine"), 3)
    assert by_flag.endswith("there is no sandbox 'gone': `reseller-sim sandbox list` lists them")
    assert "there is no sandbox 'gone', which RESELLER_SIM_SANDBOX names: " in by_variable
    assert removed == by_flag.replace("requests", "sandbox rm")


@pytest.mark.parametrize("before", [b"", b"HTTP/1.0 200 OK\r\n", b"HTTP/1.0 200 OK\r\n\r\n{"])
def test_an_answer_that_stalls_is_given_up(before: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "TIMEOUT_S", 0.2)
    given_up = threading.Event()

    def stall(out: BufferedIOBase) -> None:
        out.write(before)
        out.flush()
        given_up.wait()

    with answering_by_path({"*": stall}) as url:
        done = invoke("health", "--url", url)
        given_up.set()
    assert "did not answer in time" in refusal(done, 3)


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {  # what begins an answer, and what then comes forever
    "status line": (b"", b"H"),
    "header": (HEAD + b"X-Long: ", b"x"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": (HEAD + b"\r\n", b" "),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "length of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
}


@pytest.mark.parametrize(("begin", "drop"), DRIPS.values(), ids=DRIPS)
@pytest.mark.parametrize("verb", [("health",), ("call", "GET", "/v2/balance")], ids=["health", "call"])
def test_an_answer_that_drips_forever_is_given_up(
    verb: tuple[str, ...], begin: bytes, drop: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the clock finds it 20 seconds later, so nothing waits for the limit of a minute."""
    monkeypatch.setattr(exchange, "real_monotonic", count(0, 20).__next__)

    def drip(out: BufferedIOBase) -> None:
        with suppress(OSError):  # it is given up
            out.write(begin)
            while True:
                out.write(drop)
                out.flush()

    with answering_by_path({"*": drip}) as url:
        line = refusal(invoke(*verb, "--url", url), 3)
    assert url.removeprefix("http://") in line
    assert "did not answer in time" in line or "did not respond within 60 seconds (timed out)" in line


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("advance",), "DURATION"),
        (("advance", "soon"), "90s, 1h30m or 1.5d"),
        (("advance", "1e999"), "90s, 1h30m or 1.5d"),
        (("advance", "to", "tomorrow"), "ISO 8601"),
        (("advance", "to", "2027-01-10T23:59:00"), "needs an offset"),
        (("advance", "idle", "now"), "90s, 1h30m or 1.5d"),
        (("requests", "last"), "[N]"),
        (("rule", "add", "bills", "--status", "Failed"), "write one of bills as text"),
        (("requests", "--limit", "0"), "--limit"),
        (("story",), "REFID"),
        (("inbox", "--reply", "many"), "500,500,200"),
        (("inbox", "--reply", "199"), "500,500,200"),
        (("inbox", "--reply", "200:soon"), "seconds"),
        (("inbox", "--reply", "disconnect:1"), "500,500,200"),
        (("inbox", "--wait-for", "0"), "--wait-for"),
        (("inbox", "--timeout", "-1"), "--timeout"),
        (("deposit",), "AMOUNT"),
        (("deposit", "much"), "500 or 19.90"),
        (("deposit", "0"), "500 or 19.90"),
        (("deposit", "٥"), "500 or 19.90"),
        (("deposit", "1" * 16), "500 or 19.90"),
        (("requests", "--last", "2"), "--limit 2 prints the latest 2"),
        (("requests", "--status", "nope"), "2xx, 500-599, >=400 or !404"),
        (("requests", "--status", "700"), "2xx, 500-599, >=400 or !404"),
        (("requests", "--status", "500-400"), "2xx, 500-599, >=400 or !404"),
        (("requests", "0"), "range"),
        (("requests", "9" * 30), "range"),
        (("deposit", "5.123"), "at most two decimals"),
        (("trigger", "probes", "RS001"), "--reseller"),
        (("trigger",), "product.updated"),
        (("trigger", "balance.lost"), "balance.added"),
        (("trigger", "balance.added", "RS001"), "--reseller"),
        (("trigger", "product.updated"), "the code of a product"),
        (("trigger", "callback"), "the refid of a payment"),
        (("trigger", "callback", "order-1", "--amount", "5"), "is for balance.added"),
        (("rule", "add", "payment", "{}"), "payments"),
        (("rule", "add", "payments"), "--status"),
        (("rule", "add", "payments", "{}", "--status", "Failed"), "or by flags such as"),
        (("rule", "add", "payments", "--account", "1"), "--status is missing"),
        (("rule", "add", "payments", "--status", "Failed", "--disconnect"), "is for faults"),
        (("rule", "add", "faults", "-f", "no-such-file"), "cannot be read: No such file"),
        (("rule", "add", "faults", "--times", "0"), "--times"),
        (("rule", "rm"), "ID"),
        (("sandbox", "new", "--clock", "fast"), "real, manual, x60"),
        (("sandbox", "new", "--start", "tomorrow"), "ISO 8601"),
        (("sandbox", "new", "--seed", "-1"), "--seed"),
        (("sandbox", "rm"), "ID"),
        (("health", "--wait", "-1"), "--wait"),
        (("expectations", "now"), "now"),
        (("sandbox", "new", "bad-day", "--server-file", "x.yaml"), "not both"),
        (("health", "--url", "nonsense"), "not an http or https URL"),
        (("health", "--url", "http://127.0.0.1:99999"), "not an http or https URL"),
        (("health", "--token", "two words"), "visible ASCII"),
        (("completion",), "bash"),
        (("completion", "csh"), "bash"),
    ],
    ids=lambda words: ascii(words),
)
def test_wrong_usage_is_reported_on_one_line_that_names_the_help(arguments: tuple[str, ...], hint: str) -> None:
    line = refusal(invoke(*arguments), 2)
    assert hint in line
    assert line.endswith("--help)")


def test_verbs_print_text_in_a_pipe_and_json_when_a_flag_or_a_variable_says_so() -> None:
    answer = json.dumps({"status": "ok", "version": "1.2.3"}).encode()
    with answering_by_path({"/_sim/health": sends(answer)}) as url:
        assert invoke("health", RESELLER_SIM_URL=url).stdout == f"reseller-sim 1.2.3 answers at {url}\n"
        for flags, variable in ((["--json"], "x"), (["--output", "JSON"], "x"), ([], "JSON"), ([], "OUTPUT")):
            given: Any = {"RESELLER_SIM_URL": url, f"RESELLER_SIM_{variable}": "json" if variable == "OUTPUT" else "1"}
            assert json.loads(invoke("health", *flags, **given).stdout)["version"] == "1.2.3"
            assert invoke("health", "--output", "text", **given).stdout.startswith("reseller-sim 1.2.3")
