"""A data folder can be resumed when flags come or go between two starts of its server."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.staging.signed_requests import Credentials, sign
from tests.support.client import Response
from tests.support.processes import Serving, ask, serving

TOKEN = "a-token-of-the-control-api-with-40-chars"
FORWARDED = {"x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https", "x-forwarded-host": "shop.example"}
CREDENTIALS = Credentials("test_key_RS001", "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=")
PAYMENT = {"product": "RELOAD", "account": "0123456789", "amount": 10}

GROUPS: dict[str, tuple[str, ...]] = {
    "of the sandbox": (
        "--seed", "99", "--clock", "x60", "--start", "2026-01-01T00:00:00Z", "--callback", "inbox:other",
        "--callbacks", "any", "--sandbox-ttl", "1h", "--tape-budget", "1", "--durability", "power", "--log", "json",
    ),
    "of who asks": (
        "--trusted-forwarders", "127.0.0.1", "--root-path", "/sim", "--control-token", TOKEN,
        "--allow-host", "shop.example",
    ),
    "of quotas": (
        "--quota-transactions", "9", "--quota-bytes", "500000", "--quota-rate", "50", "--trust-forwarded",
    ),
}  # fmt: skip


def call(running: Serving, sandbox: str, path: str, body: Any = None) -> Response:
    """A signed call that came through a proxy."""
    method, content = ("GET", b"") if body is None else ("POST", json.dumps(body).encode())
    made = sign(method, f"{running.ready['url']}/s/{sandbox}", path, content, CREDENTIALS)
    return ask(made.url, method, content or None, dict(made.headers) | FORWARDED | {"traceparent": TRACE})


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def sim(running: Serving, method: str, path: str, body: Any = None) -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}", **FORWARDED}
    content = None if body is None else json.dumps(body).encode()
    answer = ask(f"{running.ready['url']}/_sim/sandboxes{path}", method, content, headers)
    assert answer.status < 300, answer
    return json.loads(answer.body or b"null")


def use(running: Serving, times: str) -> None:
    """Inputs of all kinds whose answers flags may change: addresses, links, pages, tokens, time."""
    for sandbox in ("default", "shop"):
        for number in range(2):
            paid = call(running, sandbox, "/v2/topup", {**PAYMENT, "refid": f"{times}-{number}-{TOKEN[:7]}"})
            assert paid.status == 200, paid
        for path in ("/v2/balance-statement?limit=1", "/v2/transactions?limit=1", "/v2/catalog", "/v2/balance"):
            assert call(running, sandbox, path).status in (200, 400)
        sim(running, "POST", f"/{sandbox}/resellers", {"code": f"NEW-{times}".upper(), "balance": 5})
        sim(running, "POST", f"/{sandbox}/marks", {"name": times})
        sim(running, "POST", f"/{sandbox}/clock/advance", {"until": "idle"})


def seen(running: Serving) -> Any:
    looked_at = ("transactions", "ledger", "resellers")
    return {f"{one}/{what}": sim(running, "GET", f"/{one}/{what}") for one in ("default", "shop") for what in looked_at}


@pytest.mark.slow
@pytest.mark.parametrize("flags", GROUPS.values(), ids=GROUPS)
def test_a_folder_can_be_resumed_with_other_flags(flags: tuple[str, ...], tmp_path: Path) -> None:
    always = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"))
    before: Any = None
    for times, some in (("first", ()), ("second", flags), ("third", ())):
        manual = () if "--clock" in some else ("--clock", "manual")
        with serving(*always, *manual, *some) as running:
            if before is None:
                sim(running, "POST", "", {"id": "shop", "scenario": "default"})
            else:
                assert seen(running) == before
            use(running, times)
            before = seen(running)
            running.process.kill()
            running.process.wait()
