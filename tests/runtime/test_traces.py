"""Callbacks and webhooks continue the trace of the request that caused them, and a replay sends the same bytes."""

import asyncio
import base64

import pytest

from simulator.persistence.replay.tape_redaction import lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.runtime import traces
from simulator.runtime.traces import TraceContext, Traces
from tests.support.client import Client, running
from tests.support.replaying import assert_replays

TRACE, OTHER, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"
WEBHOOK = "/v2/balance-webhook"


def traced(trace_id: str = TRACE, **more: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-{SPAN}-01", **more}


def received(client: Client, inbox: str = "callbacks") -> list[dict[str, str]]:
    """The headers of what an inbox received."""
    return [{name.lower(): value for name, value in one["headers"]} for one in client.inbox(inbox)]


def parents(client: Client, inbox: str = "callbacks") -> list[str]:
    return [one.get("traceparent", "") for one in received(client, inbox)]


@pytest.mark.slow
def test_callbacks_continue_the_trace_of_the_payment_each_attempt_as_a_span_of_its_own() -> None:
    with running() as client:
        replies = {"replies": [{"status": 500}, {"status": 200}]}
        client.sim("PUT", "/sandboxes/default/inbox/callbacks", replies)
        client.pay(headers=traced(tracestate="congo=1, rojo=2"))
        client.pay("untraced")
        client.advance()
        found = [one for one in received(client) if "traceparent" in one]
        rows = client.sim("GET", "/sandboxes/default/events?after=0&timeout=0").body.decode()
        assert_replays(client.app)
    assert len(found) == 3
    assert {one["traceparent"][:36] for one in found} == {f"00-{TRACE}-"}
    assert len({one["traceparent"] for one in found} | {traced()["traceparent"]}) == 4
    assert {one["traceparent"][-3:] for one in found} == {"-01"}
    assert {one["tracestate"] for one in found} == {"congo=1,rojo=2"}
    assert rows.count(f'"trace_id":"{TRACE}"') == 4


def test_the_spans_are_the_same_wherever_it_happens_again() -> None:
    def spans(seed: int) -> list[str]:
        with running({"seed": seed}) as client:
            client.pay(headers=traced())
            client.advance()
            return parents(client)

    assert spans(1) == spans(1) != spans(2)


@pytest.mark.slow
def test_polling_leaves_the_trace_alone_unless_it_brings_a_status() -> None:
    steps = [{"status": "Accepted"}, {"after": "5s", "status": "Processing"}, {"requery": 2, "status": "Succesful"}]
    with running({"payments": [{"when": {}, "then": steps}]}) as client:
        client.pay(headers=traced())
        client.pay(headers=traced(OTHER))
        client.advance()
        client.pay(headers=traced(OTHER))
        client.advance()
        assert_replays(client.app)
        assert [one[3:35] for one in parents(client)] == [TRACE, OTHER]


def test_a_request_that_is_executed_and_answered_late_has_its_trace_before_the_answer() -> None:
    executed, over = asyncio.Event(), asyncio.Event()

    async def sleep(_: float) -> None:
        executed.set()
        await over.wait()

    async def pay(client: Client) -> None:
        body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
        paying = asyncio.ensure_future(client.acall("POST", "/v2/topup", body, headers=traced()))
        await executed.wait()
        await client.asim("POST", "/sandboxes/default/clock/advance", {"until": "idle"})
        over.set()
        assert (await paying).status == 200

    fault = {"faults": [{"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "delay": "5s"}}]}
    with running(fault, is_repeatable=False) as client:
        client.live.sleep = sleep
        client.run(pay(client))
        assert [one[3:35] for one in parents(client)] == [TRACE, TRACE]


@pytest.mark.slow
def test_a_delivery_that_a_client_replays_continues_its_trace() -> None:
    with running() as client:
        client.call("PUT", WEBHOOK, {"url": "inbox:hooks"})
        client.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": True})
        client.sim("PUT", "/sandboxes/default/inbox/hooks", {"replies": [{"status": 500}]})
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5.00"})
        client.advance()
        jobs = client.call("GET", f"{WEBHOOK}/deliveries?status=failed").json["deliveries"]
        first = parents(client, "hooks")
        client.call("POST", f"{WEBHOOK}/deliveries/{jobs[0]['id']}/replay", headers=traced())
        client.advance()
        later = parents(client, "hooks")[len(first) :]
        assert_replays(client.app)
    assert set(first) == {""}
    assert later
    assert {one[3:35] for one in later} == {TRACE}


def test_deliveries_of_the_control_api_continue_the_trace_of_its_request() -> None:
    with running() as client:
        client.pay(headers=traced())
        trxid = transaction(client)
        client.call("PUT", WEBHOOK, {"url": "inbox:hooks"})
        client.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": True})
        client.advance(4)
        own = {"traceparent": f"00-{OTHER}-{SPAN}-00", "tracestate": "b=2"}
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5.00"}, **own)
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "6.00"})
        client.sim("POST", f"/sandboxes/default/transactions/{trxid}/callbacks", **own)
        client.advance()
        hooks, callbacks = received(client, "hooks"), received(client)
        refused = client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "0"}, **own)
        assert_replays(client.app)
        lines = b"".join(tape_lines(take_tape(client.live)))
    assert refused.status == 400
    assert [one.get("traceparent", "")[3:35] for one in hooks] == [OTHER, ""]
    assert (hooks[0]["traceparent"][-3:], hooks[0]["tracestate"]) == ("-00", "b=2")
    assert sorted(one["traceparent"][3:35] for one in callbacks) == [OTHER, TRACE, TRACE]
    assert lines.count(f'"trace":[["traceparent","{own["traceparent"]}"],["tracestate","b=2"]]'.encode()) >= 2


def transaction(client: Client) -> str:
    """The trxid of the latest payment."""
    found: str = client.sim("GET", "/sandboxes/default/transactions").json["transactions"][0]["trxid"]
    return found


def test_the_journal_has_the_trace_and_is_searched_by_it() -> None:
    with running() as client:
        client.pay(headers=traced())
        client.pay("b", headers=traced(OTHER))
        client.pay("c", headers={"traceparent": "00-nonsense"})
        client.pay("d")
        ask = "/sandboxes/default/requests"
        rows = client.sim("GET", ask).json["requests"]
        found = client.sim("GET", f"{ask}?trace_id={OTHER}").json["requests"]
        whole = client.sim("GET", f"{ask}/1").json
        refused = client.sim("GET", f"{ask}?trace_id={OTHER.upper()}")
    assert [one.get("trace_id") for one in rows] == [None, None, OTHER, TRACE]
    assert [one["refid"] for one in found] == ["b"]
    assert (whole["trace_id"], dict(whole["request"]["headers"])["traceparent"]) == (TRACE, traced()["traceparent"])
    assert (refused.status, refused.json["path"]) == (400, "trace_id")


@pytest.mark.slow
def test_a_rewind_a_fork_and_a_tape_without_secrets_keep_the_traces() -> None:
    with running() as client:
        client.pay(headers=traced(tracestate="a=1"))
        client.sim("POST", "/sandboxes/default/marks", {"name": "paid"})
        client.advance()
        first = received(client)
        client.sim("POST", "/sandboxes/default/rewind", {"mark": "paid"})
        client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "default"}})
        client.advance()
        again = received(client)
        client.sim("POST", "/sandboxes/fork/clock/advance", {"until": "idle"})
        forked = client.sim("GET", "/sandboxes/fork/inbox/callbacks").json["items"]
        assert_replays(client.app)
    assert [one["traceparent"] for one in again] == [one["traceparent"] for one in first]
    assert [dict(one["headers"])["traceparent"] for one in forked] == [one["traceparent"] for one in first]


def test_a_tape_without_secrets_has_the_traces() -> None:
    secret = base64.b64encode(b"the secret of a real account 001").decode()
    keys = [{"key": "rk_real_account", "secret": secret}]
    with running({"resellers": [{"code": "RS001", "balance": "50.00", "api_keys": keys}]}) as client:
        client.pay(headers=traced(tracestate="a=1"))
        client.advance()
        lines = b"".join(lines_without_secrets(take_tape(client.live), client.app.replayer))
    assert secret.encode() not in lines
    assert lines.count(TRACE.encode()) == 3
    assert lines.count(b'"a=1"') == 3


def test_traces_are_bounded_by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "EVENTS_MAX", 3)
    kept = Traces()
    for number in range(4):
        kept.note(number, TraceContext(TRACE, SPAN, 1))
    kept.note(1, TraceContext(OTHER, SPAN, 1))
    kept.note("job", TraceContext(TRACE, SPAN, 1))
    assert [key for key, _ in kept] == [3, 1, "job"]
    kept.note("other", TraceContext(TRACE, SPAN, 1, "x" * 300))
    assert ([key for key, _ in kept], kept.size) == ([1, "job", "other"], 1500)
    restored = Traces()
    restored.restore(list(kept))
    assert (list(restored), restored.size, len(restored)) == (list(kept), 1500, 3)
