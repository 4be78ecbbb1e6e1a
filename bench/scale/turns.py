"""The longest turn of the event loop under requests, scenarios and bodies that are meant to be expensive."""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.scale.lookups import fill
from bench.scale.row import Row
from bench.scale.rules import MANY, file_of
from bench.scale.serving import Served, served
from simulator.cli.process import tune_gc

TURN_MS_MAX = 50.0
PAYMENTS = 1_000_000
FREEING_S = 10.0  # what is gone is freed after the answer
BODY = 10 * 1024 * 1024 - 1024
SCENARIO_BYTES = 1024 * 1024 - 1024
YAML = {"Content-Type": "application/yaml"}
JSON = {"Content-Type": "application/json"}


def _bodies() -> dict[str, bytes]:
    """Bodies of ten megabytes, of all shapes."""
    member = b'"a%d":"' % 0 + b"x" * 200 + b'",'
    return {
        "one long text": b'{"refid":"' + b"x" * BODY + b'"}',
        "one long text of escapes": b'{"refid":"' + b"\\u0041" * (BODY // 6) + b'"}',
        "remarks of quotes": b'{"remarks":"' + b'\\"' * (BODY // 2) + b'"}',
        "many members": b"{" + member * (BODY // len(member)) + b'"refid":"1"}',
        "a list of numbers": b"[" + b"1," * (BODY // 2) + b"1]",
        "nested lists": b"[" * (BODY // 2) + b"]" * (BODY // 2),
        "nested objects": b'{"a":' * (BODY // 6) + b"1" + b"}" * (BODY // 6),
        "blanks": b" " * BODY + b"{}",
        "no JSON": b"\xff" * BODY,
        "one long number": b'{"amount":' + b"9" * BODY + b"}",
        "wide extras": b'{"refid":"r","product":"RELOAD","account":"0123456789","amount":10,"extras":{'
        + b",".join(b'"%d":"x"' % number for number in range(8_000))
        + b"}}",
    }


def _scenarios() -> dict[str, bytes]:
    """Scenario files of a megabyte."""
    head = b"scenario: big\nextends: default\n"
    rule = b"  - { when: { account: { pattern: '^0[0-9]+%d$' } }, then: [{ status: Failed }] }\n"
    return {
        "many rules": head + b"payments:\n" + b"".join(rule % number for number in range(1_900)),
        "one rule of many values": head
        + b"payments:\n  - when: { account: ["
        + b",".join(b'"%010d"' % number for number in range(24_000))
        + b"] }\n    then: [{ status: Failed }]\n",
        "one long text": head + b"description: '" + b"x" * SCENARIO_BYTES + b"'\n",
        "flow nesting": b"a: " + b"[" * (SCENARIO_BYTES // 2) + b"]" * (SCENARIO_BYTES // 2),
        "many mistakes": head + b"".join(b"k%d: 1\n" % number for number in range(12_000)),
        "many resellers": head
        + b"resellers:\n"
        + b"".join(b"  - { code: R%d, email: r%d@example.com }\n" % (number, number) for number in range(900)),
        "comments": head + b"# x\n" * (SCENARIO_BYTES // 4),
        "quotes": head + b"description: " + b"'" * (SCENARIO_BYTES - 100),
    }


def _headers() -> dict[str, dict[str, str]]:
    return {
        "one long header": {"X-Long": "x" * 60_000},
        "many headers": {f"X-{number}": "y" for number in range(90)},
        "a long signature": {"X-Signature": "v1=" + "a" * 60_000, "X-Api-Key": "k" * 1_000},
        "a long rule": {"X-Sim-Rule": "r" * 60_000},
    }


def bodies(server: Served) -> list[Row]:
    """Every body at a signed endpoint, at the control API and at an inbox."""
    rows = []
    for name, body in _bodies().items():
        rows.append(_row(server, f"topup, {name}", server.call, ("POST", "/v2/topup", body)))
        rows.append(_row(server, f"unsigned topup, {name}", server.ask, ("POST", "/v2/topup", body)))
        small = body[: 2 * 1024 * 1024 - 1]
        rows.append(_row(server, f"control, {name}", server.ask, ("POST", "/_sim/sandboxes", small, JSON)))
        path = "/_sim/inbox/default/in"
        rows.append(_row(server, f"inbox, {name}", server.ask, ("POST", path, body[:1_000_000], JSON)))
    return rows


def scenarios(server: Served) -> list[Row]:
    """Every scenario as one of a new sandbox, as one that is checked, and as an object."""
    rows = []
    for name, text in _scenarios().items():
        rows.append(_row(server, f"scenario, {name}", server.ask, ("POST", "/_sim/sandboxes", text, YAML)))
        rows.append(_row(server, f"check, {name}", server.ask, ("POST", "/_sim/scenarios/check", text, YAML)))
    many = {"scenario": {"extends": "default", "payments": [{"then": [{"status": "Failed"}]}] * 1_900}}
    body = json.dumps(many).encode()
    rows.append(_row(server, "scenario as an object", server.ask, ("POST", "/_sim/sandboxes", body, JSON)))
    files = json.dumps({"scenario": {"file": "rules.yaml"}}).encode()
    return [
        *rows,
        _row(server, f"a file of {MANY:,} rules", server.good, ("POST", "/_sim/sandboxes", files, JSON)),
    ]


def heads(server: Served) -> list[Row]:
    """Requests whose heads are as large as they may be."""
    rows = [
        _row(server, f"head, {name}", server.ask, ("GET", "/v2/balance", b"", headers))
        for name, headers in _headers().items()
    ]
    for name, query in {
        "many parameters": "&".join(f"a{number}=1" for number in range(7_000)),
        "one parameter over and over": "&".join(["date=1"] * 8_000),
        "escapes": "date=" + "%41" * 20_000,
    }.items():
        rows.append(_row(server, f"query, {name}", server.call, ("GET", "/v2/transactions", b"", query)))
    return rows


def exports(server: Served) -> list[Row]:
    """What is read of logs that are full, and returning to earlier moments."""
    of_box = "/_sim/sandboxes/default"
    for body in _bodies().values():
        server.ask("POST", "/v2/topup", body)
        server.ask("POST", "/_sim/inbox/default/in", body[:1_000_000], JSON)
    rows = []
    for path in ("requests?limit=1000", "requests.har", "tape", "callbacks?limit=1000", "inbox", "inbox/in?limit=1000",
                 "inbox/callbacks?limit=1000", "audit", "invariants", "expectations", "figures",
                 "ledger?limit=1000", "transactions?limit=1000", "coverage", "due"):  # fmt: skip
        rows.append(_row(server, f"GET {path}", server.ask, ("GET", f"{of_box}/{path}")))
    return rows


def moments(server: Served) -> list[Row]:
    """Marks, rewinds and forks of a sandbox with many payments."""
    of_box = "/_sim/sandboxes/moments"
    server.good("POST", "/_sim/sandboxes", b'{"id": "moments", "clock": {"mode": "manual"}}', JSON)
    server.good("POST", f"{of_box}/marks", b'{"name": "m0"}', JSON)
    server.good("POST", f"{of_box}/resellers/RS001/deposits", b'{"amount": 900000}', JSON)
    for number in range(5_000):
        body = {"refid": f"m-{number}", "product": "RELOAD", "account": "0123456789", "amount": "5"}
        server.call("POST", "/v2/topup", json.dumps(body).encode(), prefix="/s/moments")
        if number == 2_500:
            server.good("POST", f"{of_box}/clock/advance", b'{"seconds": 60}', JSON)
    asked = {
        "an advance of 2,500 payments": ("POST", f"{of_box}/clock/advance", b'{"seconds": 60}', JSON),
        "a mark": ("POST", f"{of_box}/marks", b'{"name": "m1"}', JSON),
        "a fork": ("POST", "/_sim/sandboxes", b'{"id": "forked", "fork": {"of": "moments"}}', JSON),
        "a rewind": ("POST", f"{of_box}/rewind", b'{"mark": "m0"}', JSON),
        "deleting a fork": ("DELETE", "/_sim/sandboxes/forked"),
    }
    return [_row(server, name, server.good, sent) for name, sent in asked.items()]


def ends(server: Served, payments: int = PAYMENTS) -> list[Row]:
    """Resetting and deleting a sandbox of many transactions."""
    rows = []
    for title, method, path in (
        ("resetting", "POST", "/_sim/sandboxes/big/reset"),
        ("deleting", "DELETE", "/_sim/sandboxes/big"),
    ):
        if title == "resetting":
            server.good("POST", "/_sim/sandboxes", b'{"id": "big", "clock": {"mode": "manual"}}', JSON)
        fill(server.find("big"), payments)
        rows.append(_row(server, f"{title} a sandbox of {payments:,} payments", server.good, (method, path), FREEING_S))
    return rows


PARTS: tuple[Callable[[Served], list[Row]], ...] = (bodies, scenarios, heads, exports, moments, ends)


def _row(server: Served, title: str, ask: Callable[..., object], sent: tuple[object, ...], after_s: float = 0.0) -> Row:
    """The longest turn while this is asked, and for so many seconds after it."""
    server.longest_ms, server.callback = 0.0, ""
    ask(*sent)
    status = server.status
    time.sleep(after_s)
    server.ask("GET", "/_sim/health")  # what follows an answer has been done
    return Row(f"{title} ({status})", server.longest_ms, "ms", TURN_MS_MAX)


def measured(part: Callable[[Served], list[Row]]) -> list[Row]:
    """The rows of one part, on a server of its own, whose garbage collector is tuned as a server's."""
    with tempfile.TemporaryDirectory() as folder:
        file_of(MANY, folder)
        with served(Path(folder)) as server:
            server.ask("GET", "/_sim/sandboxes/default/coverage")  # what the first requests import is there
            server.call("GET", "/v2/balance")
            tune_gc()
            return part(server)
