"""No verb prints a character that controls a terminal, and JSON stays JSON."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.audit.clauses import as_json
from simulator.audit.client_traffic import Traffic
from simulator.audit.obligations import audited
from simulator.cli.output import printable, printable_body, printable_json
from simulator.cli.reports.folder import coverage_text
from simulator.cli.server_flags import ServerFlags
from simulator.cli.verbs import VERBS
from simulator.control.result_endpoints import coverage_shown
from simulator.domain.model.rules import RuleCount
from simulator.domain.reports.coverage import Coverage, RuleKey
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.short_text import whole_line
from tests.support.client import running
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import ROOT
from tests.support.runner import invoke, refusal

C0 = "".join(map(chr, range(0x20)))
DEL_AND_C1 = "".join(map(chr, range(0x7F, 0xA0)))
DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SEPARATORS = "\u2028\u2029"
UNSAFE = C0 + DEL_AND_C1 + DIRECTION + SEPARATORS
ON_LINES = re.compile(f"[{re.escape(UNSAFE.replace(chr(10), '').replace(chr(9), ''))}]")
SCENARIO = """
extends: default
resellers:
  - code: RS001
    api_keys: [{key: k1, secret: bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=}]
    callback: {url: "inbox:callbacks"}
payments:
  - name: "rule \\u009b31m \\u202e \\u2028"
    then: [{status: Succesful}]
expect:
  - name: "line \\u009b2J \\u202e \\u2029"
    calls: {path: /v2/topup}
    count: 7
"""


def assert_harmless(printed: str) -> None:
    assert ON_LINES.search(printed.replace("\r\n", "\n")) is None, ascii(printed)


@pytest.fixture
def hostile_file(tmp_path: Path) -> Path:
    """A scenario with hostile names, whose own name is hostile too."""
    file = tmp_path / "f\x1b[31m\x7f\u202e\u2028\n::error::x.yaml"
    file.write_text(SCENARIO)
    return file


@contextmanager
def answering(head: bytes, body: bytes) -> Iterator[str]:
    """The URL of a server that answers everything with these lines and this body."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.wfile.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    with local_server(Handler) as url:
        yield url


HEAD = "HTTP/1.0 200 O\x1b[2JK\x9b\r\nX-Sim-Rule: a\x1b]0;x\x07\x9b1m\x7f\r\n  folded\r\n".encode("latin-1")


def test_call_escapes_what_the_server_sent() -> None:
    value = {"remarks": UNSAFE, "name": "é😀"}
    content = json.dumps(value, ensure_ascii=False).encode()
    with answering(HEAD, content) as url:
        done = invoke("call", "GET", "/v2/balance", "--url", url)
    assert json.loads(done.stdout) == value
    assert "é😀" in done.stdout
    assert_harmless(done.stdout + done.stderr)
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("body", [b'{"a": \x1b[2J', "\x9b\u202eé".encode(), b"\x9b\xff\x1b", b"a\rb\r\n", b"\x00" * 9])
def test_call_escapes_a_body_that_is_not_json(body: bytes) -> None:
    with answering(b"HTTP/1.0 200 OK\r\n", body) as url:
        done = invoke("call", "GET", "/v2/balance", "--url", url)
    assert_harmless(done.stdout)
    assert "\\x" in done.stdout


def test_call_escapes_the_words_of_a_connection_that_fails() -> None:
    with answering(b"HTTP/9.\x1b[2J 200 OK\r\n", b"") as url:
        done = invoke("call", "GET", "/v2/balance", "--url", url)
    assert done.exit_code == 3
    assert_harmless(done.output + done.stderr)


@pytest.mark.parametrize("status", [200, 500])
def test_conform_shows_answers_of_a_service_on_separate_lines(status: int) -> None:
    value = {"message": f"{UNSAFE}\nok       4.4   it is fine", "data": [{UNSAFE: 7}], "links": UNSAFE, "meta": UNSAFE}
    head = f"HTTP/1.0 {status} OK\r\nContent-Type: application/json\r\n".encode()
    with answering(head, json.dumps(value).encode()) as url:
        flags = ("--only", "billers-answer", "--only", "history-limit", "--only", "balance-answer", "--rate", "1000")
        done = invoke("conform", "--base-url", url, *flags)
    assert done.exit_code == 1
    assert_harmless(done.stdout + done.stderr)
    assert not any(line.startswith("ok  ") and "fine" in line for line in done.stdout.splitlines())


@pytest.mark.parametrize("format", ["text", "github"])
def test_check_prints_one_harmless_line_for_a_file_and_for_each_problem(
    hostile_file: Path, tmp_path: Path, format: str
) -> None:
    bad = tmp_path / "bad\x1b\n\x9b.yaml"
    bad.write_text("extends: default\n\"pay\\u009bments\\u202e\\u2028\": []\nseed: 'x\u0085\u202e'\n")
    done = invoke("check", "--format", format, str(hostile_file), str(bad), str(tmp_path / "no\x1bfile\n"))
    assert done.exit_code == 1
    assert_harmless(done.stdout)
    assert len(done.stdout.splitlines()) == 4, done.stdout


def test_a_file_name_that_is_not_utf_8_can_be_printed(tmp_path: Path) -> None:
    done = invoke("check", f"{tmp_path}/\udcff.yaml")
    assert done.exit_code == 1
    assert "\\xff.yaml" in done.stdout


@pytest.mark.parametrize("flags", [(), ("--coverage",)])
def test_exec_prints_harmless_reports(hostile_file: Path, flags: tuple[str, ...]) -> None:
    done = invoke("exec", str(hostile_file), *flags, "--", "true")
    assert done.exit_code == 1
    assert_harmless(done.stdout + done.stderr)
    assert "not as expected" in done.stderr
    assert "\\u202e" in done.stderr


def test_explore_escapes_what_its_command_prints(tmp_path: Path) -> None:
    prints = f"import sys; sys.stdout.buffer.write({UNSAFE.encode()!r})"
    asks = "r.urlopen(os.environ['RESELLER_BASE_URL'] + '/v2/balance')"
    fails = f"try: {asks}\nexcept e.HTTPError: pass\nexcept OSError:\n {prints}; sys.exit(7)"
    flags = ("--out", str(tmp_path / "out"), "--minutes", "0", "--first", "--workers", "1")
    calm = invoke("explore", *flags, "--", sys.executable, "-c", f"{prints}; sys.exit(4)")
    stormy = invoke(
        "explore", *flags, "--", sys.executable, "-c", f"import os, urllib.request as r, urllib.error as e\n{fails}"
    )
    assert (calm.exit_code, stormy.exit_code) == (3, 1), stormy.output
    [written] = (tmp_path / "out").glob("*.yaml")
    assert "it printed last" in written.read_text()
    for shown in (calm.stdout, calm.stderr, stormy.stdout, stormy.stderr, written.read_text()):
        assert_harmless(shown)


def test_the_problems_of_a_scenario_that_is_served_are_harmless(tmp_path: Path) -> None:
    bad = tmp_path / "bad\x1b\n\u202e.yaml"
    bad.write_text('extends: default\n"pay\\u009bments": []\n"\\u202e\\u2028": 1\n')
    for verb in (("serve", str(bad)), ("exec", str(bad), "--", "true")):
        done = invoke(*verb)
        assert done.exit_code == 3
        assert_harmless(done.output + done.stderr)
        assert len(done.stderr.splitlines()) == 2, done.stderr


def test_the_banner_is_harmless(hostile_file: Path) -> None:
    from simulator.cli import banner
    from simulator.cli.server import BoundServer, prepare

    flags: dict[str, Any] = dict.fromkeys(ServerFlags._fields)
    flags |= {"scenario": str(hostile_file), "host": "127.0.0.1", "port": 0, "allow_host": (), "callbacks": "any"}
    printed: list[str] = []

    def on_ready(running: BoundServer) -> None:
        printed.extend((banner.page(running), banner.json_line(running)))
        running.server.should_exit = True

    prepare(ServerFlags(**flags), on_ready).server.run()
    page, line = printed
    assert_harmless(page + line)
    assert "\\x1b[31m" in page
    assert json.loads(line)["resellers"][0]["code"] == "RS001"


def test_the_names_in_coverage_are_one_line_each() -> None:
    found = {RuleKey(UNSAFE, "payments", UNSAFE, UNSAFE): RuleCount(0, 0), RuleKey("b", "x", "y", "y"): RuleCount(0, 0)}
    printed = coverage_text(coverage_shown(Coverage(rules=found)))
    assert_harmless(printed)
    assert "\t" not in printed
    assert sum("never payments" in line for line in printed.splitlines()) == 2


def test_sign_prints_a_body_with_control_characters_as_its_octal_bytes(tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_text(f'{{"remarks": "{DEL_AND_C1}{DIRECTION}{SEPARATORS}\x1b"}}')
    done = invoke("sign", "POST", "/v2/topup", "-d", f"@{file}")
    assert done.exit_code == 0
    assert_harmless(done.stdout)
    assert "printf %b" in done.stdout.splitlines()[-1]
    assert_harmless(invoke("sign", "POST", "/v2/topup", "-d", f"@{file}", "--json").stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        (UNSAFE,),
        ("sign", UNSAFE, "/"),
        ("sign", "GET", f"/{UNSAFE}"),
        ("sign", "GET", "/", "--url", f"http://{UNSAFE}/"),
        ("sign", "GET", "/", "-d", f"@{UNSAFE.replace(chr(0), '')}"),
        ("call", "GET", "/", "-H", UNSAFE),
        ("call", "GET", "/", "--bearer", UNSAFE),
        ("import", "--base-url", f"http://{UNSAFE}/", "--key", "k", "--secret", "cw=="),
        ("import", "--base-url", "http://127.0.0.1:9", "--key", "k", "--secret", "cw==", "--account", UNSAFE),
        ("import", "--base-url", "http://127.0.0.1:9", "--key", "k", "--secret", "cw==", "--state", f"/{C0[1:]}/x"),
        ("scenarios", UNSAFE),
        ("scenarios", "show", UNSAFE),
        ("conform", "--base-url", f"http://{UNSAFE}/"),
        ("conform", "--only", UNSAFE),
        ("conform", "--pay", UNSAFE),
        ("proxy", "--upstream", f"http://{UNSAFE}/"),
        ("proxy", "--upstream", "http://127.0.0.1:9", "--callbacks-to", UNSAFE),
        ("proxy", "--upstream", "http://127.0.0.1:9", "--record", f"/{C0[1:]}/x"),
        ("proxy", "--upstream", "http://127.0.0.1:9", "--host", UNSAFE),
        ("assumptions", UNSAFE),
        ("advance", UNSAFE),
        ("requests", UNSAFE),
        ("story", UNSAFE, "--url", UNSAFE),
        ("expectations", "--url", f"http://{UNSAFE}/"),
        ("inbox", "--reply", UNSAFE),
        ("deposit", UNSAFE),
        ("clock", UNSAFE),
        ("network", UNSAFE, UNSAFE),
        ("product", "FP", UNSAFE.replace(chr(0), "")),
        ("trigger", "balance.added", UNSAFE),
        ("rule", "add", "payments", UNSAFE.replace(chr(0), "")),
        ("rule", "add", "payments", "--file", UNSAFE.replace(chr(0), "")),
        ("sandbox", "new", f"{UNSAFE.replace(chr(0), '')}.yaml"),
        ("mark", "add", UNSAFE),
        ("mark", "rm", UNSAFE),
        ("hold", "release", UNSAFE, "--count", UNSAFE),
        ("rewind", UNSAFE),
        ("fork", f"{UNSAFE}:"),
        ("health", "--url", f"http://{UNSAFE}/"),
        ("completion", UNSAFE),
        ("openapi", UNSAFE),
        ("check", "--format", UNSAFE, "x"),
        ("serve", UNSAFE.replace(chr(0), "")),
        ("serve", "--clock", UNSAFE),
        ("serve", "--start", UNSAFE),
        ("exec", "--", UNSAFE.replace(chr(0), "")),
        ("explore", "--", UNSAFE.replace(chr(0), "")),
        ("prove", UNSAFE.replace(chr(0), ""), "--", "true"),
    ],
    ids=lambda arguments: ascii("-".join(arguments))[:20],
)
def test_a_hostile_argument_is_refused_in_a_harmless_line(arguments: tuple[str, ...]) -> None:
    done = invoke(*arguments)
    assert done.exit_code > 0
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert_harmless(done.stdout + done.stderr)
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_audit_escapes_what_the_server_sent() -> None:
    rows = as_json(audited(Traffic([], [])), left_out=7)
    first = rows["obligations"][0]
    first |= {"state": "violated", "findings": [UNSAFE], "violations": 2, "title": UNSAFE, "advice": UNSAFE}
    for flags in ((), ("--json",)):
        with answering(b"HTTP/1.0 200 OK\r\n", json.dumps(rows | {"ok": False}, ensure_ascii=False).encode()) as url:
            done = invoke("audit", "--url", url, *flags)
        assert done.exit_code == 1
        assert_harmless(done.stdout)
    with answering(b"HTTP/1.0 404 No\r\n", json.dumps({"message": UNSAFE}).encode()) as url:
        assert_harmless(refusal(invoke("audit", "--url", url), 3))


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'"\x1b"'])
def test_audit_refuses_an_invalid_answer(body: bytes) -> None:
    with answering(b"HTTP/1.0 200 OK\r\n", body) as url:
        assert refusal(invoke("audit", "--url", url), 3)


def test_explain_escapes_what_the_server_and_the_client_sent() -> None:
    examples = json.loads((ROOT / "contracts" / "examples.json").read_text("utf-8"))
    example = examples["control"]["operations"]["getRequest"]["responses"]["200"]
    names = ("path", "query", "error", "diagnosis")
    exchange = example | {"status": 401, "autopsy": None} | dict.fromkeys(names, UNSAFE)
    for flags in ((), ("--json",)):
        with answering(b"HTTP/1.0 200 OK\r\n", json.dumps(exchange).encode()) as url:
            done = invoke("explain", "1", "--url", url, *flags)
        assert done.exit_code == 1
        assert_harmless(done.stdout)
    hostile = UNSAFE.replace(chr(0), "")
    assert_harmless(invoke("explain", "GET", f"/{hostile}", "-H", f"X-Nonce: {hostile}").stdout)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'"\x1b"', b"7"])
def test_explain_refuses_an_invalid_answer(body: bytes) -> None:
    for words in (("1",), ("--last",), ("GET", "/v2/balance", "-H", "X-Api-Key: unknown")):
        with answering(b"HTTP/1.0 200 OK\r\n", body) as url:
            assert refusal(invoke("explain", *words, "--url", url), 3)


def test_watchers_escape_what_the_server_sent() -> None:
    at = "2026-11-21T12:00:00.000000Z"
    event = {"id": "0123abcd.1.1", "sandbox": UNSAFE, "number": 1, "at": at, "wall": at, "refid": UNSAFE}
    status = event | {"kind": "status", "status": UNSAFE, "rule": UNSAFE, "trxid": UNSAFE, "reseller": UNSAFE}
    status |= {"product": UNSAFE, "status_code": 1, "cause": "step"}
    last = event | {"kind": "action", "action": "deleted", "about": UNSAFE}
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in (status, last))
    for words in (("tail",), ("tail", "--json"), ("listen", "--forward-to", "http://127.0.0.1:9")):
        with answering(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n", body.encode()) as url:
            done = invoke(*words, "--url", url, "--sandbox", UNSAFE.replace("\0", ""))
        assert done.exit_code == 0
        assert_harmless(done.stdout + done.stderr)


def test_replay_escapes_what_is_on_a_tape(tmp_path: Path) -> None:
    with running() as client:
        client.send("GET", "/v2/nothing")
        head, request, *rest = (json.loads(line) for line in tape_lines(take_tape(client.live)))
    request["answer"] |= {"body": UNSAFE, "diagnosis": UNSAFE}
    file = tmp_path / "hostile.tape"
    file.write_text("".join(json.dumps(one) + "\n" for one in (head, request, *rest)))
    done = invoke("replay", str(file))
    assert done.exit_code == 1
    assert_harmless(done.stdout)
    assert_harmless(invoke("replay", str(file), "--list").stdout)
    for changed in (head | {"sandbox": UNSAFE}, head):
        file.write_text(json.dumps(changed) + "\n" + json.dumps({"entry": UNSAFE}) + "\n")
        done = invoke("replay", str(file))
        assert done.exit_code == 3
        assert_harmless(done.stdout + done.stderr)


def test_a_simulator_for_an_assistant_is_named_in_harmless_words() -> None:
    given = UNSAFE.replace("\0", "")
    for flags, code in (
        (("--url", given), 3),
        (("--config", "--url", given), 0),
        (("--config", "--scenario", given), 0),
    ):
        done = invoke("mcp", *flags)
        assert done.exit_code == code
        assert_harmless(done.stdout + done.stderr)


def test_every_verb_is_in_this_module() -> None:
    source = Path(__file__).read_text()
    assert [verb for verb in VERBS if f'"{verb}"' not in source] == []


def test_bundled_content_is_printed_unchanged() -> None:
    for arguments in (("scenarios",), ("scenarios", "magic"), ("assumptions",), ("openapi",), ("openapi", "--json")):
        done = invoke(*arguments)
        assert done.exit_code == 0
        assert_harmless(done.stdout)
        assert "\\x" not in done.stdout


VALUES = st.text(st.sampled_from(UNSAFE + "aé\\\"'/😀"), max_size=20)


@given(value=st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_json_means_the_same_when_it_is_printed(value: dict[str, str]) -> None:
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent="\r\n \r\t")):
        printed = printable_json(written)
        assert json.loads(printed) == value
        assert_harmless(printed)
        assert json.loads(printable_body(written.encode())) == value


@given(content=st.text(st.sampled_from(UNSAFE + "aé\\\"'/😀\udcff"), max_size=40))
def test_any_text_is_harmless_when_it_is_printed(content: str) -> None:
    assert_harmless(printable(content))
    assert len(whole_line(content).splitlines()) <= 1
    whole_line(content).encode()


@given(body=st.binary(max_size=40))
def test_any_body_is_harmless_when_it_is_printed(body: bytes) -> None:
    assert_harmless(printable_body(body).decode())


def test_a_harmless_body_is_printed_byte_for_byte() -> None:
    for body in (b"", b'{"a": "\xc3\xa9\\u001b"}', b"<html>\r\n\t\n", "😀\u200d".encode()):
        assert printable_body(body) == body
