"""A recorder that runs for days stays small: what it cannot follow any more it counts, and says so."""

import gc
import json
import sys
from datetime import UTC, datetime, timedelta
from types import FunctionType, ModuleType

import pytest

from simulator.staging.recorder import recorder as recorder_module
from simulator.staging.recorder.recorder import TrafficRecorder
from simulator.wire.traffic import Call, Notification

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
CALLS = 100_000
BYTES_MAX = 40 * 1024 * 1024


def topup(n: int, refid: str, status: str, product: str = "RELOAD") -> Call:
    at = START + timedelta(milliseconds=10 * n)
    data = {
        "status": status,
        "statusCode": 1,
        "remarks": "",
        "refid": refid,
        "timestamp": (at + timedelta(hours=8)).strftime("%Y-%m-%d %H:%M:%S"),
        "note": "x" * 500,
    }
    body = {"refid": refid, "product": product, "account": f"01{n:09d}", "amount": 10, "extras": {"a": "b" * 900}}
    return Call(
        n=n,
        at=at,
        method="POST",
        path="/v2/topup",
        body=json.dumps(body).encode(),
        status=200,
        answer=json.dumps({"data": data}).encode(),
        trxid=f"trx-{refid}",
    )


def memory(root: object) -> int:
    """The bytes of all objects that can be reached, but for modules and classes."""
    seen: set[int] = set()
    waiting, total = [root], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        waiting += gc.get_referents(one)
    return total


@pytest.mark.slow
def test_a_hundred_thousand_calls_take_bounded_memory() -> None:
    recorder = TrafficRecorder()
    for n in range(CALLS):
        call = topup(n, f"r{n // 2}", "Accepted" if n % 2 == 0 else "Succesful", f"P{n % 20_000 // 2}")
        recorder.note_call(call)
        if n % 2:
            recorder.note_notification(
                Notification(n=n, at=call.at, kind="callback", method="POST", url="https://x/", body=call.answer)
            )
    assert memory(recorder) < BYTES_MAX


def test_messages_beyond_the_first_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MESSAGES_MAX", 20)
    recorder = TrafficRecorder()
    for n in range(27):
        recorder.note_call(topup(n, f"r{n}", "Succesful"))
    text = recorder.scenario_text()
    assert "# - 7 messages after the first 20: left out" in text
    assert "# 20 payments: Succesful" in text


@pytest.mark.slow
def test_pages_of_options_beyond_the_limit_are_left_out() -> None:
    recorder = TrafficRecorder()
    for page in range(1, 60):
        items = [{"code": f"C{page}-{n}", "label": "x", "denomination": n} for n in range(5000)]
        meta = {"current_page": page, "per_page": 5000, "total": 300_000}
        answer = {"product_code": "P", "field_id": "f", "items": items, "meta": meta}
        recorder.note_call(
            Call(n=page, at=START, method="GET", path="/v2/options", status=200, answer=json.dumps(answer).encode())
        )
    assert sum(len(one.active) for one in recorder._catalogs.options.values()) == 100_000
