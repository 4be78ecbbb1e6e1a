"""`/_sim/metrics` and `/_sim/ready`: their figures, their readers, and their refusals."""

import asyncio
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulator.app import build_app
from simulator.control.metrics import DEFINITIONS
from simulator.options import Options
from simulator.runtime import operations
from simulator.runtime.operations import DRAINING, STARTING, STOPPING, add_duration
from simulator.runtime.sandboxes import Sandboxes
from tests.support.client import HOST, Client, running
from tests.support.wall import Wall

Found = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def metrics(client: Client) -> Found:
    """Return each sample by its name without the common prefix and its labels, which match the definition."""
    answer = client.sim("GET", "/metrics")
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(text_string_to_metric_families(answer.body.decode()))
    for family in families:
        definition = DEFINITIONS.get(family.name) or DEFINITIONS[f"{family.name}_total"]
        assert {frozenset(one.labels) - {"le"} for one in family.samples} <= {frozenset(definition.labels)}
    return {
        (one.name.removeprefix("reseller_sim_"), tuple(sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
    }


def sample(found: Found, name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


def test_requests_are_counted_by_endpoint_and_status_and_never_by_what_a_client_chose() -> None:
    with running() as client:
        client.pay()
        client.pay("ref-2", amount="20")
        client.pay("ref-3", secret="AAAA")
        for path in ("/v2/balance-webhook/deliveries/a", "/v2/balance-webhook/deliveries/b", "/nowhere", "/else"):
            client.call("GET", path)
        client.call("PURGE", "/v2/topup")
        found = metrics(client)
    counted = {labels: value for (name, labels), value in found.items() if name == "requests_total"}
    by_endpoint = {(dict(one)["method"], dict(one)["endpoint"], dict(one)["status"]): n for one, n in counted.items()}
    assert by_endpoint == {
        ("POST", "/v2/topup", "200"): 2,
        ("POST", "/v2/topup", "401"): 1,
        ("GET", "/v2/balance-webhook/deliveries/{jobId}", "404"): 2,
        ("unknown", "unknown", "404"): 2,
        ("unknown", "/v2/topup", "405"): 1,
    }
    of_topup = {"method": "POST", "endpoint": "/v2/topup"}
    assert sample(found, "request_duration_seconds_count", **of_topup) == 3
    assert sample(found, "request_duration_seconds_bucket", le="+Inf", **of_topup) == 3
    assert sample(found, "request_duration_seconds_sum", **of_topup) > 0
    assert (sample(found, "ready"), sample(found, "sandboxes")) == (1, 1)
    assert sample(found, "process_resident_memory_bytes") > 10_000_000


def test_counts_never_go_back_when_a_sandbox_is_reset_rewound_or_deleted() -> None:
    with running({"limits": {"journal": 2}}) as client:
        client.pay()
        client.sim("POST", "/sandboxes/default/marks", {"name": "one"})
        for number in range(3):
            client.pay(f"more-{number}")
        client.advance()
        before = metrics(client)
        client.sim("POST", "/sandboxes/default/rewind", {"mark": "one"})
        client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "default"}})
        client.sim("DELETE", "/sandboxes/fork")
        client.sim("POST", "/sandboxes/default/reset")
        after = metrics(client)
        client.pay("again")
        last = metrics(client)
    topup = {"method": "POST", "endpoint": "/v2/topup", "status": "200"}
    assert [sample(one, "requests_total", **topup) for one in (before, after, last)] == [4, 4, 5]
    assert [sample(one, "journal_evicted_total") for one in (before, after, last)] == [2, 2, 2]
    accepted = {"kind": "callback", "outcome": "accepted"}
    assert sample(before, "attempts_total", **accepted) == 8
    assert sample(after, "attempts_total", **accepted) == 8
    assert [sample(one, "journal_requests") for one in (before, after, last)] == [2, 0, 1]


def test_attempts_are_counted_by_outcome_and_pending_attempts_are_reported() -> None:
    with running() as client:
        replies = {"replies": [{"status": 500}, {"disconnect": True}, {"status": 200}]}
        client.sim("PUT", "/sandboxes/default/inbox/callbacks", replies)
        client.pay()
        waiting = metrics(client)
        client.advance(4)
        retrying = metrics(client)
        client.advance()
        done = metrics(client)
    assert [sample(one, "agenda_items") > 0 for one in (waiting, retrying, done)] == [True, True, False]
    assert [sample(one, "jobs_pending", kind="callback") for one in (waiting, retrying, done)] == [0, 1, 0]
    counted = {
        outcome: sample(done, "attempts_total", kind="callback", outcome=outcome)
        for outcome in ("accepted", "refused", "timeout", "connection", "dns", "blocked")
    }
    assert counted == {"accepted": 2, "refused": 1, "timeout": 0, "connection": 1, "dns": 0, "blocked": 0}
    assert sample(done, "attempt_duration_seconds_count", kind="callback") == 4
    assert sample(done, "attempt_duration_seconds_count", kind="webhook") == 0


def test_equal_metrics_come_in_an_equal_order() -> None:
    with running() as client:
        client.pay()
        first, second = (client.sim("GET", "/metrics").body.decode().splitlines() for _ in range(2))
    names = [[line.rpartition(" ")[0] for line in lines if line[0] != "#"] for lines in (first, second)]
    new = 'reseller_sim_control_requests_total{status="200"}'  # the first answer was not yet counted when rendered
    assert new not in names[0]
    assert [name for name in names[1] if name != new] == names[0]


def test_the_lag_of_the_loop_is_measured_while_a_client_asks_for_metrics() -> None:
    async def ticked() -> None:
        """Wait until it has looked at the time once more."""
        looked = asyncio.get_running_loop().create_future()
        with pytest.MonkeyPatch.context() as patched:

            def add(lags: list[int], lag_us: int) -> None:
                add_duration(lags, lag_us)
                looked.set_result(lag_us)

            patched.setattr(operations, "add_duration", add)
            assert await looked >= 0

    with running() as client:
        assert sample(metrics(client), "event_loop_lag_seconds_count") == 0
        client.run(ticked())
        assert sample(metrics(client), "event_loop_lag_seconds_count") == 1


def test_mistakes_of_ours_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as client:
        before = sample(metrics(client), "mistakes_total")
        with monkeypatch.context() as patched:
            patched.setattr(Sandboxes, "get", lambda *_: 1 / 0)
            client.run(broken(client))
        assert sample(metrics(client), "mistakes_total") == before + 1


async def broken(client: Client) -> None:
    """A control request that fails, without the check of answers, which fails for mistakes."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/_sim/sandboxes/default", "raw_path": b"", "scheme": "http"}
    named: dict[str, Any] = {
        "query_string": b"",
        "headers": [(b"host", HOST.encode())],
        "client": None,
        "extensions": {},
    }
    await client.app(scope | named | {"server": ("127.0.0.1", 8080), "root_path": ""}, receive, send)


def test_metrics_want_the_token_and_readiness_does_not() -> None:
    with running(control_token="secret-token") as client:
        assert client.sim("GET", "/metrics").status == 401
        assert client.sim("GET", "/metrics", authorization="Bearer secret-token").status == 200
        assert client.sim("GET", "/ready", host="10.1.2.3").json["status"] == "ready"
        assert client.sim("GET", "/metrics", authorization="Bearer secret-token", host="evil.example").status == 403


@pytest.mark.parametrize("path", ["/metrics", "/ready"])
def test_other_methods_and_parameters_are_refused(path: str) -> None:
    with running() as client:
        for method in ("POST", "PUT", "DELETE", "PURGE"):
            refused = client.sim(method, path)
            assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
        refused = client.sim("GET", f"{path}?sandbox=mine")
        assert (refused.status, refused.json["path"]) == (400, "sandbox")
        assert client.sim("GET", f"{path}/").status == 404


def test_a_server_is_ready_from_its_start_until_it_drains() -> None:
    app = build_app(Options(mode="manual"), Wall())
    with asyncio.Runner() as runner:
        client = Client(app, Wall(), runner)
        assert client.sim("GET", "/ready").json["status"] == "ready", "without a lifespan its first request starts it"
        app.operations.not_ready = STARTING
        early = client.sim("GET", "/ready")
        assert (early.status, early.json["error"]) == (503, "starting")
        assert client.sim("GET", "/health").status == 200
    with running() as client:
        assert client.sim("GET", "/ready").json["status"] == "ready"
        client.app.operations.not_ready = DRAINING
        assert client.sim("GET", "/ready").json["error"] == "draining"
        assert sample(metrics(client), "ready") == 0
    assert client.app.operations.not_ready == STOPPING
